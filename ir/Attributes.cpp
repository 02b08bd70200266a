//===- Attributes.cpp - which attribute stands where, and what it is ------===//
#include "ir/Attributes.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/Printing.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tile;

namespace {
/// What an attribute may stand on.
enum class Place {
  Module,
  Function,
  Parameter,
  Loop,
  Prologue,
  Load,
  Access,
  Copy,
  Store,
  Reduction,
  Value,
  Any,
  Print
};

struct Rule {
  Place place;
  bool (*isOfType)(Attribute);
  StringLiteral type;
};
} // namespace

template <typename T> static bool is(Attribute a) { return isa<T>(a); }
static bool isI32(Attribute a) {
  auto number = dyn_cast<IntegerAttr>(a);
  return number && number.getType().isInteger(32);
}
/// A share of a warp's threads.
static bool isPartOfWarp(Attribute a) {
  return isI32(a) && cast<IntegerAttr>(a).getInt() > 0 && cast<IntegerAttr>(a).getInt() <= kLanes &&
         llvm::isPowerOf2_64(uint64_t(cast<IntegerAttr>(a).getInt()));
}
static bool isI64(Attribute a) {
  auto number = dyn_cast<IntegerAttr>(a);
  return number && number.getType().isInteger(64);
}

static const llvm::StringMap<Rule> &rules() {
  static const llvm::StringMap<Rule> table = [] {
    llvm::StringMap<Rule> t;
    auto add = [&](StringRef name, Place place, bool (*isOfType)(Attribute), StringLiteral type) {
      t.try_emplace(name, Rule{place, isOfType, type});
    };
    auto unit = [&](Place place, std::initializer_list<StringRef> names) {
      for (StringRef name : names)
        add(name, place, is<UnitAttr>, "unit");
    };
    add(kTargetAttr, Place::Module, is<TargetAttr>, "a #tile.target");
    add(kKernelAttr, Place::Module, is<KernelAttr>, "a #tile.kernel");
    add(cta::kKernelAttr, Place::Module, is<cta::KernelAttr>, "a #cta.kernel");
    add(kLibrariesAttr, Place::Module, is<ArrayAttr>, "an array");
    add(kFpFusionAttr, Place::Module, is<BoolAttr>, "a bool");
    add(kPtxVersionAttr, Place::Module, isI32, "an i32");
    add(kGainsAheadAttr, Place::Module, isI32, "an i32");
    add(cta::kProgramsTogetherAttr, Place::Module, isI32, "an i32");
    add(cta::kWantedProgramsAttr, Place::Module, isI32, "an i32");
    add(cta::kBlockProgramsAttr, Place::Module, is<DenseI32ArrayAttr>, "an array of i32");
    add(cta::kProgramsApartAttr, Place::Module, isI32, "an i32");
    add(cta::kGridSplitsAttr, Place::Module, is<ArrayAttr>, "an array");
    unit(Place::Any, {cta::kOwnSlotsAttr});
    unit(Place::Module,
         {kPersistentAttr, kCheckedLaunchAttr, kNoWarpgroupDotsAttr, kNoTensorMapsAttr,
          kDependentLaunchAttr, kAnnouncesAttr, kFewProgramsAttr, kEachLaneArrivesAttr,
          kAlgebraicAttr, kLoadAheadAttr, cta::kEqualProgramsAttr});
    add(kDivisibilityAttr, Place::Parameter, isI32, "an i32");
    add(kSignatureIndexAttr, Place::Parameter, isI64, "an i64");
    add(kSignaturePathAttr, Place::Parameter, is<DenseI64ArrayAttr>, "an array of i64");
    add(kSourceTypeAttr, Place::Parameter, is<StringAttr>, "a string");
    add(kDescriptorPartAttr, Place::Parameter, is<StringAttr>, "a string");
    add(kDescriptorDimAttr, Place::Parameter, isI32, "an i32");
    add(kNumProgramsAttr, Place::Parameter, isI32, "an i32");
    add(cta::kTensorMapAttr, Place::Parameter, is<cta::MapAttr>, "a #cta.map");
    unit(Place::Parameter, {cta::kCutsSectorsAttr});
    add(kDataAttr, Place::Parameter, is<DenseElementsAttr>, "dense elements");
    add(
        kValueAttr, Place::Parameter, [](Attribute a) { return isa<IntegerAttr, FloatAttr>(a); },
        "a number");
    unit(Place::Parameter, {kUnwrittenAttr});
    add(kGridAttr, Place::Function, is<DenseI64ArrayAttr>, "an array of i64");
    add(kNumStagesAttr, Place::Loop, isI32, "an i32");
    add(kUnrollAttr, Place::Loop, isI32, "an i32");
    // What the author of a loop may say, and no pass goes by: it is kept as it was said.
    for (StringRef flag : {"tile.warp_specialize", "tile.flatten", "tile.disallow_acc_multi_buffer",
                           "tile.disable_licm"})
      add(flag, Place::Loop, [](Attribute a) { return isa<BoolAttr, UnitAttr>(a); }, "a bool");
    unit(Place::Loop, {cta::kProgramsLoopAttr, cta::kByTurnsAttr, cta::kSpareSlotAttr});
    unit(Place::Prologue, {cta::kPrologueAttr});
    add(cta::kScratchOffsetAttr, Place::Any, isI32, "an i32");
    add(cta::kEqualRunsAttr, Place::Value, is<DenseI64ArrayAttr>, "an array of i64");
    unit(Place::Value, {cta::kComputedHereAttr});
    unit(Place::Load, {cta::kMayRunAheadAttr});
    add(cta::kMaskRunAttr, Place::Access, isI32, "an i32");
    unit(Place::Copy, {cta::kReadByOthersAttr});
    add(cta::kEvictAttr, Place::Any, is<EvictionPolicyAttr>, "a #tile.evict");
    add(cta::kStorePartsAttr, Place::Store, isI32, "an i32");
    unit(Place::Store, {cta::kOwnPlaceAttr});
    add(cta::kThreadsOfResultAttr, Place::Reduction, isPartOfWarp,
        "an i32, a power of two up to 32");
    add(kPrintedShapesAttr, Place::Print, is<ArrayAttr>, "an array");
    return t;
  }();
  return table;
}

