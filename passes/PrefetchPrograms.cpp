//===- PrefetchPrograms.cpp - rows of programs to come, into the cache ----===//
//
// Needs:      a laid-out kernel, warp roles and rings made; sm_90 to sm_119, whose L2
//             caches have 50 MB and more.
// Guarantees: in a kernel that reduces rows, each program asks the L2 cache for the
//             row that a later program begins with: the one that starts about when
//             8 MB more have been loaded, and no more than that been stored.
// Never:      asks for what that program would not load itself, or touches kernels
//             whose programs wait for each other (atomics), multiply matrices, or
//             have roles.
//
//                                   %x = tile.load %row, %m
//                                   one thread, if program_id + n < num_programs:
//   %x = tile.load %row, %m    =>     cta.prefetch (%row of program_id + n)
//   ... tile.reduce %x              ... tile.reduce %x
//
// While a program reduces its row and stores, it loads nothing, and the few programs
// that a multiprocessor holds leave the memory idle at times. Rows that are already
// in the L2 cache when their program starts are not waited for as long. Programs
// start in the order of their ids, about as many at a time as have 64 KB of rows on
// each multiprocessor. Half as far ahead gains half as much; one and a half times as
// far loses 5 %, and three times as far a third: rows are gone again before they are
// needed, pushed out by what is stored meanwhile.
// Rows that a loop reads are left alone: passes that come back to a row find less of
// it in the cache (an RMS norm in two passes of 8192 elements takes a tenth longer).
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/DotLayouts.h"
#include "passes/Passes.h"
#include "passes/StridedAccess.h"

using namespace mlir;
using namespace tile;

/// Of rows on their way ahead of the programs that load them, and of what is stored
/// until then.
static constexpr int64_t kBytesAhead = 16 << 20;
/// Programs that load less spend their time being started.
static constexpr int64_t kLeastBytes = 2048;

namespace {
/// Consecutive elements that a program loads.
struct Row {
  LoadOp load;
  RankedTensorType type;
  Value base;
  Polynomial start;                ///< in elements from `base`
  SmallVector<Polynomial> lengths; ///< all are loaded, or the smallest of these
};

/// Scalars of the program with another id.
class OtherProgram {
public:
  OtherProgram(OpBuilder &b, Value id) : b(b), id(id) {}
  /// Whether `v` can be computed anywhere; `dependsOnId` is set if the id is used.
  static bool canCompute(Value v, bool &dependsOnId);
  /// Makes `map` know the variables of `p`.
  void compute(const Polynomial &p) {
    for (const Polynomial::Term &t : p.terms())
      for (Value f : t.factors)
        compute(f);
  }
  IRMapping map;

private:
  void compute(Value v);
  OpBuilder &b;
  Value id;
};
} // namespace

bool OtherProgram::canCompute(Value v, bool &dependsOnId) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return isa<func::FuncOp>(v.getParentBlock()->getParentOp());
  if (auto program = dyn_cast<ProgramIdOp>(op)) {
    dependsOnId |= program.getAxis() == 0;
    return true;
  }
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !isa<RankedTensorType>(v.getType()) && llvm::all_of(op->getOperands(), [&](Value o) {
           return !isa<RankedTensorType>(o.getType()) && canCompute(o, dependsOnId);
         });
}

void OtherProgram::compute(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || map.contains(v))
    return;
  if (auto program = dyn_cast<ProgramIdOp>(op); program && program.getAxis() == 0)
    return map.map(v, id);
  for (Value operand : op->getOperands())
    compute(operand);
  b.clone(*op, map);
}

static bool canCompute(const Polynomial &p, bool &dependsOnId) {
  return llvm::all_of(p.terms(), [&](const Polynomial::Term &t) {
    return llvm::all_of(t.factors,
                        [&](Value f) { return OtherProgram::canCompute(f, dependsOnId); });
  });
}

