//===- ProductRegisters.h - what a thread holds while products are computed --===//
#ifndef TILE_PASSES_FACTS_PRODUCTREGISTERS_H
#define TILE_PASSES_FACTS_PRODUCTREGISTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// What a thread needs beside the accumulators of warpgroup products, at least: with
/// fewer the assembler does not take the instruction.
inline constexpr int64_t kRegistersBesideAccumulator = 26;

/// Registers of a thread of a laid-out kernel that blocks of floats take where it holds most of
/// them: during some warpgroup product, its result among them. Indices and pointers are
/// not counted: they are computed where they are needed.
int64_t registersDuringProducts(mlir::func::FuncOp kernel);

/// The largest result of a product alone: no form of the kernel holds less.
int64_t registersOfLargestProduct(mlir::func::FuncOp kernel);

/// Warpgroups that compute, of all programs with `sharedBytes` each that a multiprocessor has
/// room for, where no warps only copy and a thread holds `blocks` registers of blocks.
int64_t warpgroupsAtOnce(mlir::ModuleOp module, int64_t blocks, int64_t sharedBytes);

/// How the register file is shared out where some warps only copy.
struct RoleRegisters {
  bool areDealt;     ///< moved from the warps that copy to those that compute; else all start with
                     ///< what they need
  int64_t producer;  ///< registers of a thread that copies, if dealt
  int64_t consumers; ///< the most that a thread that computes can have
};
/// For `consumerThreads` that compute, of all groups.
RoleRegisters registersOfRoles(unsigned consumerThreads);

} // namespace tile

#endif // TILE_PASSES_FACTS_PRODUCTREGISTERS_H
