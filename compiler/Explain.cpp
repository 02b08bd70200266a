//===- Explain.cpp - reading a laid-out kernel back as a report -----------===//
#include "compiler/Explain.h"
#include "compiler/ModuleOptions.h"
#include "compiler/Targets.h"
#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "ir/CtaDialect.h"
#include "ir/Spelling.h"
#include "ir/layout/Conversion.h"
#include "ir/layout/Hopper.h"
#include "ir/layout/MatrixAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "passes/AlternateTiles.h"
#include "passes/AxisInfo.h"
#include "passes/DotLayouts.h"
#include "passes/Pipelines.h"
#include "passes/lowering/Scratch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
#include <set>

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;
using llvm::formatv;

void Work::add(const Work &other, double times) {
  read += other.read * times;
  written += other.written * times;
  sectors += other.sectors * times;
  wavefronts += other.wavefronts * times;
  for (unsigned i = 0; i < kNumArithmetic; ++i)
    operations[i] += other.operations[i] * times;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string typeName(Type type) {
  type = getElementType(type);
  if (auto ptr = dyn_cast<PtrType>(type))
    type = ptr.getPointee();
  return spelled(type);
}

static std::string shapeName(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

static std::string blockName(Type type) {
  auto block = dyn_cast<RankedTensorType>(type);
  return (block ? shapeName(block.getShape()) + " " : std::string()) + typeName(type);
}

static unsigned pointeeBytes(Type pointers) {
  return getElementBytes(cast<PtrType>(getElementType(pointers)).getPointee());
}

//===----------------------------------------------------------------------===//
// Trip counts
//===----------------------------------------------------------------------===//

static FileLineColLoc placeOf(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

namespace {
/// What a pass says about one place: why something better was not possible.
struct Remark {
  unsigned line, column;
  std::string message;
};

/// Integers as far as they follow from constants and given arguments. The first
/// program stands for all.
class Evaluator {
public:
  explicit Evaluator(const std::map<std::string, int64_t> &values) : values(values) {}

  std::optional<int64_t> get(Value v, unsigned depth = 0) const {
    APInt constant;
    if (matchPattern(v, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    if (depth > 32)
      return std::nullopt;
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (auto name = dyn_cast<NameLoc>(arg.getLoc()))
        if (auto it = values.find(name.getName().str()); it != values.end())
          return it->second;
      return std::nullopt;
    }
    Operation *op = v.getDefiningOp();
    if (isa<ProgramIdOp>(op))
      return 0;
    SmallVector<int64_t, 3> in;
    if (op->getNumOperands() == 0 || op->getNumRegions() != 0)
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> value = get(operand, depth + 1);
      if (!value)
        return std::nullopt;
      in.push_back(*value);
    }
    if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, HintOp>(op))
      return in[0];
    if (isa<arith::AddIOp>(op))
      return in[0] + in[1];
    if (isa<arith::SubIOp>(op))
      return in[0] - in[1];
    if (isa<arith::MulIOp>(op))
      return in[0] * in[1];
    if (isa<arith::DivSIOp, arith::DivUIOp>(op) && in[1] != 0)
      return in[0] / in[1];
    if (isa<arith::RemSIOp, arith::RemUIOp>(op) && in[1] != 0)
      return in[0] % in[1];
    if (isa<arith::MinSIOp>(op))
      return std::min(in[0], in[1]);
    if (isa<arith::MaxSIOp>(op))
      return std::max(in[0], in[1]);
    if (isa<arith::SelectOp>(op))
      return in[0] ? in[1] : in[2];
    return std::nullopt;
  }

  std::optional<int64_t> trips(scf::ForOp loop) const {
    auto lower = get(loop.getLowerBound()), upper = get(loop.getUpperBound()),
         step = get(loop.getStep());
    if (!lower || !upper || !step || *step <= 0)
      return std::nullopt;
    return *upper <= *lower ? 0 : (*upper - *lower + *step - 1) / *step;
  }

private:
  const std::map<std::string, int64_t> &values;
};
} // namespace

//===----------------------------------------------------------------------===//
// Requests to memory
//===----------------------------------------------------------------------===//

namespace {
struct Request {
  unsigned sectors = 1, ideal = 1;
};
} // namespace

/// Sectors of 32 bytes that the lanes of a warp touch with one instruction of
/// `vector` registers. What the analysis does not know to be adjacent counts
/// as apart.
static Request requestOf(const LinearLayout &l, unsigned vector, unsigned bytes,
                         const AxisInfo &info) {
  unsigned rank = l.outs().size();
  int best = -1;
  for (unsigned i = 0; i < rank && i < info.axes.size(); ++i)
    if (info.axes[i].contiguity > 0 &&
        (best < 0 || info.axes[i].contiguity > info.axes[best].contiguity))
      best = int(i);
  std::set<std::vector<int64_t>> sectors, elements;
  for (int32_t lane = 0; lane < l.inSize(Dim::lane()); ++lane)
    for (int32_t reg = 0; reg < int32_t(vector); ++reg) {
      layout::Position at = l.apply({{Dim::lane(), lane}, {Dim::reg(), reg}});
      std::vector<int64_t> sector, element;
      for (unsigned i = 0; i < rank; ++i) {
        int64_t c = at[i].second;
        if (int(i) == best) {
          int64_t run = info.contiguity(i);
          sector.insert(sector.end(), {c / run, c % run * bytes / 32});
          element.push_back(c);
        } else {
          int64_t same = i < info.axes.size() ? info.constancy(i) : 1;
          sector.push_back(c / same);
          element.push_back(c / same);
        }
      }
      sectors.insert(std::move(sector));
      elements.insert(std::move(element));
    }
  unsigned least = unsigned(elements.size() * bytes + 31) / 32;
  return {unsigned(sectors.size()), std::max(least, 1u)};
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Warps that share a block.
static int numWarpsOf(func::FuncOp kernel) {
  return int(
      kernel->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(kNumWarpsAttr).getInt());
}

namespace {
class Reader {
public:
  Reader(func::FuncOp kernel, const ExplainOptions &options, ArrayRef<Remark> remarks,
         Explanation &out)
      : kernel(kernel), out(out), remarks(remarks), evaluator(options.values), axes(kernel),
        warps(numWarpsOf(kernel)), wantedStages(options.compile.numStages),
        sm(smVersion(kernel->getParentOfType<ModuleOp>())) {}

  void run() {
    out.groups = int(cta::groupsOf(kernel->getParentOfType<ModuleOp>()));
    out.consumerWarps = warps * out.groups;
    for (const Remark &remark : remarks)
      if (StringRef message = remark.message; message.consume_front(kNoTurns))
        out.whyNoTurns = message.str();
    walk(kernel.getBody().front());
  }

private:
  void walk(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }
  void visit(Operation *op);
  void visitLoop(Operation *op);
  void visitRegisterAccess(Operation *op);
  void visitCopy(cta::RingCopyOp op);
  void visitBulkCopy(cta::RingBulkCopyOp op);
  void visitAsyncCopy(cta::AsyncCopyOp op);
  void visitSlots(cta::SlotsOp op);
  void visitRead(cta::ReadOp op);
  void visitTmaStore(cta::TmaStoreOp op);
  void visitRing(cta::RingOp op);
  void visitConvert(cta::ConvertLayoutOp op);
  void visitCombine(Operation *op);
  void visitDot(DotOp op);
  void visitWarpgroupDot(cta::WarpgroupDotOp op);
  void visitArithmetic(Operation *op);

  /// What the innermost loop around does in one iteration.
  Work &work() { return loop < 0 ? out.outside : out.loops[loop].each; }
  template <typename T> T at(Operation *op) const {
    T place;
    if (FileLineColLoc file = placeOf(op->getLoc())) {
      place.line = file.getLine();
      place.column = file.getColumn();
    }
    place.loop = loop;
    return place;
  }
  /// Why the access is none by TMA, or no asynchronous copy (`prefix` says which).
  std::string reasonFor(const Explanation::Place &place, StringRef prefix = "") const {
    for (const Remark &remark : remarks) {
      StringRef message = remark.message;
      if (remark.line != place.line || remark.column != place.column ||
          message.starts_with(cta::kNotCopied) == prefix.empty())
        continue;
      return message.drop_front(prefix.size()).str();
    }
    return {};
  }
  /// Wavefronts of all warps for one side of an exchange.
  void addSide(Explanation::Exchange &e, const LinearLayout &access, const LinearLayout &shared,
               unsigned bytes, unsigned vectorLog2, unsigned parts,
               const std::optional<layout::MatrixAccess> &matrices = std::nullopt) {
    if (matrices) { // each matrix is one wavefront, by the choice of arrangement
      double count = double(matrices->firstRegisters.size()) * matrices->numMatrices();
      e.wavefronts += count * warps * parts;
      e.idealWavefronts += count * warps * parts;
      return;
    }
    e.wavefronts +=
        double(layout::countWavefronts(access, shared, bytes, vectorLog2)) * warps * parts;
    e.idealWavefronts += double(layout::idealWavefronts(access, bytes, vectorLog2)) * warps * parts;
  }
  void addRing(Operation *op, Explanation::Ring ring);
  void addStaging(Operation *op, Type block, const LinearLayout &image, const char *what);

  func::FuncOp kernel;
  Explanation &out;
  ArrayRef<Remark> remarks;
  Evaluator evaluator;
  AxisInfoAnalysis axes;
  int warps, wantedStages;
  unsigned sm;
  int loop = -1;
  bool inProducer = false;
};
} // namespace

void Reader::visit(Operation *op) {
  if (op->hasAttr(cta::kPrologueAttr)) // what the loop behind it does as well
    return;
  if (isa<scf::ForOp, scf::WhileOp>(op))
    return visitLoop(op);
  if (auto roles = dyn_cast<cta::RolesOp>(op)) {
    out.producerWarps = cta::kProducerThreads / 32;
    walk(roles.getConsumers().front());
    inProducer = true;
    walk(roles.getProducer().front());
    inProducer = false;
    return;
  }
  if (auto copy = dyn_cast<cta::RingCopyOp>(op))
    return visitCopy(copy);
  if (auto copy = dyn_cast<cta::RingBulkCopyOp>(op))
    return visitBulkCopy(copy);
  if (auto ring = dyn_cast<cta::RingOp>(op))
    return visitRing(ring);
  if (auto slots = dyn_cast<cta::SlotsOp>(op))
    return visitSlots(slots);
  if (isa<scf::SCFDialect>(op->getDialect()) || isa<cta::SingleOp>(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        walk(block);
    return;
  }
  if (inProducer) // repeats what the consumers do as well
    return;
  if (isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op))
    return visitRegisterAccess(op);
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return visitAsyncCopy(copy);
  if (auto read = dyn_cast<cta::ReadOp>(op))
    return visitRead(read);
  if (auto store = dyn_cast<cta::TmaStoreOp>(op))
    return visitTmaStore(store);
  if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
    return visitConvert(convert);
  if (auto stage = dyn_cast<cta::StageOp>(op))
    return addStaging(op, stage.getSrc().getType(), stage.getType().getLinearLayout(),
                      "operand of a product");
  if (isa<ReduceOp, ScanOp>(op))
    return visitCombine(op);
  if (auto dot = dyn_cast<DotOp>(op))
    return visitDot(dot);
  if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op))
    return visitWarpgroupDot(dot);
  visitArithmetic(op);
}

/// The producer runs through the same loops as the consumers.
void Reader::visitLoop(Operation *op) {
  Explanation::Loop place = at<Explanation::Loop>(op);
  int around = loop;
  auto known = llvm::find_if(out.loops, [&](const Explanation::Loop &l) {
    return l.line == place.line && l.column == place.column && l.loop == around && inProducer;
  });
  if (known == out.loops.end()) {
    if (auto forOp = dyn_cast<scf::ForOp>(op))
      place.trips = evaluator.trips(forOp);
    out.loops.push_back(place);
    known = std::prev(out.loops.end());
  }
  loop = int(known - out.loops.begin());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      walk(block);
  loop = around;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Reader::visitRegisterAccess(Operation *op) {
  auto access = at<Explanation::Access>(op);
  auto load = dyn_cast<LoadOp>(op);
  auto store = dyn_cast<StoreOp>(op);
  Value pointers = op->getOperand(0);
  access.kind = load ? "load" : store ? "store" : "atomic";
  access.block = blockName(pointers.getType());
  access.reason = reasonFor(access);
  access.copyReason = reasonFor(access, cta::kNotCopied);
  unsigned bytes = pointeeBytes(pointers.getType());
  auto block = dyn_cast<RankedTensorType>(pointers.getType());
  if (!block) {
    access.path = "scalar";
    access.vectorBytes = bytes;
    access.requests = 1;
    access.bytes = bytes;
  } else {
    const LinearLayout &l = cta::getLayout(block);
    unsigned vector = load ? load.getVector() : store ? store.getVector() : 1;
    unsigned registers = unsigned(l.inSize(Dim::reg()));
    vector =
        llvm::bit_floor(std::max(1u, std::min({vector, 16 / std::min(bytes, 16u), registers})));
    access.path = vector > 1 ? "vector" : "scalar";
    access.vectorBytes = vector * bytes;
    access.requests = registers / vector;
    access.bytes = double(block.getNumElements()) * bytes;
    Request request = requestOf(l, vector, bytes, axes.get(pointers));
    access.sectors = request.sectors;
    access.idealSectors = request.ideal;
  }
  // Copies in other warps find what one has brought in the cache.
  double moved = access.idealSectors ? access.bytes * access.sectors / access.idealSectors
                                     : std::max(access.bytes, 32.0);
  work().sectors += moved * (op->getNumResults() && !load ? 2 : 1);
  (load ? work().read : work().written) += access.bytes;
  if (!load && !store)
    work().read += access.bytes;
  out.accesses.push_back(std::move(access));
}

void Reader::visitAsyncCopy(cta::AsyncCopyOp op) {
  auto access = at<Explanation::Access>(op);
  cta::BufferType type = op.getBuffer().getType();
  unsigned bytes = getElementBytes(type.getElementType());
  const LinearLayout &l = cta::getLayout(op.getPtr().getType());
  access.kind = "load";
  access.block = shapeName(type.getShape()) + " " + typeName(type.getElementType());
  access.path = "cp.async";
  access.reason = reasonFor(access);
  access.vectorBytes = op.getVector() * bytes;
  access.requests = unsigned(l.inSize(Dim::reg())) / op.getVector();
  access.bytes = double(type.getBytes());
  Request request = requestOf(l, op.getVector(), bytes, axes.get(op.getPtr()));
  access.sectors = request.sectors;
  access.idealSectors = request.ideal;
  work().read += access.bytes;
  work().sectors += access.bytes * access.sectors / access.idealSectors;
  out.accesses.push_back(std::move(access));
}

static std::string describeBox(func::FuncOp kernel, Value map) {
  auto attr = kernel.getArgAttrOfType<cta::MapAttr>(cast<BlockArgument>(map).getArgNumber(),
                                                    cta::kTensorMapAttr);
  if (!attr)
    return {};
  std::string text = "boxes of ";
  for (auto [i, size] : llvm::enumerate(llvm::reverse(attr.getBox())))
    text += (i ? "x" : "") + std::to_string(size);
  if (attr.getSwizzle())
    text += formatv(", {0}-byte swizzle", attr.getSwizzle());
  return text;
}

/// A load by TMA into `buffer`.
static void describeCopy(Explanation::Access &access, cta::BufferType buffer) {
  access.kind = "load";
  access.block = shapeName(buffer.getShape()) + " " + typeName(buffer.getElementType());
  access.path = "TMA";
  access.bytes = double(buffer.getBytes());
}

void Reader::visitCopy(cta::RingCopyOp op) {
  auto access = at<Explanation::Access>(op);
  describeCopy(access, op.getBuffer().getType());
  access.detail = describeBox(kernel, op.getMap());
  if (op.getCommon())
    access.detail += formatv(", once for the {0} blocks of a cluster where they need the same",
                             op.getRing().getDefiningOp<cta::RingOp>().getCluster());
  work().read += access.bytes;
  work().sectors += access.bytes;
  out.accesses.push_back(std::move(access));
}

void Reader::visitBulkCopy(cta::RingBulkCopyOp op) {
  if (op.getOffset() != 0) // the block's first row has stood for all
    return;
  auto access = at<Explanation::Access>(op);
  describeCopy(access, op.getBuffer().getType());
  access.detail = "bulk copies of rows";
  work().read += access.bytes;
  work().sectors += access.bytes;
  out.accesses.push_back(std::move(access));
}

void Reader::visitTmaStore(cta::TmaStoreOp op) {
  auto access = at<Explanation::Access>(op);
  auto type = cast<RankedTensorType>(op.getValue().getType());
  access.kind = "store";
  access.block = blockName(type);
  access.path = "TMA";
  access.detail = describeBox(kernel, op.getMap());
  access.bytes = double(type.getNumElements()) * getElementBytes(type.getElementType());
  work().written += access.bytes;
  work().sectors += access.bytes;
  out.accesses.push_back(std::move(access));
  addStaging(op, type, op.getLayout().getLayout(), "staging of a store");
}

void Reader::visitRing(cta::RingOp op) {
  auto ring = at<Explanation::Ring>(op);
  ring.stages = int(op.getStages());
  for (Type type : op.getType().getBuffers())
    ring.bytes += double(cast<cta::BufferType>(type).getBytes());
  addRing(op, std::move(ring));
}

void Reader::visitSlots(cta::SlotsOp op) {
  auto ring = at<Explanation::Ring>(op);
  ring.stages = int(op.getCount());
  ring.bytes = double(op.getType().getBytes());
  addRing(op, std::move(ring));
}

void Reader::addRing(Operation *op, Explanation::Ring ring) {
  ring.wanted = ring.stages;
  for (Operation *user : op->getUsers())
    if (auto around = user->getParentOfType<scf::ForOp>();
        around && !around->hasAttr(cta::kPrologueAttr)) {
      auto own = around->getAttrOfType<IntegerAttr>(kNumStagesAttr);
      ring.wanted = std::max(ring.stages, own ? int(own.getInt()) : wantedStages);
    }
  out.rings.push_back(std::move(ring));
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

void Reader::addStaging(Operation *op, Type block, const LinearLayout &image, const char *what) {
  auto e = at<Explanation::Exchange>(op);
  auto type = cast<RankedTensorType>(block);
  unsigned bytes = std::max(getElementBytes(type.getElementType()), 1u);
  const LinearLayout &from = cta::getLayout(type);
  e.what = what;
  e.block = blockName(type);
  e.path = "shared memory";
  e.bytes = double(type.getNumElements()) * bytes;
  LinearLayout offsets = layout::offsetsOf(from, image);
  unsigned most = llvm::Log2_32(16 / std::min(bytes, 16u));
  unsigned vector = layout::widestVector(offsets, Dim::offset(), most).log2();
  addSide(e, from, image, bytes, vector, 1);
  work().wavefronts += e.wavefronts;
  out.exchanges.push_back(std::move(e));
}

void Reader::visitRead(cta::ReadOp op) {
  auto e = at<Explanation::Exchange>(op);
  auto type = cast<RankedTensorType>(op.getType());
  unsigned bytes = getElementBytes(type.getElementType());
  const LinearLayout &to = cta::getLayout(type),
                     &image = op.getBuffer().getType().getLinearLayout();
  e.what = "read of a copy";
  e.block = blockName(type);
  e.path = "shared memory";
  e.bytes = double(type.getNumElements()) * bytes;
  LinearLayout offsets = layout::offsetsOf(to, image);
  std::optional<layout::MatrixAccess> matrices = layout::matrixAccess(offsets, bytes, false);
  if (!matrices)
    matrices = layout::matrixAccess(offsets, bytes, true);
  unsigned vector = layout::widestVector(offsets, Dim::offset(), llvm::Log2_32(16 / bytes)).log2();
  addSide(e, to, image, bytes, vector, 1, matrices);
  work().wavefronts += e.wavefronts;
  out.exchanges.push_back(std::move(e));
}

void Reader::visitConvert(cta::ConvertLayoutOp op) {
  auto e = at<Explanation::Exchange>(op);
  auto type = cast<RankedTensorType>(op.getType());
  unsigned bytes = std::max(getElementBytes(type.getElementType()), 1u);
  e.what = "change of layout";
  e.block = blockName(type);
  e.bytes = double(type.getNumElements()) * bytes;
  const LinearLayout &from = cta::getLayout(op.getSrc().getType());
  const LinearLayout &to = cta::getLayout(type);
  if (lowering::convertScratchBytes(op) == 0) {
    auto kind = layout::planConversion(from, to).kind;
    if (kind == layout::ConversionKind::NoOp)
      return;
    e.path = kind == layout::ConversionKind::RegistersOnly ? "registers" : "shuffles";
  } else {
    e.path = "shared memory";
    lowering::ExchangeParts parts = lowering::cutExchange(from, to, bytes);
    bool hasCopies = !parts.from.isInjective();
    layout::Exchange plan =
        layout::planExchange(parts.from, parts.to, bytes, {sm >= 75, sm >= 90 && !hasCopies});
    unsigned count = 1u << parts.fromBits.size();
    const LinearLayout &shared = plan.shared.layout;
    addSide(e, parts.from, shared, bytes, plan.shared.writeVectorLog2, count, plan.write);
    addSide(e, parts.to, shared, bytes, plan.shared.readVectorLog2, count, plan.read);
    work().wavefronts += e.wavefronts;
  }
  if (e.path != "registers") // those are free
    out.exchanges.push_back(std::move(e));
}

void Reader::visitCombine(Operation *op) {
  auto e = at<Explanation::Exchange>(op);
  Type type = op->getOperand(0).getType();
  e.what = isa<ReduceOp>(op) ? "reduction" : "scan";
  e.block = blockName(type);
  int64_t scratch = lowering::scratchBytes(op);
  e.path = scratch ? "shared memory" : "shuffles";
  e.bytes = double(scratch);
  if (auto block = dyn_cast<RankedTensorType>(type))
    work().operations[unsigned(Arithmetic::Fp32)] += double(block.getNumElements());
  out.exchanges.push_back(std::move(e));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Arithmetic arithmeticOf(Type operand) {
  if (operand.isF64())
    return Arithmetic::Fp64Dot;
  if (isa<IntegerType>(operand))
    return Arithmetic::Int8;
  if (operand.isF32())
    return Arithmetic::Tf32;
  return operand.getIntOrFloatBitWidth() == 8 ? Arithmetic::Fp8 : Arithmetic::Fp16;
}

void Reader::visitDot(DotOp op) {
  auto dot = at<Explanation::Dot>(op);
  RankedTensorType a = op.getA().getType(), acc = op.getType();
  int64_t k = a.getShape().back();
  dot.shape =
      shapeName({acc.getShape().drop_front(acc.getRank() - 2)[0], acc.getShape().back(), k});
  dot.operations = 2.0 * double(acc.getNumElements()) * double(k);
  dot.left = dot.right = "registers";
  dot.reason = reasonFor(dot);
  auto instruction = chooseInstruction(op, sm);
  std::string types = typeName(acc) + "." + typeName(a) + "." + typeName(op.getB().getType());
  Arithmetic kind = arithmeticOf(a.getElementType());
  bool isUsed = false;
  if (instruction)
    if (auto wanted = matrixDotLayouts(*instruction, cta::getLayout(acc), k))
      isUsed = wanted->a == cta::getLayout(a) && wanted->b == cta::getLayout(op.getB().getType());
  if (isUsed) {
    dot.instruction =
        formatv("mma.m{0}n{1}k{2}.{3}", instruction->m, instruction->n, instruction->k, types);
  } else {
    dot.instruction = "fma." + types;
    kind = a.getElementType().isF64() ? Arithmetic::Fp64 : Arithmetic::Fp32;
    if (dot.reason.empty())
      dot.reason = instruction ? "its layout is not that of the matrix instruction"
                               : "this target has no matrix instruction for these types";
  }
  work().operations[unsigned(kind)] += dot.operations;
  out.dots.push_back(std::move(dot));
}

void Reader::visitWarpgroupDot(cta::WarpgroupDotOp op) {
  auto dot = at<Explanation::Dot>(op);
  auto acc = cast<RankedTensorType>(op.getType());
  cta::BufferType b = op.getB().getType();
  auto aBuffer = dyn_cast<cta::BufferType>(op.getA().getType());
  Type aType = aBuffer ? aBuffer.getElementType() : getElementType(op.getA().getType());
  int64_t m = acc.getDimSize(0), n = acc.getDimSize(1), k = b.getShape()[0];
  unsigned along = layout::warpgroupsAlongM(m, warps);
  int64_t own = n / std::max<int64_t>(std::min<int64_t>(warps / 4 / along, n / 8), 1);
  dot.shape = shapeName({m, n, k});
  dot.instruction = formatv("wgmma.m64n{0}k{1}.{2}.{3}.{4}", std::min<int64_t>(own, 256),
                            32 / getElementBytes(aType), typeName(acc), typeName(aType),
                            typeName(b.getElementType()));
  dot.left = aBuffer ? "shared memory" : "registers";
  dot.right = "shared memory";
  dot.operations = 2.0 * double(m) * double(n) * double(k);
  work().operations[unsigned(arithmeticOf(aType))] += dot.operations;
  out.dots.push_back(std::move(dot));
}

/// Floating-point work outside products, an operation for each element.
void Reader::visitArithmetic(Operation *op) {
  if (op->getNumResults() != 1 || !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::ConstantOp, arith::SelectOp>(op))
    return;
  Type element = getElementType(op->getResult(0).getType());
  auto block = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!block || !isa<FloatType>(element))
    return;
  Arithmetic kind = element.isF64() ? Arithmetic::Fp64 : Arithmetic::Fp32;
  work().operations[unsigned(kind)] += double(block.getNumElements());
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// The kernel as it is before it is lowered, and what the passes remark.
static OwningOpRef<ModuleOp> layOut(Compiler &compiler, const frontend::SourceFile &file,
                                    const CompileOptions &options, std::vector<Remark> &remarks) {
  MLIRContext &context = compiler.context();
  frontend::DiagnosticEngine diagnostics; // the same that compiling gave
  ast::Module tree = frontend::parse(file, diagnostics);
  OwningOpRef<ModuleOp> module =
      frontend::specialize(context, file, tree, options, diagnostics, nullptr);
  const Target *target = findTarget(options.target);
  if (!module || !target)
    return nullptr;
  setModuleOptions(*module, options, *target);
  (*module)->setAttr(cta::kMaxSharedBytesAttr,
                     Builder(&context).getI32IntegerAttr(target->maxSharedBytes));
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    if (FileLineColLoc at = placeOf(d.getLocation()))
      remarks.push_back({at.getLine(), at.getColumn(), d.str()});
    return success();
  });
  PassManager pm(&context);
  buildSimplifyPipeline(pm);
  buildCtaPipeline(pm);
  if (failed(pm.run(*module)))
    return nullptr;
  return module;
}

bool tile::explain(Compiler &compiler, const frontend::SourceFile &file,
                   const ExplainOptions &options, CompileResult &result, Explanation &out) {
  CompileOptions compile = options.compile;
  compile.stopAfter = Stage::Ptx;
  result = compiler.compile(file, compile);
  if (!result.ok())
    return false;
  std::vector<Remark> remarks;
  OwningOpRef<ModuleOp> module = layOut(compiler, file, compile, remarks);
  if (!module)
    return false;
  auto kernels = module->getOps<func::FuncOp>();
  Reader(*kernels.begin(), options, remarks, out).run();
  out.metadata = result.metadata;
  const Target *target = findTarget(compile.target);
  out.device = options.device.empty() ? deviceFor(target ? target->capability : 0)
                                      : findDevice(options.device);
  // Registers that roles ask for stand in the PTX.
  llvm::Regex setMax("setmaxnreg\\.(inc|dec)\\.sync\\.aligned\\.u32 ([0-9]+)");
  StringRef rest = result.output;
  SmallVector<StringRef> match;
  while (setMax.match(rest, &match)) {
    int count = 0;
    match[2].getAsInteger(10, count);
    out.roleRegisters.push_back(count);
    rest = rest.drop_front(match[0].end() - rest.begin());
  }
  return true;
}

void tile::readAssemblerLog(StringRef log, Explanation &out) {
  SmallVector<StringRef> match;
  if (llvm::Regex("Used ([0-9]+) registers").match(log, &match))
    match[1].getAsInteger(10, out.registers);
  if (llvm::Regex("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads").match(log, &match)) {
    int stores = 0, loads = 0;
    match[1].getAsInteger(10, stores);
    match[2].getAsInteger(10, loads);
    out.spillBytes = stores + loads;
  }
}
