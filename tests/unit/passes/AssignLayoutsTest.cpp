//===- AssignLayoutsTest.cpp - layouts of random programs -----------------===//
//
// Random block programs (loads and stores in several orders, reductions, scans,
// shape operations, loops and branches) go through the layout pass. Then
//
// 1. every operation's operand and result layouts must fit together;
// 2. the program must compute what it did before, by the interpreter;
// 3. it must lower to the LLVM dialect.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/memory/Scratch.h"
#include "runtime/interp/Interpreter.h"
#include "gtest/gtest.h"
#include <map>
#include <numeric>
#include <random>

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

namespace {

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

constexpr int64_t kMaxElements = 1024;
constexpr int kOutputs = 6;

class ProgramBuilder {
public:
  ProgramBuilder(MLIRContext *context, uint64_t seed) : b(context), random(seed) {}

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc());
    (*module)->setAttr(tile::kKernelAttr,
                       KernelAttr::get(b.getContext(), int32_t(pick({1, 2, 4, 8})), kDefaultStages,
                                       0, WarpRoles::Auto));
    (*module)->setAttr(kTargetAttr, TargetAttr::get(b.getContext(), &fallbackTarget()));
    b.setInsertionPointToEnd(module->getBody());
    Type ptr = PtrType::get(b.getI32Type());
    auto func =
        func::FuncOp::create(b, loc(), "f", b.getFunctionType({ptr, ptr, b.getI32Type()}, {}));
    Block *body = func.addEntryBlock();
    func.setArgAttr(0, kDivisibilityAttr, b.getI32IntegerAttr(16));
    func.setArgAttr(1, kDivisibilityAttr, b.getI32IntegerAttr(int32_t(pick({4, 16}))));
    func.setArgAttr(2, kDivisibilityAttr, b.getI32IntegerAttr(int32_t(pick({1, 4, 16}))));
    b.setInsertionPointToStart(body);
    input = body->getArgument(0);
    output = body->getArgument(1);
    bound = body->getArgument(2);
    for (int i = 0; i < 2; ++i)
      values.push_back(load(randomShape()));
    addSteps(8 + int(random() % 10));
    for (int i = 0; i < kOutputs; ++i)
      store(any(), i);
    func::ReturnOp::create(b, loc());
    return module;
  }

