//===- AxisInfoTest.cpp - every claim of the axis analysis, tried out -----===//
//
// Builds random programs of integer and pointer arithmetic over narrow types
// (so that everything wraps), evaluates them on random arguments, and checks
// what the analysis claims against the values. A wrong claim would be a
// miscompile; the chance to find one here is what this test is for.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/AxisInfo.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tile;

namespace {

/// Row-major elements, sign-extended from the type's width (a mask: 0 or 1; a
/// pointer: bytes).
using Elements = std::vector<int64_t>;

unsigned widthOf(Type type) {
  Type element = tile::getElementType(type);
  return isa<PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

int64_t wrap(int64_t value, Type type) {
  unsigned width = widthOf(type);
  if (width == 1)
    return value & 1;
  return width == 64 ? value : llvm::SignExtend64(uint64_t(value), width);
}

uint64_t asUnsigned(int64_t value, Type type) {
  unsigned width = widthOf(type);
  return width == 64 ? uint64_t(value) : uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

std::vector<int64_t> shapeOf(Type type) {
  if (auto block = dyn_cast<RankedTensorType>(type))
    return block.getShape().vec();
  return {};
}

size_t countOf(Type type) {
  size_t count = 1;
  for (int64_t size : shapeOf(type))
    count *= size_t(size);
  return count;
}

std::vector<int64_t> coordinates(size_t index, const std::vector<int64_t> &shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0; index /= size_t(shape[i]))
    at[i] = int64_t(index) % shape[i];
  return at;
}

size_t rowMajor(const std::vector<int64_t> &at, const std::vector<int64_t> &shape) {
  size_t index = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    index = index * size_t(shape[i]) + size_t(at[i]);
  return index;
}

//===----------------------------------------------------------------------===//
// A reference evaluator
//===----------------------------------------------------------------------===//

class Evaluator {
public:
  llvm::DenseMap<Value, Elements> values;
  /// Treat signed division of negative values as undefined.
  bool naturalDividends = false;

  /// False where the result is undefined (division by zero, large shift).
  bool run(Block &block) {
    return llvm::all_of(block, [&](Operation &op) { return run(&op); });
  }

private:
  bool run(Operation *op);
  bool runFor(scf::ForOp op);
  std::optional<int64_t> scalar(Operation *op, ArrayRef<int64_t> in);
  Elements move(Operation *op);
};

bool compare(arith::CmpIPredicate p, int64_t a, int64_t b, Type type) {
  uint64_t ua = asUnsigned(a, type), ub = asUnsigned(b, type);
  switch (p) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  return false;
}

std::optional<int64_t> Evaluator::scalar(Operation *op, ArrayRef<int64_t> in) {
  Type type = op->getOperand(0).getType();
  auto u = [&](unsigned i) { return asUnsigned(in[i], op->getOperand(i).getType()); };
  unsigned width = widthOf(type);
  using Result = std::optional<int64_t>;
  auto nonZero = [&](auto f) -> Result { return in[1] == 0 ? Result() : Result(f()); };
  auto signedly = [&](auto f) -> Result {
    return naturalDividends && in[0] < 0 ? Result() : nonZero(f);
  };
  auto shift = [&](auto f) -> Result { return u(1) >= width ? Result() : Result(f()); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return int64_t(uint64_t(in[0]) + uint64_t(in[1])); })
      .Case([&](arith::SubIOp) { return int64_t(uint64_t(in[0]) - uint64_t(in[1])); })
      .Case([&](arith::MulIOp) { return int64_t(uint64_t(in[0]) * uint64_t(in[1])); })
      .Case([&](arith::DivSIOp) { return signedly([&] { return in[0] / in[1]; }); })
      .Case([&](arith::DivUIOp) { return nonZero([&] { return int64_t(u(0) / u(1)); }); })
      .Case([&](arith::RemSIOp) { return signedly([&] { return in[0] % in[1]; }); })
      .Case([&](arith::RemUIOp) { return nonZero([&] { return int64_t(u(0) % u(1)); }); })
      .Case([&](arith::ShLIOp) { return shift([&] { return int64_t(u(0) << u(1)); }); })
      .Case([&](arith::ShRSIOp) { return shift([&] { return in[0] >> u(1); }); })
      .Case([&](arith::ShRUIOp) { return shift([&] { return int64_t(u(0) >> u(1)); }); })
      .Case([&](arith::AndIOp) { return in[0] & in[1]; })
      .Case([&](arith::OrIOp) { return in[0] | in[1]; })
      .Case([&](arith::XOrIOp) { return in[0] ^ in[1]; })
      .Case([&](arith::MaxSIOp) { return std::max(in[0], in[1]); })
      .Case([&](arith::MinSIOp) { return std::min(in[0], in[1]); })
      .Case([&](arith::MaxUIOp) { return u(0) > u(1) ? in[0] : in[1]; })
      .Case([&](arith::MinUIOp) { return u(0) < u(1) ? in[0] : in[1]; })
      .Case([&](arith::CmpIOp c) { return int64_t(compare(c.getPredicate(), in[0], in[1], type)); })
      .Case([&](arith::SelectOp) { return in[0] ? in[1] : in[2]; })
      .Case([&](arith::ExtSIOp) { return width == 1 ? -in[0] : in[0]; })
      .Case([&](arith::ExtUIOp) { return int64_t(u(0)); })
      .Case([&](arith::TruncIOp) { return in[0]; })
      .Case([&](AddPtrOp add) {
        auto ptr = cast<PtrType>(tile::getElementType(add.getPtr().getType()));
        return in[0] + in[1] * int64_t(getElementBytes(ptr.getPointee()));
      })
      .Default([&](Operation *) { return Result(); });
}

Elements Evaluator::move(Operation *op) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  const Elements &in = values[op->getOperand(0)];
  std::vector<int64_t> fromShape = shapeOf(from), toShape = shapeOf(to);
  Elements out(countOf(to));
  for (size_t i = 0; i < out.size(); ++i) {
    std::vector<int64_t> at = coordinates(i, toShape);
    if (isa<SplatOp>(op)) {
      at.clear();
    } else if (isa<BroadcastOp>(op)) {
      for (size_t d = 0; d < at.size(); ++d)
        at[d] = fromShape[d] == 1 ? 0 : at[d];
    } else if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
      at.erase(at.begin() + expand.getAxis());
    } else if (auto trans = dyn_cast<TransOp>(op)) {
      std::vector<int64_t> source(at.size());
      for (auto [d, s] : llvm::enumerate(trans.getOrder()))
        source[size_t(s)] = at[d];
      at = source;
    } else { // reshape
      out[i] = in[i];
      continue;
    }
    out[i] = in[rowMajor(at, fromShape)];
  }
  return out;
}

