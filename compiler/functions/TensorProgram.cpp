//===- TensorProgram.cpp - a function of whole tensors, compiled ----------===//
//
// Traces and fuses a function, and describes the kernels that it becomes: for all sizes, and for
// some in other ways. What a launch of one is made of stands in TensorLaunch.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/FusedProgram.h"
#include "ir/TileDialect.h"
#include "mlir/Pass/PassManager.h"
#include "passes/graph/Elements.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/HandChanges.h"
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using graph::Bindings;
using graph::GraphTensorType;
using graph::KernelOp;
using graph::KernelShape;
using graph::Size;

TensorProgram::~TensorProgram() = default;

std::string TensorProgram::unmetRequirement(const Bindings &sizes) const {
  for (auto &[size, otherwise] : requirements)
    if (size.evaluate(sizes).value_or(-1) < 0) {
      std::string text = formatted("{}, with", otherwise);
      std::set<std::string> names;
      size.collectNames(names);
      for (const std::string &name : names)
        if (auto known = sizes.find(name); known != sizes.end())
          text += formatted(" {} = {}", name, known->second);
      return text;
    }
  return "";
}

FusedProgram::FusedProgram()
    : context(*(ownContext = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED))) {
  tensors::registerDialects(context);
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

std::string tile::textOf(ModuleOp module, bool located) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (located)
    flags.enableDebugInfo();
  module.print(os, flags);
  os << '\n';
  return text;
}

std::string FusedProgram::groupedText() const { return textOf(*module, false); }

Size tile::bytesOfValue(Value value) {
  auto type = cast<GraphTensorType>(value.getType());
  return graph::product(type.sizes()) * Size(graph::bytesOf(type.getElement()));
}

/// One launch an operation, which reads its operands and writes its result: what a library
/// without a compiler does. Views cost nothing there either.
void FusedProgram::countUnfused() {
  for (Operation &op : function().getBody().front().without_terminator()) {
    if (graph::isFree(&op) || isa<graph::RearrangeOp, graph::ReshapeOp>(op))
      continue;
    ++unfusedLaunches;
    for (Value result : op.getResults())
      unfusedBytes = unfusedBytes + bytesOfValue(result);
    for (Value operand : op.getOperands())
      if (!operand.getDefiningOp() || !graph::isFree(operand.getDefiningOp()))
        unfusedBytes = unfusedBytes + bytesOfValue(operand);
  }
}

unsigned FusedProgram::addBuffer(Value value, TensorBuffer::Kind kind, int index) {
  auto type = cast<GraphTensorType>(value.getType());
  buffers.push_back({kind, index, type.sizes(), tensors::dtypeOf(type.getElement())});
  return bufferOf[value] = buffers.size() - 1;
}

/// One array in two shapes: what is returned is what was stored, and else what is read.
void FusedProgram::addShape(graph::ReshapeOp op) {
  unsigned source = bufferOf.lookup(op.getSrc());
  if (bufferOf.count(op.getResult())) {
    if (unsigned first = memoryOf(source); buffers[first].kind == TensorBuffer::Kind::Intermediate)
      source = first; // what somebody's kernel has changed
    buffers[source].sameAs = bufferOf.lookup(op.getResult());
  } else {
    buffers[addBuffer(op.getResult(), TensorBuffer::Kind::Intermediate, 0)].sameAs = source;
  }
}

/// What a kernel that somebody wrote changes is in one memory before and behind it.
void FusedProgram::shareChanged(KernelOp op) {
  for (OpResult result : op->getResults()) {
    Value changed = graph::changedBy(result);
    if (!changed)
      continue;
    unsigned before = memoryOf(bufferOf.lookup(changed)), after = bufferOf.lookup(result);
    if (memoryOf(after) == before)
      continue; // a parameter, which becomes that
    assert((buffers[before].kind == TensorBuffer::Kind::Intermediate ||
            buffers[after].kind == TensorBuffer::Kind::Intermediate) &&
           "one of two arrays of the caller's would not be written");
    if (buffers[after].kind == TensorBuffer::Kind::Result)
      buffers[before].sameAs = after;
    else
      buffers[after].sameAs = before;
  }
}