private:
  using Shape = SmallVector<int64_t>;
  Location loc() { return b.getUnknownLoc(); }
  int64_t pick(std::initializer_list<int64_t> choices) {
    return choices.begin()[random() % choices.size()];
  }
  Value any() { return values[random() % values.size()]; }
  static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
  RankedTensorType block(ArrayRef<int64_t> shape, Type element = {}) {
    return RankedTensorType::get(shape, element ? element : b.getI32Type());
  }
  Shape randomShape() {
    while (true) {
      Shape shape;
      int64_t count = 1, rank = pick({1, 2, 2, 3});
      for (int64_t i = 0; i < rank; ++i) {
        shape.push_back(pick({1, 2, 4, 16, 32, 128}));
        count *= shape.back();
      }
      if (count <= kMaxElements)
        return shape;
    }
  }
  Value constant(ArrayRef<int64_t> shape, int32_t value) {
    return arith::ConstantOp::create(b, loc(), DenseElementsAttr::get(block(shape), value));
  }
  Value splat(Value scalar, ArrayRef<int64_t> shape) {
    return SplatOp::create(b, loc(), block(shape, scalar.getType()), scalar);
  }

  /// Positions along one axis, repeated along the others.
  Value range(ArrayRef<int64_t> shape, unsigned axis) {
    Value v = MakeRangeOp::create(b, loc(), block({shape[axis]}), 0, uint32_t(shape[axis]));
    Shape now = {shape[axis]};
    for (unsigned d = 0; d < shape.size(); ++d)
      if (d != axis) {
        now.insert(now.begin() + d, 1);
        v = ExpandDimsOp::create(b, loc(), block(now), v, d);
      }
    return ArrayRef(now) == shape ? v : BroadcastOp::create(b, loc(), block(shape), v);
  }
  /// Each element another number, with the axes nested in some order.
  Value indices(ArrayRef<int64_t> shape) {
    SmallVector<unsigned> order;
    for (unsigned axis = shape.size(); axis-- > 0;)
      order.push_back(axis);
    if (pick({0, 0, 1}))
      std::shuffle(order.begin(), order.end(), random);
    Value sum;
    int64_t stride = 1;
    for (unsigned axis : order) {
      Value part = range(shape, axis);
      if (stride > 1)
        part = arith::MulIOp::create(b, loc(), part, constant(shape, int32_t(stride)));
      sum = sum ? arith::AddIOp::create(b, loc(), sum, part).getResult() : part;
      stride *= shape[axis];
    }
    return sum;
  }
  Value mask(Value index) {
    Value n = splat(bound, typeOf(index).getShape());
    return arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::slt, index, n);
  }
  Value load(ArrayRef<int64_t> shape) {
    Value index = indices(shape);
    Value ptrs = AddPtrOp::create(b, loc(), splat(input, shape), index);
    bool masked = pick({0, 1}), other = masked && pick({0, 1});
    return LoadOp::create(b, loc(), ptrs, masked ? mask(index) : Value(),
                          other ? constant(shape, 7) : Value());
  }
  void store(Value v, int region) {
    ArrayRef<int64_t> shape = typeOf(v).getShape();
    Value index = indices(shape);
    Value first = arith::ConstantOp::create(b, loc(), b.getI32IntegerAttr(region * kMaxElements));
    Value base = AddPtrOp::create(b, loc(), output, first);
    Value ptrs = AddPtrOp::create(b, loc(), splat(base, shape), index);
    StoreOp::create(b, loc(), ptrs, v, pick({0, 1}) ? mask(index) : Value());
  }

  template <typename Op> void addCombiner(Op op, bool sum) {
    OpBuilder::InsertionGuard guard(b);
    Block *combiner =
        b.createBlock(&op.getCombine(), {}, {b.getI32Type(), b.getI32Type()}, {loc(), loc()});
    Value x = combiner->getArgument(0), y = combiner->getArgument(1);
    Value both = sum ? arith::AddIOp::create(b, loc(), x, y).getResult()
                     : arith::MaxSIOp::create(b, loc(), x, y).getResult();
    YieldOp::create(b, loc(), both);
  }
  Value reduce() {
    Value v = any();
    Shape shape(typeOf(v).getShape());
    unsigned axis = random() % shape.size();
    shape.erase(shape.begin() + axis);
    Type type = shape.empty() ? Type(b.getI32Type()) : Type(block(shape));
    auto op = ReduceOp::create(b, loc(), TypeRange{type}, ValueRange{v}, axis);
    addCombiner(op, pick({0, 1}));
    Value result = op.getResult(0);
    if (shape.empty())
      return splat(result, typeOf(v).getShape());
    values.push_back(result);
    Shape one(shape);
    one.insert(one.begin() + axis, 1);
    Value expanded = ExpandDimsOp::create(b, loc(), block(one), result, axis);
    Value again = BroadcastOp::create(b, loc(), v.getType(), expanded);
    return arith::SubIOp::create(b, loc(), v, again);
  }
  Value scan() {
    Value v = any();
    auto op = ScanOp::create(b, loc(), TypeRange{v.getType()}, ValueRange{v},
                             uint32_t(random() % typeOf(v).getRank()), bool(pick({0, 1})));
    addCombiner(op, pick({0, 1}));
    return op.getResult(0);
  }
  Value transpose() {
    Value v = any();
    SmallVector<int32_t> order(typeOf(v).getRank());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Shape shape;
    for (int32_t axis : order)
      shape.push_back(typeOf(v).getDimSize(axis));
    return TransOp::create(b, loc(), block(shape), v, b.getDenseI32ArrayAttr(order));
  }
  Value reshape() {
    Value v = any();
    int64_t count = typeOf(v).getNumElements();
    Shape shape = {count};
    for (int64_t split : {pick({1, 2, 4, 8}), pick({1, 2, 16})})
      if (shape.back() % split == 0 && pick({0, 1})) {
        shape.back() /= split;
        shape.push_back(split);
      }
    return ReshapeOp::create(b, loc(), block(shape), v, false);
  }
  /// Values of one shape: a random one, and another if there is one.
  std::pair<Value, Value> two() {
    Value x = any();
    for (int i = 0; i < 4; ++i)
      if (Value y = any(); y.getType() == x.getType())
        return {x, y};
    return {x, pick({0, 1}) ? indices(typeOf(x).getShape()) : load(typeOf(x).getShape())};
  }
  Value joinAndSplit() {
    auto [x, y] = two();
    Shape shape(typeOf(x).getShape());
    shape.push_back(2);
    Value joined;
    if (typeOf(x).getNumElements() * 2 <= kMaxElements && pick({0, 1})) {
      joined = JoinOp::create(b, loc(), block(shape), x, y);
      values.push_back(joined);
    } else {
      if (typeOf(x).getNumElements() < 4)
        return x;
      shape = {typeOf(x).getNumElements() / 2, 2};
      joined = ReshapeOp::create(b, loc(), block(shape), x, false);
    }
    shape.pop_back();
    auto split = SplitOp::create(b, loc(), block(shape), block(shape), joined);
    values.push_back(split.getLhs());
    return split.getRhs();
  }
  Value loop() {
    auto scalar = [&](int32_t v) -> Value {
      return arith::ConstantOp::create(b, loc(), b.getI32IntegerAttr(v));
    };
    Value x = any(), y = pick({0, 1}) ? any() : indices(typeOf(any()).getShape());
    auto op = scf::ForOp::create(b, loc(), scalar(0), scalar(3), scalar(1), ValueRange{x, y});
    std::vector<Value> outer = values;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(op.getBody());
      values.push_back(op.getRegionIterArg(0));
      values.push_back(op.getRegionIterArg(1));
      addSteps(3);
      SmallVector<Value, 2> passed;
      for (Value arg : op.getRegionIterArgs()) {
        Value next = arg;
        for (int i = 0; i < 6; ++i)
          if (Value v = any(); v.getType() == arg.getType())
            next = v;
        passed.push_back(arith::XOrIOp::create(
            b, loc(), next, splat(op.getInductionVar(), typeOf(arg).getShape())));
      }
      scf::YieldOp::create(b, loc(), passed);
    }
    values = outer;
    values.push_back(op.getResult(0));
    return op.getResult(1);
  }
  Value branch() {
    auto [x, y] = two();
    Value limit = arith::ConstantOp::create(b, loc(), b.getI32IntegerAttr(100));
    Value c = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::slt, bound, limit);
    auto op = scf::IfOp::create(b, loc(), TypeRange{x.getType()}, c, true);
    std::vector<Value> outer = values;
    for (auto [region, fallback] : {std::pair(op.thenBlock(), x), std::pair(op.elseBlock(), y)}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(region);
      addSteps(2);
      Value result = fallback;
      for (int i = 0; i < 4; ++i)
        if (Value v = any(); v.getType() == fallback.getType())
          result = v;
      scf::YieldOp::create(b, loc(), result);
      values = outer;
    }
    return op.getResult(0);
  }
  Value elementwise() {
    auto [x, y] = two();
    if (pick({0, 1}))
      return arith::AddIOp::create(b, loc(), x, y);
    Value c = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::sgt, x, y);
    return arith::SelectOp::create(b, loc(), c, x, y);
  }

  void addSteps(int count) {
    ++depth;
    for (int i = 0; i < count; ++i)
      values.push_back(step());
    --depth;
  }
  Value step() {
    switch (random() % (depth > 2 ? 10 : 12)) {
    case 0:
      return load(randomShape());
    case 1:
      return reduce();
    case 2:
      return scan();
    case 3:
      return transpose();
    case 4:
      return reshape();
    case 5:
      return joinAndSplit();
    case 6:
      return indices(typeOf(any()).getShape());
    case 10:
      return loop();
    case 11:
      return branch();
    default:
      return elementwise();
    }
  }

  OpBuilder b;
  std::mt19937_64 random;
  std::vector<Value> values;
  Value input, output, bound;
  int depth = 0;
};