bool Evaluator::runFor(scf::ForOp op) {
  int64_t lower = values[op.getLowerBound()][0], upper = values[op.getUpperBound()][0];
  int64_t step = values[op.getStep()][0];
  if (step <= 0 || lower + 4 * step < upper)
    return false;
  for (auto [arg, init] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs()))
    values[arg] = Elements(values[init]);
  for (int64_t i = lower; i < upper; i += step) {
    values[op.getInductionVar()] = {i};
    if (!run(*op.getBody()))
      return false;
    std::vector<Elements> next;
    for (Value v : op.getYieldedValues())
      next.push_back(values[v]);
    for (auto [arg, v] : llvm::zip(op.getRegionIterArgs(), next))
      values[arg] = v;
  }
  for (auto [result, arg] : llvm::zip(op.getResults(), op.getRegionIterArgs()))
    values[result] = Elements(values[arg]);
  return true;
}

bool Evaluator::run(Operation *op) {
  if (isa<func::ReturnOp, scf::YieldOp>(op))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  Type type = op->getResult(0).getType();
  Elements out(countOf(type));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute value = constant.getValue();
    if (auto splat = dyn_cast<SplatElementsAttr>(value))
      value = splat.getSplatValue<Attribute>();
    llvm::fill(out, wrap(cast<IntegerAttr>(value).getValue().getSExtValue(), type));
  } else if (auto range = dyn_cast<MakeRangeOp>(op)) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = int32_t(range.getStart()) + int64_t(i);
  } else if (isa<SplatOp, BroadcastOp, ExpandDimsOp, TransOp, ReshapeOp>(op)) {
    out = move(op);
  } else {
    for (size_t i = 0; i < out.size(); ++i) {
      SmallVector<int64_t> in;
      for (Value operand : op->getOperands()) {
        const Elements &e = values[operand];
        in.push_back(e[e.size() == 1 ? 0 : i]);
      }
      std::optional<int64_t> result = scalar(op, in);
      if (!result)
        return false;
      out[i] = wrap(*result, type);
    }
  }
  values[op->getResult(0)] = out;
  return true;
}

