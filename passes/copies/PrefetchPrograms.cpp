//===- PrefetchPrograms.cpp - rows of programs to come, into the cache ----===//
//
// Contract and example: PrefetchProgramsPass in passes/copies/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/facts/StridedAccess.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/Homes.h"
#include "target/Devices.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_PREFETCHPROGRAMSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-prefetch-programs"
ALWAYS_ENABLED_STATISTIC(rowsAskedFor, "rows of later programs that are asked for");

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

/// Whether `kernel` reduces something, and its programs have nothing to do with each other.
static bool mayReduceRows(func::FuncOp kernel) {
  bool reduces = false;
  WalkResult others = kernel.walk([&](Operation *op) {
    reduces |= isa<ReduceOp>(op);
    bool isOther = isa<AtomicRmwOp, AtomicCasOp, DotOp, cta::WarpgroupDotOp, cta::RolesOp,
                       cta::RingOp, scf::WhileOp, InlineAsmOp>(op);
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return reduces && !others.wasInterrupted();
}

/// Whether `row` is stored, maybe converted, without waiting for what else the program
/// computes: that keeps the memory busy, which has nothing to do while rows are reduced.
static bool isOnlyMoved(Value row, unsigned depth = 0) {
  return depth < reach::kUsers &&
         llvm::all_of(
             row.getUsers(),
             [&](Operation *user) {
               if (auto store = dyn_cast<StoreOp>(user))
                 return store.getValue() == row;
               bool isConverted = user->getNumOperands() == 1 &&
                                  (isElementwise(user) || isa<cta::ConvertLayoutOp>(user));
               return isConverted && isOnlyMoved(user->getResult(0), depth + 1);
             });
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

/// Of as much as this many times what is asked for ahead, programs load most as they are asked for:
/// a program begins to load when it starts, which is soon where many run at once. Judgement, on
/// either side of which there are measurements: rows of 32 KB that gain, of which four are in
/// flight on a multiprocessor, and 16 rows of 4 KB by each of 12 programs, which lost 40 %.
static constexpr int64_t kMostAtOnce = 2;

/// What programs that run at once load.
static int64_t bytesAtOnce(func::FuncOp kernel, ArrayRef<Row> rows, int64_t bytes) {
  auto module = kernel->getParentOfType<ModuleOp>();
  int64_t held = 0;
  for (const Row &row : rows)
    held = std::max<int64_t>(held, packedRegistersOf(row.type));
  // Of rows that registers have no room for a program still runs.
  return std::max<int64_t>(programsAtOnce(module, held, /*sharedBytes=*/0, cta::threadsOf(module)),
                           1) *
         deviceLike(targetOf(kernel).capability).multiprocessors * bytes;
}

static void prefetchForLater(func::FuncOp kernel, int64_t aheadBytes) {
  if (!mayReduceRows(kernel))
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
  if (!rows.empty() &&
      llvm::all_of(rows, [](Row &row) { return isOnlyMoved(row.load.getResult()); }))
    return;
  if (rows.empty())
    return refuse(kernel, Reason::PrefetchUnknownRows);
  if (bytes < tuningOf(kernel).prefetchLeastBytes)
    return refuse(kernel, Reason::PrefetchShortRows);
  if (bytesAtOnce(kernel, rows, bytes) > kMostAtOnce * aheadBytes)
    return refuse(kernel, Reason::PrefetchManyAtOnce);
  rowsAskedFor += rows.size();
  int64_t distance = std::max<int64_t>(aheadBytes / (bytes + std::max(bytes, stored)), 1);
  LDBG() << rows.size() << " rows of the program " << distance << " further on";
  prefetch(rows, distance);
}

namespace {
struct PrefetchProgramsPass : tile::impl::PrefetchProgramsPassBase<PrefetchProgramsPass> {
  using PrefetchProgramsPassBase::PrefetchProgramsPassBase;
  void runOnOperation() override {
    int64_t bytes = aheadBytes < 0 ? tuningOf(getOperation()).prefetchAheadBytes : aheadBytes;
    auto fromEnd = getOperation()->getAttrOfType<DenseI32ArrayAttr>(cta::kFromEndAttr);
    // Programs that start later have lower numbers there.
    if (!bytes || (fromEnd && llvm::is_contained(fromEnd.asArrayRef(), 0)))
      return;
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>())
      prefetchForLater(kernel, bytes);
  }
};
} // namespace