//===----------------------------------------------------------------------===//
// Layouts that fit together
//===----------------------------------------------------------------------===//

const LinearLayout &layoutOf(Value v) { return cta::getLayout(v.getType()); }

/// Lanes and warps agree; registers may come in another order.
bool sameThreads(const LinearLayout &a, const LinearLayout &b) {
  return a.outs() == b.outs() && a.rows(Dim::lane()) == b.rows(Dim::lane()) &&
         a.rows(Dim::warp()) == b.rows(Dim::warp());
}

/// A sentence about what is wrong, or nothing.
std::string problemOf(Operation *op) {
  for (Value v :
       llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults()))) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type)
      continue;
    if (!cta::hasLayout(type))
      return "no layout";
    const LinearLayout &l = layoutOf(v);
    if (ArrayRef<int64_t>(layout::shapeOf(l)) != type.getShape())
      return "layout of another shape";
    if (!l.isSurjective())
      return "layout does not cover the block";
    if (l.freeBits() & l.inMask(Dim::reg()))
      return "a thread holds an element twice";
  }
  if (isa<BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp>(op)) {
    LinearLayout wanted = operandLayoutFor(op, layoutOf(op->getResult(0)));
    return sameThreads(wanted, layoutOf(op->getOperand(0))) ? "" : "movement between threads";
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (!isa<RankedTensorType>(reduce.getResult(0).getType()))
      return "";
    // What warps share comes from shared memory, to any thread.
    if (lowering::axisBits(layoutOf(op->getOperand(0)), Dim::warp(), reduce.getAxis()))
      return "";
    LinearLayout slice = layout::sliceAxis(layoutOf(op->getOperand(0)), reduce.getAxis());
    return slice == layoutOf(op->getResult(0)) ? "" : "result is not a slice";
  }
  if (auto join = dyn_cast<JoinOp>(op))
    return layout::join(layoutOf(join.getLhs())) == layoutOf(join.getResult()) ? "" : "join";
  if (auto split = dyn_cast<SplitOp>(op)) {
    auto parts = layout::split(layoutOf(split.getSrc()));
    return parts && parts->half == layoutOf(split.getLhs()) ? "" : "split";
  }
  if (isa<cta::ConvertLayoutOp>(op) || isa<scf::SCFDialect>(op->getDialect()))
    return "";
  // Everything else works in one layout.
  std::optional<Attribute> common;
  for (Value v :
       llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
    if (auto type = dyn_cast<RankedTensorType>(v.getType())) {
      if (common && *common != type.getEncoding())
        return "operands in different layouts";
      common = type.getEncoding();
    }
  return "";
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

class AssignLayouts : public ::testing::Test {
protected:
  AssignLayouts() {
    context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, scf::SCFDialect,
                        func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                        cf::ControlFlowDialect, ub::UBDialect>();
  }

  static std::vector<int32_t> interpret(ModuleOp module, int32_t n) {
    std::string error;
    auto program = interp::Program::load(module, {}, error);
    EXPECT_TRUE(program) << error;
    std::vector<int32_t> in(kMaxElements), out(kOutputs * kMaxElements, -1);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = int32_t(i * 2654435761u >> 7);
    if (program) {
      interp::RunOptions options;
      options.numThreads = 1;
      interp::Report report =
          program->run({},
                       {interp::Argument::pointer(in.data()), interp::Argument::pointer(out.data()),
                        interp::Argument::integer(n)},
                       options);
      EXPECT_TRUE(report.ok()) << report.str();
    }
    return out;
  }

  void checkSeed(uint64_t seed) {
    OwningOpRef<ModuleOp> module = ProgramBuilder(&context, seed).build();
    ASSERT_TRUE(succeeded(verify(*module)));
    std::vector<int32_t> before[2] = {interpret(*module, 16), interpret(*module, 304)};
    OwningOpRef<ModuleOp> source = cast<ModuleOp>(module->getOperation()->clone());

    PassManager layouts(&context);
    layouts.addPass(createAssignLayoutsPass());
    layouts.addPass(createCSEPass());
    bool ok = succeeded(layouts.run(*module));
    EXPECT_TRUE(ok);
    module->walk([&](Operation *op) {
      std::string problem = problemOf(op);
      if (problem.empty())
        return;
      std::string text;
      llvm::raw_string_ostream(text) << *op;
      ADD_FAILURE() << problem << ": " << text;
    });
    EXPECT_EQ(interpret(*module, 16), before[0]);
    EXPECT_EQ(interpret(*module, 304), before[1]);

    PassManager lowering(&context);
    buildCtaPipeline(lowering);
    buildLoweringPipeline(lowering);
    OwningOpRef<ModuleOp> lowered = cast<ModuleOp>(source->clone());
    EXPECT_TRUE(succeeded(lowering.run(*lowered)));
    if (HasFailure()) {
      std::string text;
      llvm::raw_string_ostream os(text);
      source->print(os);
      os << "\n=== laid out\n";
      module->print(os);
      FAIL() << "seed " << seed << "\n" << text;
    }
  }

  MLIRContext context;
};

TEST_F(AssignLayouts, RandomPrograms) {
  for (uint64_t seed = 1; seed <= 250 && !HasFailure(); ++seed)
    checkSeed(seed);
}

} // namespace