//===----------------------------------------------------------------------===//
// Checking the claims
//===----------------------------------------------------------------------===//

/// Bytes of an element for pointers, 1 for integers.
int64_t stepOf(Type type) {
  auto ptr = dyn_cast<PtrType>(tile::getElementType(type));
  return ptr ? int64_t(getElementBytes(ptr.getPointee())) : 1;
}

bool divides(int64_t divisor, int64_t value, unsigned width) {
  if (width < 62 && divisor > (int64_t(1) << width))
    divisor = int64_t(1) << width;
  return value % divisor == 0;
}

void checkClaims(Value value, const Elements &elements, const AxisInfo &info) {
  Type type = value.getType();
  std::vector<int64_t> shape = shapeOf(type);
  if (shape.empty())
    shape = {1};
  ASSERT_EQ(info.axes.size(), shape.size());
  int64_t step = stepOf(type);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (info.constant) {
      ASSERT_EQ(elements[i], *info.constant);
    }
    if (info.nonNegative) {
      ASSERT_GE(elements[i], 0);
    }
    std::vector<int64_t> at = coordinates(i, shape);
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      auto runStart = [&](int64_t run) {
        std::vector<int64_t> start = at;
        start[axis] -= start[axis] % run;
        return std::pair(rowMajor(start, shape), at[axis] % run);
      };
      int64_t contiguity = info.contiguity(axis), divisibility = info.divisibility(axis);
      // Runs of min(contiguity, divisibility in elements) are consecutive.
      int64_t run = std::min(contiguity, std::max<int64_t>(divisibility / step, 1));
      auto [start, inRun] = runStart(run);
      ASSERT_EQ(elements[i], elements[start] + inRun * step) << "contiguity " << run;
      if (at[axis] % contiguity == 0) {
        ASSERT_TRUE(divides(divisibility, elements[i], widthOf(type)))
            << elements[i] << " by " << divisibility;
      }
      ASSERT_EQ(elements[i], elements[runStart(info.constancy(axis)).first]) << "constancy";
    }
  }
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

class ProgramBuilder {
public:
  ProgramBuilder(MLIRContext *context, uint64_t seed) : random(seed), b(context) {
    element = b.getIntegerType(pick({8, 16, 32}));
  }

  OwningOpRef<ModuleOp> build() {
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    Type ptr = PtrType::get(pick({0, 1}) ? Type(b.getF32Type()) : Type(b.getF16Type()));
    SmallVector<Type> args = {element, element, element, ptr};
    func = func::FuncOp::create(b, loc, "f", b.getFunctionType(args, {}));
    Block *body = func.addEntryBlock();
    for (unsigned i = 0; i < args.size(); ++i) {
      divisors.push_back(1 << pick({0, 1, 2, 4, 6}));
      func.setArgAttr(i, kDivisibilityAttr, b.getI32IntegerAttr(divisors.back()));
    }
    b.setInsertionPointToStart(body);
    scalars.assign(body->args_begin(), body->args_begin() + 3);
    pointer = body->getArgument(3);
    addLeaves();
    addSteps(6 + pick({0, 4, 8}));
    if (pick({0, 1}))
      addLoop();
    addPointers();
    func::ReturnOp::create(b, loc);
    return module;
  }

  func::FuncOp func;
  SmallVector<int64_t> divisors;
  std::mt19937_64 random;

  int64_t pick(std::initializer_list<int64_t> choices) {
    return choices.begin()[random() % choices.size()];
  }

private:
  Value any(const std::vector<Value> &from) { return from[random() % from.size()]; }
  Location loc() { return b.getUnknownLoc(); }
  RankedTensorType block(Type e) { return RankedTensorType::get(shape, e); }

