//===- Attributes.cpp - which attribute stands where, and what it is ------===//
#include "ir/Attributes.h"
#include "ir/AttributeRules.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/Printing.h"

using namespace mlir;
using namespace tile;

/// A share of a warp's threads.
static bool isPartOfWarp(Attribute a) {
  if (!isInteger<32>(a))
    return false;
  int64_t threads = cast<IntegerAttr>(a).getInt();
  return threads > 0 && threads <= kLanes && llvm::isPowerOf2_64(uint64_t(threads));
}

/// An axis of the grid, and how many there are along it.
static bool isAxisAndCount(Attribute a) {
  auto pair = dyn_cast<DenseI32ArrayAttr>(a);
  return pair && pair.size() == 2 && pair[0] >= 0 && pair[0] < 3 && pair[1] >= 1;
}

static bool areAxes(Attribute a) {
  auto axes = dyn_cast<DenseI32ArrayAttr>(a);
  return axes &&
         llvm::all_of(axes.asArrayRef(), [](int32_t axis) { return axis >= 0 && axis < 3; });
}

static bool isAxis(Attribute a) {
  return isInteger<32>(a) && uint64_t(cast<IntegerAttr>(a).getInt()) < 3;
}

/// How many elements are alike, or parts of one: aligned runs are powers of two.
static bool isRun(Attribute a) {
  return isInteger<32>(a) && llvm::isPowerOf2_64(uint64_t(cast<IntegerAttr>(a).getInt()));
}

static bool areRuns(Attribute a) {
  auto runs = dyn_cast<DenseI64ArrayAttr>(a);
  return runs && llvm::all_of(runs.asArrayRef(),
                              [](int64_t run) { return run > 0 && llvm::isPowerOf2_64(run); });
}

static bool isDescriptorPart(Attribute a) {
  auto part = dyn_cast<StringAttr>(a);
  return part && llvm::is_contained({"base", "shape", "stride"}, part.getValue());
}