/// What the kernel is given is found among the buffers that it reads and writes.
void FusedProgram::describeHand(graph::LaunchOp launch, TensorKernel &kernel) {
  auto hand = std::make_shared<tensors::HandKernel>(launches[launch.getHandle()]);
  for (tensors::HandArgument &argument : hand->arguments) {
    if (argument.kind == tensors::HandArgument::Kind::Read)
      argument.index = cast<BlockArgument>(launch.getInputs()[argument.index]).getArgNumber();
    else if (argument.kind == tensors::HandArgument::Kind::Write)
      argument.index += kernel.numRead;
  }
  for (auto [i, buffer] : llvm::enumerate(kernel.buffers)) {
    const TensorBuffer &of = buffers[buffer];
    Size bytes = graph::product(of.shape) * Size(of.type.itemSize());
    Size &sum = i < kernel.numRead ? kernel.bytesRead : kernel.bytesWritten;
    if (of.kind != TensorBuffer::Kind::Number)
      sum = sum + bytes;
  }
  kernel.operations.push_back(hand->function.asFunction().name());
  kernel.hand = std::move(hand);
}

std::string tile::nameOfOperation(Operation &op) {
  if (auto map = dyn_cast<graph::MapOp>(op))
    return graph::stringifyMapKind(map.getKind()).str();
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return graph::stringifyReduceKind(reduce.getKind()).str();
  if (auto partial = dyn_cast<graph::PartialOp>(op))
    return formatted("{} in parts", graph::stringifyReduceKind(partial.getKind()));
  if (auto scan = dyn_cast<graph::ScanOp>(op))
    return graph::scanName(scan.getKind()).str();
  return isa<graph::GatherOp>(op)   ? "gather"
         : isa<graph::JoinOp>(op)   ? "cat"
         : isa<graph::CastOp>(op)   ? "to"
         : isa<graph::MatmulOp>(op) ? "matmul"
                                    : "";
}

void FusedProgram::addKernel(KernelOp op, TensorKernel kernel) {
  origins.push_back({op, unsigned(kernels.size()), kernel.buffers});
  kernels.push_back(std::move(kernel));
}

void FusedProgram::describeKernel(KernelOp op) {
  TensorKernel kernel;
  kernel.name = op.getName().str();
  if (auto at = op.getLoc()->findInstanceOf<FileLineColLoc>())
    kernel.line = at.getLine();
  kernel.numRead = op.getInputs().size();
  for (Value input : op.getInputs())
    kernel.buffers.push_back(bufferOf.lookup(input));
  for (Value output : op.getOutputs())
    kernel.buffers.push_back(bufferOf.count(output)
                                 ? bufferOf.lookup(output)
                                 : addBuffer(output, TensorBuffer::Kind::Intermediate, 0));
  if (auto launch = dyn_cast<graph::LaunchOp>(op.getBody().front().front())) {
    describeHand(launch, kernel);
    shareChanged(op);
    addKernel(op, std::move(kernel));
    return;
  }
  KernelShape shape = graph::shapeOf(op);
  kernel.bytesRead = shape.bytesRead();
  kernel.bytesWritten = shape.bytesWritten();
  kernel.reduces = shape.reduces;
  kernel.multiplies = bool(shape.product);
  kernel.chains = shape.product && shape.product->chain;
  kernel.sideBySide = 1 + shape.beside.size();
  for (Operation &inner : op.getBody().front().without_terminator())
    if (std::string name = nameOfOperation(inner); !name.empty())
      kernel.operations.push_back(name);
  if (ArrayAttr reasons = op.getReasonsAttr())
    for (Attribute reason : reasons)
      kernel.reasons.push_back(cast<StringAttr>(reason).str());
  addKernel(op, std::move(kernel));
  if (shape.parts)
    inParts.push_back(std::move(shape));
  else if (kernels.back().multiplies && !kernels.back().chains)
    products.emplace(kernels.size() - 1, std::move(shape));
  else if (kernels.back().chains)
    chained.push_back(std::move(shape));
  else if (graph::RowSteps(shape).canShare())
    rows.emplace(kernels.size() - 1, std::move(shape));
}

/// New tensors, then what parameters become, which lies where they do.
void FusedProgram::describeResults(Operation *end) {
  func::FuncOp entry = function();
  ArrayRef<int64_t> updated;
  if (auto list = entry->getAttrOfType<DenseI64ArrayAttr>(graph::kUpdatesAttr))
    updated = list.asArrayRef();
  size_t count = end->getNumOperands() - updated.size();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    leastBytes = leastBytes + bytesOfValue(value);
    if (i < count) {
      results.push_back(addBuffer(value, TensorBuffer::Kind::Result, i));
      continue;
    }
    unsigned parameter = bufferOf.lookup(entry.getArgument(updated[i - count]));
    unsigned made = addBuffer(value, TensorBuffer::Kind::Intermediate, 0);
    buffers[made].sameAs = parameter;
    updates.push_back({made, parameter});
  }
}