/// What `load` reads if that is a row of its own for each program.
static std::optional<Row> rowOf(LoadOp load, StridedAnalysis &strided) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 1 || load.getIsVolatile() ||
      !getElementType(type).isIntOrFloat() || getElementType(type).isInteger(1))
    return std::nullopt;
  std::optional<StridedPointers> pointers = strided.pointers(load.getPtr());
  std::optional<SmallVector<Bound, 4>> bounds = strided.bounds(load.getMask());
  if (!pointers || !bounds || !pointers->offset.wraps.empty() ||
      pointers->offset.strides.front().asConstant() != 1)
    return std::nullopt;
  Row row{load, type, pointers->base, pointers->offset.start, {}};
  bool dependsOnId = false, ignored = false;
  if (!canCompute(row.start, dependsOnId) || !dependsOnId)
    return std::nullopt;
  for (const Bound &bound : *bounds) {
    if (bound.isLower && bound.limit.asConstant().value_or(1) <= 0)
      continue;
    if (bound.isLower || !canCompute(bound.limit, ignored))
      return std::nullopt;
    row.lengths.push_back(bound.limit);
  }
  return row;
}

static int64_t bytesOf(Type type) {
  auto block = dyn_cast<RankedTensorType>(type);
  return getElementBytes(getElementType(type)) * (block ? block.getNumElements() : 1);
}

/// Whether `kernel` reduces rows, and its programs have nothing to do with each other.
static bool reducesRows(func::FuncOp kernel) {
  bool reduces = false;
  WalkResult others = kernel.walk([&](Operation *op) {
    reduces |= isa<ReduceOp>(op);
    bool isOther = isa<AtomicRmwOp, AtomicCasOp, DotOp, cta::WarpgroupDotOp, cta::RolesOp,
                       cta::RingOp, scf::WhileOp, InlineAsmOp>(op);
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return reduces && !others.wasInterrupted();
}

static void prefetch(ArrayRef<Row> rows, int64_t distance) {
  LoadOp last = rows.back().load;
  Location loc = last.getLoc();
  OpBuilder b(last.getContext());
  b.setInsertionPointAfter(last);
  auto single = cta::SingleOp::create(b, loc);
  b.setInsertionPointToStart(&single.getBody().emplaceBlock());
  Type i32 = b.getI32Type();
  Value id = ProgramIdOp::create(b, loc, i32, 0u);
  Value later = arith::AddIOp::create(
      b, loc, id, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(distance))));
  Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, later,
                                        NumProgramsOp::create(b, loc, i32, 0u));
  b = scf::IfOp::create(b, loc, isThere).getThenBodyBuilder();
  OtherProgram program(b, later);
  for (const Row &row : rows) {
    program.compute(row.start);
    for (const Polynomial &length : row.lengths)
      program.compute(length);
    Value count = emitBounded(b, loc, row.lengths, row.type.getNumElements(), program.map);
    Value bytes = arith::MulIOp::create(
        b, loc, count,
        arith::ConstantOp::create(
            b, loc, b.getI32IntegerAttr(int32_t(getElementBytes(row.type.getElementType())))));
    Value from = AddPtrOp::create(b, loc, row.base.getType(), row.base,
                                  emitPolynomial(b, loc, row.start, program.map));
    cta::PrefetchOp::create(b, loc, from, bytes);
  }
}

static void prefetchForLater(func::FuncOp kernel) {
  if (!reducesRows(kernel))
    return;
  StridedAnalysis strided;
  SmallVector<Row, 2> rows;
  int64_t bytes = 0;
  for (LoadOp load : kernel.getBody().front().getOps<LoadOp>()) {
    std::optional<Row> row = rowOf(load, strided);
    auto isSame = [&](const Row &r) { return r.base == row->base && r.start == row->start; };
    if (!row || llvm::any_of(rows, isSame))
      continue;
    bytes += bytesOf(row->type);
    rows.push_back(std::move(*row));
  }
  int64_t stored = 0;
  for (StoreOp store : kernel.getBody().front().getOps<StoreOp>())
    stored += bytesOf(store.getValue().getType());
  if (!rows.empty() && bytes >= kLeastBytes)
    prefetch(rows, std::max<int64_t>(kBytesAhead / (bytes + std::max(bytes, stored)), 1));
}

namespace {
struct PrefetchProgramsPass : PassWrapper<PrefetchProgramsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchProgramsPass)
  StringRef getArgument() const override { return "tile-prefetch-programs"; }
  StringRef getDescription() const override {
    return "ask the L2 cache for the rows of programs that start later";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cta::CtaDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    unsigned sm = smVersion(getOperation());
    if (sm < 90 || sm >= 120)
      return;
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>())
      prefetchForLater(kernel);
  }
};
} // namespace

std::unique_ptr<Pass> tile::createPrefetchProgramsPass() {
  return std::make_unique<PrefetchProgramsPass>();
}