/// The target and what was asked for, and what passes made of it.
static const AttributeRule ofModules[] = {
    {kTargetAttr, on<ModuleOp>, is<TargetAttr>, "a #tile.target"},
    {kKernelAttr, on<ModuleOp>, is<KernelAttr>, "a #tile.kernel"},
    {kLibrariesAttr, on<ModuleOp>, isArrayOf<StringAttr>, "an array of strings"},
    {kFpFusionAttr, on<ModuleOp>, is<BoolAttr>, "a bool"},
    {kPtxVersionAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {kGainsAheadAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {kExchangeBytesAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {kFewProgramsAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {kPersistentAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kCheckedLaunchAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kNoWarpgroupDotsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kNoTensorStoresAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kTightSlotsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kRefilledSlotsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kNoSpareSlotsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kNoTensorMapsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kDependentLaunchAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kJoinedAttr, on<LoadOp, StoreOp, cta::AsyncCopyOp>, is<UnitAttr>, "unit"},
    {kWholeRowsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kInStepAttr, on<StoreOp>, is<UnitAttr>, "unit"},
    {kWholeVectorsAttr, on<LoadOp>, isInteger<32>, "an i32"},
    {kAnnouncesAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kEachLaneArrivesAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kAlgebraicAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {kLoadAheadAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {cta::kKernelAttr, on<ModuleOp>, is<cta::KernelAttr>, "a #cta.kernel"},
    {cta::kProgramsTogetherAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {cta::kWantedProgramsAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {cta::kBlockProgramsAttr, on<ModuleOp>, isAxisAndCount,
     "an array of two i32, an axis of the grid and a number of programs"},
    {cta::kProgramsApartAttr, on<ModuleOp>, isInteger<32>, "an i32"},
    {cta::kGridSplitsAttr, on<ModuleOp>, isArrayOf<cta::SplitAttr>, "an array of #cta.split"},
    {cta::kFromEndAttr, on<ModuleOp>, areAxes, "an array of i32, axes of the grid"},
    {cta::kOneThreadAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {cta::kEqualProgramsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
    {cta::kGrowingProgramsAttr, on<ModuleOp>, is<UnitAttr>, "unit"},
};

static const AttributeRule ofParameters[] = {
    {kDivisibilityAttr, onParameter, isInteger<32>, "an i32"},
    {kWantedMultipleAttr, onParameter, isInteger<32>, "an i32"},
    {kSignatureIndexAttr, onParameter, isInteger<64>, "an i64"},
    {kSignaturePathAttr, onParameter, is<DenseI64ArrayAttr>, "an array of i64"},
    {kSourceTypeAttr, onParameter, is<StringAttr>, "a string"},
    {kDescriptorPartAttr, onParameter, isDescriptorPart, "`base`, `shape` or `stride`"},
    {kDescriptorDimAttr, onParameter, isInteger<32>, "an i32"},
    {kNumProgramsAttr, onParameter, isAxis, "an i32, an axis of the grid"},
    {cta::kTensorMapAttr, onParameter, is<cta::MapAttr>, "a #cta.map"},
    {cta::kCutsSectorsAttr, onParameter, is<UnitAttr>, "unit"},
    {kDataAttr, onParameter, is<DenseElementsAttr>, "dense elements"},
    {kValueAttr, onParameter, is<IntegerAttr, FloatAttr>, "a number"},
    {kUnwrittenAttr, onParameter, is<UnitAttr>, "unit"},
    {kGridAttr, on<func::FuncOp>, is<DenseI64ArrayAttr>, "an array of i64"},
};

static const AttributeRule ofLoops[] = {
    {kNumStagesAttr, on<scf::ForOp, scf::WhileOp>, isInteger<32>, "an i32"},
    {kUnrollAttr, on<scf::ForOp, scf::WhileOp>, isInteger<32>, "an i32"},
    // What the author of a loop may say, and no pass goes by: it is kept as it was said.
    {"tile.warp_specialize", on<scf::ForOp, scf::WhileOp>, is<BoolAttr, UnitAttr>, "a bool"},
    {"tile.flatten", on<scf::ForOp, scf::WhileOp>, is<BoolAttr, UnitAttr>, "a bool"},
    {"tile.disallow_acc_multi_buffer", on<scf::ForOp, scf::WhileOp>, is<BoolAttr, UnitAttr>,
     "a bool"},
    {"tile.disable_licm", on<scf::ForOp, scf::WhileOp>, is<BoolAttr, UnitAttr>, "a bool"},
    {cta::kProgramsLoopAttr, on<scf::ForOp, scf::WhileOp>, is<UnitAttr>, "unit"},
    {cta::kByTurnsAttr, on<scf::ForOp, scf::WhileOp>, is<UnitAttr>, "unit"},
    {cta::kSpareSlotAttr, on<scf::ForOp, scf::WhileOp>, is<UnitAttr>, "unit"},
    {cta::kRefilledAttr, on<scf::ForOp, scf::WhileOp>, is<UnitAttr>, "unit"},
    {cta::kPrologueAttr, on<scf::ForOp, cta::SingleOp>, is<UnitAttr>, "unit"},
};

static bool hasResults(Operation *op) { return op->getNumResults() > 0; }

static const AttributeRule ofOperations[] = {
    {cta::kOwnSlotsAttr, on<cta::RingOp>, is<UnitAttr>, "unit"},
    {cta::kScratchOffsetAttr, onAny, isInteger<32>, "an i32"},
    {cta::kEqualRunsAttr, hasResults, areRuns, "an array of i64, powers of two"},
    {cta::kComputedHereAttr, hasResults, is<UnitAttr>, "unit"},
    {cta::kMayRunAheadAttr, on<LoadOp>, is<UnitAttr>, "unit"},
    {cta::kMaskRunAttr, on<LoadOp, StoreOp, cta::AsyncCopyOp>, isRun, "an i32, a power of two"},
    {cta::kHeldAttr, on<cta::ReadOp>, is<UnitAttr>, "unit"},
    {cta::kReadByOthersAttr, on<cta::AsyncCopyOp>, is<UnitAttr>, "unit"},
    {cta::kEvictAttr, onAny, is<EvictionPolicyAttr>, "a #tile.evict"},
    {cta::kStorePartsAttr, on<cta::TmaStoreOp>, isInteger<32>, "an i32"},
    {cta::kOwnPlaceAttr, on<cta::TmaStoreOp>, is<UnitAttr>, "unit"},
    {cta::kThreadsOfResultAttr, on<ReduceOp>, isPartOfWarp, "an i32, a power of two up to 32"},
    {kPrintedShapesAttr, on<PrintOp>, is<ArrayAttr>, "an array"},
};

/// One table for both: they stand on each other's operations.
static const AttributeRules &rules() {
  static const AttributeRules table(llvm::to_vector(
      llvm::concat<const AttributeRule>(ofModules, ofParameters, ofLoops, ofOperations)));
  return table;
}

LogicalResult tile::verifyAttribute(Operation *op, NamedAttribute attribute, bool ofParameter) {
  return rules().verify(op, attribute, ofParameter);
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return rules().verify(op, attribute, /*ofParameter=*/false);
}
LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return rules().verify(op, attribute, /*ofParameter=*/true);
}
LogicalResult cta::CtaDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return rules().verify(op, attribute, /*ofParameter=*/false);
}
LogicalResult cta::CtaDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                        NamedAttribute attribute) {
  return rules().verify(op, attribute, /*ofParameter=*/true);
}