void FusedProgram::describe(const tensors::Signature &signature) {
  func::FuncOp entry = function();
  returnsTuple = entry->hasAttr(graph::kTupleAttr);
  returnsNone = entry->hasAttr(graph::kNoneAttr);
  if (auto needs = entry->getAttrOfType<ArrayAttr>(graph::kRequiresAttr))
    for (size_t i = 0; i + 1 < needs.size(); i += 2) {
      std::string error;
      requirements.push_back({*Size::parse(cast<StringAttr>(needs[i]).getValue(), error),
                              cast<StringAttr>(needs[i + 1]).str()});
    }
  ArrayRef<int64_t> others;
  if (auto list = entry->getAttrOfType<DenseI64ArrayAttr>(graph::kOtherShapesAttr))
    others = list.asArrayRef();
  ArrayRef<BlockArgument> shapes = entry.getArguments().take_back(others.size());
  auto isRead = [&](int64_t number) {
    auto isUsed = [&](auto pair) {
      return std::get<0>(pair) == number && !std::get<1>(pair).use_empty();
    };
    return !entry.getArgument(number).use_empty() ||
           llvm::any_of(llvm::zip_equal(others, shapes), isUsed);
  };
  unsigned next = 0;
  for (auto [i, parameter] : llvm::enumerate(signature.parameters)) {
    if (parameter.kind == tensors::Parameter::Kind::Constant)
      continue;
    Value argument = entry.getArgument(next);
    bool isNumber = parameter.kind == tensors::Parameter::Kind::Number;
    addBuffer(argument, isNumber ? TensorBuffer::Kind::Number : TensorBuffer::Kind::Tensor, i);
    if (!isNumber && isRead(next))
      leastBytes = leastBytes + bytesOfValue(argument);
    ++next;
  }
  for (auto [shape, number] : llvm::zip_equal(shapes, others)) {
    unsigned own = addBuffer(shape, TensorBuffer::Kind::Intermediate, 0);
    buffers[own].sameAs = int(bufferOf.lookup(entry.getArgument(number)));
  }
  Block &body = entry.getBody().front();
  describeResults(body.getTerminator());
  for (Operation &inner : body.without_terminator()) {
    if (auto shape = dyn_cast<graph::ReshapeOp>(inner)) {
      addShape(shape);
      continue;
    }
    auto op = cast<KernelOp>(inner);
    SmallVector<int64_t> numbers;
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      if (buffers[bufferOf.lookup(input)].kind == TensorBuffer::Kind::Number)
        numbers.push_back(i);
    if (!numbers.empty())
      op->setAttr(graph::kNumbersAttr, DenseI64ArrayAttr::get(&context, numbers));
    describeKernel(op);
  }
}

std::unique_ptr<eval::EvalError> FusedProgram::build(eval::Evaluator &evaluator,
                                                     const eval::PyValue &callee,
                                                     const tensors::Signature &signature,
                                                     ArrayRef<tensors::Argument> arguments) {
  std::unique_ptr<eval::EvalError> error;
  module = tensors::trace(context, evaluator, callee, signature, arguments, launches, error);
  if (!module)
    return error;
  traced = textOf(*module, false);
  unfused = module->clone();
  this->signature = signature;
  error = fuse(graph::Chains::All);
  if (chained.empty() && !countsOnNoGaps())
    unfused = {};
  return error;
}

/// Where arrays of the caller's are seen in other shapes, or what becomes of them may be, in some
/// form of the program.
bool FusedProgram::countsOnNoGaps() {
  auto shapes = function().getBody().front().getOps<graph::ReshapeOp>();
  return function()->hasAttr(graph::kOtherShapesAttr) ||
         (function()->hasAttr(graph::kUpdatesAttr) && !shapes.empty());
}

std::unique_ptr<eval::EvalError> FusedProgram::fuse(graph::Chains chains) {
  this->chains = chains;
  countUnfused();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    message += formatted(": {}", d);
    return success();
  });
  PassManager passes(&context);
  graph::buildFusePipeline(passes, chains, !mayHaveGaps);
  if (failed(passes.run(*module)))
    return eval::fail(
        formatted("internal error in the fusion of `{}`{}", function().getName(), message));
  describe(signature);
  return nullptr;
}

std::unique_ptr<TensorProgram> TensorProgram::create(eval::Evaluator &evaluator,
                                                     const eval::PyValue &function,
                                                     const tensors::Signature &signature,
                                                     ArrayRef<tensors::Argument> arguments,
                                                     std::unique_ptr<eval::EvalError> &error) {
  auto program = std::make_unique<FusedProgram>();
  error = program->build(evaluator, function, signature, arguments);
  if (error)
    return nullptr;
  return program;
}