  Value toElement(Value v) {
    unsigned from = widthOf(v.getType()), to = element.getIntOrFloatBitWidth();
    Type type = withElementType(v.getType(), element);
    if (from < to)
      return pick({0, 1}) ? arith::ExtSIOp::create(b, loc(), type, v).getResult()
                          : arith::ExtUIOp::create(b, loc(), type, v).getResult();
    return from > to ? arith::TruncIOp::create(b, loc(), type, v).getResult() : v;
  }
  Value splat(Value scalar) { return SplatOp::create(b, loc(), block(scalar.getType()), scalar); }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(
        b, loc(),
        DenseElementsAttr::get(block(element),
                               APInt(widthOf(element), uint64_t(value), true, true)));
  }
  /// A range along one axis of the shape, repeated along the others.
  Value range(unsigned axis) {
    int64_t start = pick({0, 0, 4, 3, 16});
    auto type = RankedTensorType::get({shape[axis]}, b.getI32Type());
    Value v = MakeRangeOp::create(b, loc(), type, uint32_t(start), uint32_t(start + shape[axis]));
    v = toElement(v);
    SmallVector<int64_t> now = {shape[axis]};
    for (unsigned d = 0; d < shape.size(); ++d) {
      if (d == axis)
        continue;
      now.insert(now.begin() + d, 1);
      v = ExpandDimsOp::create(b, loc(), RankedTensorType::get(now, element), v, d);
    }
    return now == SmallVector<int64_t>(shape) ? v
                                              : BroadcastOp::create(b, loc(), block(element), v);
  }

  void addLeaves() {
    shape.assign(1 + size_t(pick({0, 1})), 0);
    for (int64_t &size : shape)
      size = pick({1, 4, 8, 16});
    for (unsigned axis = 0; axis < shape.size(); ++axis)
      ints.push_back(range(axis));
    for (Value s : scalars)
      ints.push_back(splat(s));
    for (int64_t c : {int64_t(1), pick({2, 4, 8}), pick({3, 6, 12, 24}), pick({7, 15, -8, -1, 0})})
      ints.push_back(constant(c));
  }

  template <typename Op> Value binary() { return Op::create(b, loc(), any(ints), any(ints)); }
  template <typename Op> Value withConstant(std::initializer_list<int64_t> values) {
    return Op::create(b, loc(), any(ints), constant(pick(values)));
  }
  Value mask() {
    auto predicate = arith::CmpIPredicate(random() % 10);
    return arith::CmpIOp::create(b, loc(), predicate, any(ints), any(ints));
  }
  Value reshapeThereAndBack() {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    SmallVector<int64_t> flat = {count};
    if (count > 2 && pick({0, 1}))
      flat = {count / 2, 2};
    Value v = ReshapeOp::create(b, loc(), RankedTensorType::get(flat, element), any(ints), false);
    v = arith::AddIOp::create(b, loc(), v, v);
    return ReshapeOp::create(b, loc(), block(element), v, false);
  }
  Value transThereAndBack() {
    if (shape.size() < 2)
      return any(ints);
    auto type = RankedTensorType::get({shape[1], shape[0]}, element);
    SmallVector<int32_t> order = {1, 0};
    Value v = TransOp::create(b, loc(), type, any(ints), b.getDenseI32ArrayAttr(order));
    return TransOp::create(b, loc(), block(element), v, b.getDenseI32ArrayAttr(order));
  }

  Value step() {
    switch (random() % 22) {
    case 0:
    case 1:
      return binary<arith::AddIOp>();
    case 2:
      return binary<arith::SubIOp>();
    case 3:
      return binary<arith::MulIOp>();
    case 4:
      return withConstant<arith::MulIOp>({1, 2, 4, 12});
    case 5:
      return withConstant<arith::DivSIOp>({1, 2, 4, 6});
    case 6:
      return withConstant<arith::DivUIOp>({1, 2, 4, 6});
    case 7:
      return withConstant<arith::RemSIOp>({1, 2, 8, 12});
    case 8:
      return withConstant<arith::RemUIOp>({1, 2, 8, 12});
    case 9:
      return binary<arith::RemUIOp>();
    case 10:
      return withConstant<arith::ShLIOp>({0, 1, 3});
    case 11:
      return withConstant<arith::ShRSIOp>({0, 1, 3});
    case 12:
      return withConstant<arith::ShRUIOp>({0, 1, 3});
    case 13:
      return withConstant<arith::AndIOp>({7, 3, -4, 12, -8, 0});
    case 14:
      return binary<arith::AndIOp>();
    case 15:
      return pick({0, 1}) ? binary<arith::OrIOp>() : binary<arith::XOrIOp>();
    case 16:
      return pick({0, 1}) ? binary<arith::MaxSIOp>() : binary<arith::MinUIOp>();
    case 17:
      return arith::SelectOp::create(b, loc(), mask(), any(ints), any(ints));
    case 18:
      return toElement(mask());
    case 19:
      return reshapeThereAndBack();
    case 20:
      return transThereAndBack();
    default:
      return binary<arith::AddIOp>();
    }
  }
  void addSteps(int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      ints.push_back(step());
  }

  void addLoop() {
    auto scalar = [&](int64_t v) -> Value {
      return arith::ConstantOp::create(b, loc(), b.getIntegerAttr(element, v));
    };
    int64_t lower = pick({0, 2, 8}), by = pick({1, 4, 8});
    Value from = scalar(lower), to = scalar(lower + by * 3), step = scalar(by);
    auto loop = scf::ForOp::create(b, loc(), from, to, step, ValueRange{any(ints), any(ints)});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    std::vector<Value> outer = ints;
    llvm::append_range(ints, loop.getRegionIterArgs());
    ints.push_back(splat(loop.getInductionVar()));
    addSteps(5);
    scf::YieldOp::create(b, loc(), ValueRange{any(ints), any(ints)});
    ints = outer;
    llvm::append_range(ints, loop.getResults());
  }

  void addPointers() {
    Value p = splat(pointer);
    for (int i = 0; i < 3; ++i)
      p = AddPtrOp::create(b, loc(), p, any(ints));
  }

  OpBuilder b;
  IntegerType element;
  SmallVector<int64_t> shape;
  std::vector<Value> scalars, ints;
  Value pointer;
};

