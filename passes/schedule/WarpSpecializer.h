//===- WarpSpecializer.h - warps that copy, and warps that compute --------===//
//
// Which loads share a ring is found in RingGroups.cpp; who fills it and who reads it is made in
// SpecializeWarps.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_SCHEDULE_WARPSPECIALIZER_H
#define TILE_PASSES_SCHEDULE_WARPSPECIALIZER_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/schedule/BlockPrograms.h"

namespace tile::specialization {

/// Loads of one block that are first used by the same operation, or together
/// with another load of the group; vectors beside them.
struct Group {
  llvm::SmallVector<cta::TmaLoadOp, 2> loads; ///< in program order
  llvm::SmallVector<LoadOp, 2> scalars;       ///< that the producer can bring along
  mlir::Operation *firstUser = nullptr, *lastUser = nullptr;
  int32_t stages = 1;
  bool isElastic = false;   ///< stages are the most that may be of use
  bool isOwn = false;       ///< of several programs, each copies something else
  Group *partner = nullptr; ///< that has the ring of both
  mlir::Value ring;
  cta::RingReleaseOp release; ///< by the consumers

  bool isShared() const {
    return llvm::any_of(loads, [](cta::TmaLoadOp load) { return bool(load.getCommon()); });
  }
  /// In the order of the ring's buffers.
  llvm::SmallVector<mlir::Type> buffers() const;
  cta::RingType ringType() const { return cta::RingType::get(firstUser->getContext(), buffers()); }
  /// Into registers: no product reads it where it is.
  bool isOnlyRead() const {
    return llvm::all_of(loads, [](cta::TmaLoadOp load) {
      return llvm::all_of(load->getUsers(),
                          [](mlir::Operation *user) { return mlir::isa<cta::ReadOp>(user); });
    });
  }
};

class WarpSpecializer {
public:
  WarpSpecializer(mlir::func::FuncOp kernel, int32_t warps, int32_t stages, int32_t cluster)
      : kernel(kernel), body(kernel.getBody().front()), warps(warps), stages(stages),
        cluster(cluster) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult findGroups();
  void joinProducts();
  void joinVectors();
  void joinScalars();
  void chooseStages(Group &group) const;
  void findPartners(bool widely);
  /// Of a group and all whose partner it is: with the largest slots of them.
  cta::RingType ringTypeOf(const Group &owner) const;
  mlir::Block *blockOfCopies();
  void makeRings(mlir::Operation *start);
  mlir::LogicalResult makeRoles(mlir::OpBuilder &b, mlir::Operation *start);
  llvm::SmallVector<BlockProgramMaker::Loop> loopsWithSlots();
  void makeProducer(cta::RolesOp roles);
  void fill(mlir::OpBuilder &b, const Group &group, llvm::SmallVector<cta::TmaLoadOp, 2> loads,
            llvm::SmallVector<LoadOp, 2> scalars);
  void fillForEach(mlir::OpBuilder &b, const Group &group, llvm::ArrayRef<cta::TmaLoadOp> loads);
  void copyAllInPlace(mlir::Operation *start);
  void copyAhead(mlir::Operation *start);
  struct StageCosts;
  bool storesFollowSlots() const;
  int32_t stagesAhead(const StageCosts &costs, bool mayDeepen) const;
  int32_t shareRings(const StageCosts &costs, llvm::function_ref<int32_t(bool widely)> choose);
  void chooseStagesAhead();
  void chooseStagesOfRoles();
  int32_t coverCopies(const StageCosts &costs, int32_t count) const;
  void copyInPlace(Group &group);
  void consume(void (WarpSpecializer::*before)(Group &));
  void moveConsumers(cta::RolesOp roles);
  void meetOthers(mlir::Operation *start);

  mlir::func::FuncOp kernel;
  mlir::Block &body;
  int32_t warps, stages, cluster;
  bool sharesWidely = false;                 ///< rings, with groups of another kind
  std::optional<BlockProgramMaker> programs; ///< several that the thread block runs
  llvm::SmallVector<Group> groups;
};

} // namespace tile::specialization

#endif // TILE_PASSES_SCHEDULE_WARPSPECIALIZER_H