static bool standsOn(Operation *op, Place place) {
  switch (place) {
  case Place::Module:
    return isa<ModuleOp>(op);
  case Place::Function:
    return isa<func::FuncOp>(op);
  case Place::Prologue:
    return isa<scf::ForOp, cta::SingleOp>(op);
  case Place::Loop:
    return isa<scf::ForOp, scf::WhileOp>(op);
  case Place::Load:
    return isa<LoadOp>(op);
  case Place::Access:
    return isa<LoadOp, StoreOp, cta::AsyncCopyOp>(op);
  case Place::Copy:
    return isa<cta::AsyncCopyOp>(op);
  case Place::Store:
    return isa<cta::TmaStoreOp>(op);
  case Place::Reduction:
    return isa<ReduceOp>(op);
  case Place::Value:
    return op->getNumResults() > 0;
  case Place::Print:
    return isa<PrintOp>(op);
  case Place::Any:
    return true;
  case Place::Parameter:
    return false;
  }
  llvm_unreachable("a place without a rule");
}

LogicalResult tile::verifyAttribute(Operation *op, NamedAttribute attribute, bool ofParameter) {
  auto rule = rules().find(attribute.getName());
  if (rule == rules().end())
    return op->emitOpError("has an attribute that no pass knows: `")
           << attribute.getName().getValue() << "`";
  const Rule &wanted = rule->second;
  if ((wanted.place == Place::Parameter) != ofParameter ||
      (!ofParameter && !standsOn(op, wanted.place)))
    return op->emitOpError("cannot carry `") << attribute.getName().getValue() << "`";
  if (!wanted.isOfType(attribute.getValue()))
    return op->emitOpError("attribute `")
           << attribute.getName().getValue() << "` must be " << wanted.type;
  return success();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(op, attribute, /*ofParameter=*/false);
}
LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return verifyAttribute(op, attribute, /*ofParameter=*/true);
}
LogicalResult cta::CtaDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(op, attribute, /*ofParameter=*/false);
}
LogicalResult cta::CtaDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                        NamedAttribute attribute) {
  return verifyAttribute(op, attribute, /*ofParameter=*/true);
}