class AxisInfoFuzz : public ::testing::Test {
protected:
  AxisInfoFuzz() {
    context.loadDialect<TileDialect, arith::ArithDialect, scf::SCFDialect, func::FuncDialect>();
  }

  /// Many programs, some arguments each; every claim about every value.
  void run(bool trustIndices) {
    for (uint64_t seed = 1; seed <= 2000 && !HasFailure(); ++seed) {
      ProgramBuilder program(&context, seed);
      OwningOpRef<ModuleOp> module = program.build();
      ASSERT_TRUE(succeeded(verify(*module)));
      AxisInfoAnalysis analysis(program.func, trustIndices);
      for (int round = 0; round < 3 && !HasFailure(); ++round)
        tryArguments(program, analysis, trustIndices);
      if (HasFailure()) {
        std::string text;
        llvm::raw_string_ostream os(text);
        module->print(os);
        FAIL() << "seed " << seed << "\n" << text;
      }
    }
    EXPECT_GT(checked, 30000);
    EXPECT_GT(informative, checked / 2);
  }

  void tryArguments(ProgramBuilder &program, AxisInfoAnalysis &analysis, bool trustIndices) {
    Evaluator evaluator;
    evaluator.naturalDividends = trustIndices;
    for (auto [arg, divisor] : llvm::zip(program.func.getArguments(), program.divisors)) {
      int64_t raw = int64_t(program.random() & 0xff) - (isa<PtrType>(arg.getType()) ? 0 : 128);
      int64_t value = wrap(raw / divisor * divisor, arg.getType());
      // A wrapped value may not be what the caller promised.
      evaluator.values[arg] = {value % divisor ? 0 : value};
    }
    if (!evaluator.run(program.func.getBody().front()))
      return;
    // Values inside a loop are those of its last round.
    program.func.walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        auto known = evaluator.values.find(result);
        if (known == evaluator.values.end())
          continue;
        const AxisInfo &info = analysis.get(result);
        checkClaims(result, known->second, info);
        ++checked;
        for (const AxisFacts &f : info.axes)
          informative += f.contiguity || f.divisibility || f.constancy;
        if (HasFailure())
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
  }

  MLIRContext context;
  int checked = 0, informative = 0;
};

TEST_F(AxisInfoFuzz, ClaimsHoldOnRandomPrograms) { run(/*trustIndices=*/false); }
TEST_F(AxisInfoFuzz, ClaimsHoldForIndicesThatAreNotNegative) { run(/*trustIndices=*/true); }

} // namespace
