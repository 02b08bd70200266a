//===- Registers.h - what a thread holds, and how many programs fit so -----===//
//
// All passes count registers here. What they count before the kernel is lowered is blocks:
// indices and addresses are computed where they are needed, and the assembler decides. Behind
// the lowering compiler/LaunchBound counts anew, over LLVM IR: there are no blocks any more,
// and what counts is the order of single loads.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_REGISTERS_H
#define TILE_PASSES_FACTS_REGISTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "target/Target.h"

namespace tile {

/// What a thread needs beside the accumulators of warpgroup products, at least: with
/// fewer the assembler does not take the instruction.
inline constexpr int64_t kRegistersBesideAccumulator = 26;

/// Registers of a thread that a value of this type takes while it is computed with: narrow
/// elements have one each.
int64_t registersOf(mlir::Type type);
/// And while it is only kept: narrow elements share them.
int64_t packedRegistersOf(mlir::Type type);
/// Of all of these, what a loop carries say: those with so many registers or more.
int64_t packedRegistersOfAll(mlir::TypeRange types, int64_t fewest = 0);

/// Before layouts, where `threads` share a block alike: what one of them computes with, and what it
/// keeps of it. At least one.
int64_t registersOfShare(mlir::Type type, int64_t threads);
int64_t packedRegistersOfShare(mlir::Type type, int64_t threads);

/// Registers of a thread of a laid-out kernel that blocks of floats take where it holds most of
/// them: during some warpgroup product, its result among them. Indices and pointers are
/// not counted: they are computed where they are needed.
int64_t registersDuringProducts(mlir::func::FuncOp kernel);
/// The same during products of warps, with the operands that each takes from registers; narrow
/// elements share registers.
int64_t registersDuringDots(mlir::func::FuncOp kernel);
/// The same of blocks with so many registers or more, without numbers of rows; narrow elements that
/// are only kept share one.
int64_t registersOfBlocksDuringProducts(mlir::func::FuncOp kernel, int64_t fewest);

/// As many during some product by warps, which hold what they multiply, too. Narrow elements share
/// registers.
int64_t registersDuringWarpProducts(mlir::func::FuncOp kernel);

/// Registers of a thread that blocks of floats take which are there before `op` and needed behind
/// it. Narrow elements share registers.
int64_t registersAcross(mlir::Operation *op);

/// The largest result of a product alone: no form of the kernel holds less.
int64_t registersOfLargestProduct(mlir::func::FuncOp kernel);

/// Programs that a multiprocessor has room for at once, with `sharedBytes` each, if a thread
/// holds `blocks` registers of blocks, and some for products.
int64_t programsAtOnce(mlir::ModuleOp module, int64_t blocks, int64_t sharedBytes,
                       unsigned threads);

/// Warps that compute, of all programs with `sharedBytes` each that a multiprocessor has
/// room for, where none only copy and a thread holds `blocks` registers of blocks.
int64_t warpsAtOnce(mlir::ModuleOp module, int64_t blocks, int64_t sharedBytes);
/// Warpgroups that they are; none where programs are smaller.
int64_t warpgroupsAtOnce(mlir::ModuleOp module, int64_t blocks, int64_t sharedBytes);

/// In which registers are given to threads.
inline constexpr int kRegisterStep = 8;

/// The most that each of so many threads on a multiprocessor can have.
int64_t mostRegistersOfThread(const Target &target, unsigned threads);

/// Whether every warpgroup multiplies all rows of a left operand of this type, and would have an
/// eighth of the registers that a thread can have full of it. What is smaller is computed again
/// sooner than it is written to shared memory, fenced and waited for.
bool isMuchForEveryWarpgroup(mlir::Operation *dot, mlir::RankedTensorType left);

/// How the register file is shared out where some warps only copy.
struct RoleRegisters {
  bool areDealt;     ///< moved from the warps that copy to those that compute; else all start with
                     ///< what they need
  int64_t producer;  ///< registers of a thread that copies, if dealt
  int64_t consumers; ///< the most that a thread that computes can have
};
/// For `consumerThreads` that compute, of all groups.
RoleRegisters registersOfRoles(const Target &target, unsigned consumerThreads);

} // namespace tile

#endif // TILE_PASSES_FACTS_REGISTERS_H
