//===- TensorProgram.cpp - a function of whole tensors, compiled ----------===//
#include "compiler/functions/TensorProgram.h"
#include "compiler/functions/ChooseCut.h"
#include "frontend/Specialize.h"
#include "frontend/tensors/Trace.h"
#include "ir/TileDialect.h"
#include "mlir/Pass/PassManager.h"
#include "passes/graph/Elements.h"
#include "passes/graph/GraphPasses.h"
#include "text/Format.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using graph::Bindings;
using graph::GraphTensorType;
using graph::KernelOp;
using graph::KernelShape;
using graph::Size;
using graph::Sizes;

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

/// A kernel of more programs does not announce the one behind it: by that many, one after the
/// other, they would be started at half the rate.
static constexpr int64_t kMostToAnnounce = 1024;

namespace {

class Program : public TensorProgram {
public:
  Program() : context(*(ownContext = std::make_unique<MLIRContext>(Threading::DISABLED))) {
    tensors::registerDialects(context);
    context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }
  /// The same function with products apart.
  Program(MLIRContext &context, OwningOpRef<ModuleOp> module)
      : context(context), module(std::move(module)), mark("apart;") {}
  std::unique_ptr<eval::EvalError> build(eval::Evaluator &evaluator, const eval::PyValue &function,
                                         const tensors::Signature &signature,
                                         ArrayRef<tensors::Argument> arguments);
  llvm::Expected<TensorLaunch> launch(unsigned kernel, const Bindings &sizes,
                                      ArrayRef<TensorPlace> places, const Target &target) override;
  TensorProgram &forSizes(const Bindings &sizes, const Target &target) override;
  void chooseParts(Bindings &sizes, const Target &target) const override;
  unsigned mostKernels() const override { return kernels.size() + products.size(); }
  std::string tracedText() const override { return traced; }
  std::string groupedText() const override;

private:
  using Threading = MLIRContext::Threading;
  std::unique_ptr<eval::EvalError> fuse(StringRef name, const tensors::Signature &signature,
                                        bool chains);
  func::FuncOp function() { return *module->getOps<func::FuncOp>().begin(); }
  void countUnfused();
  unsigned addBuffer(Value value, TensorBuffer::Kind kind, int index);
  void describe(const tensors::Signature &signature);
  void describeKernel(KernelOp op);
  void addKernel(KernelOp op, TensorKernel kernel);
  void describeHand(graph::LaunchOp launch, TensorKernel &kernel);
  void describeResults(Operation *end);
  llvm::Expected<TensorLaunch> launchHand(const TensorKernel &kernel, const Bindings &sizes,
                                          ArrayRef<TensorPlace> places, const Target &target);
  Program &withShares(const Bindings &sizes, const Target &target);
  void shareInner(ArrayRef<int64_t> parts);
  std::pair<TensorKernel, TensorKernel> sharedKernels(unsigned number, const TensorKernel &whole);
  void addShape(graph::ReshapeOp op);
  const KernelShape &shapeFor(unsigned kernel, ArrayRef<TensorPlace> places, std::string &layout);
  /// The strides of a buffer as formulas: what is 1 in this launch is so in all of the class.
  Sizes stridesOf(unsigned buffer, const TensorPlace &place, std::string &layout) const;
  std::string moduleText(const KernelShape &shape, const graph::Cut &cut);
  bool announcesNext(const graph::Cut &cut, unsigned index, int64_t programs,
                     const Target &target) const;
  std::vector<bool> withoutElements(const TensorKernel &kernel, const Bindings &sizes) const;
  bool cutWithoutPrograms(graph::Cut &cut, Extents &extents, const TensorKernel &kernel,
                          const KernelShape &shape, const Bindings &sizes,
                          const Target &target) const;

  std::unique_ptr<MLIRContext> ownContext;
  MLIRContext &context;
  mutable OwningOpRef<ModuleOp> module; ///< grouped
  std::string traced;
  /// What a kernel is made of: its operation, the number of that, which no sharing changes, and
  /// the buffers of all its arrays.
  struct Origin {
    KernelOp op;
    unsigned number;
    std::vector<unsigned> buffers;
  };
  std::vector<Origin> origins;              ///< by kernel
  std::map<unsigned, KernelShape> products; ///< kernels of one product, by kernel
  /// Programs in which inner dimensions are shared, by the parts of each kernel.
  std::map<std::vector<int64_t>, std::unique_ptr<Program>> shared;
  std::vector<KernelShape> inParts; ///< kernels that share their rows among programs
  std::vector<KernelShape> chained; ///< kernels of chains of products
  std::string mark;                 ///< of keys: what distinguishes them from another program's
  /// Where there are chains: what to make the program without them of, and that.
  OwningOpRef<ModuleOp> unfused;
  tensors::Signature signature;
  std::vector<tensors::HandKernel> launches; ///< by handle
  std::unique_ptr<Program> apart;
  DenseMap<Value, unsigned> bufferOf;
  std::map<std::string, KernelShape> shapes; ///< by kernel and layout
  /// By the launch's key.
  std::map<std::string, std::shared_ptr<const frontend::SourceFile>> sources;
};

} // namespace

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static std::string textOf(ModuleOp module, bool located) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (located)
    flags.enableDebugInfo();
  module.print(os, flags);
  os << '\n';
  return text;
}

std::string Program::groupedText() const { return textOf(*module, false); }

static Size bytesOfValue(Value value) {
  auto type = cast<GraphTensorType>(value.getType());
  return graph::product(type.sizes()) * Size(graph::bytesOf(type.getElement()));
}

/// One launch an operation, which reads its operands and writes its result: what a library
/// without a compiler does. Views cost nothing there either.
void Program::countUnfused() {
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

unsigned Program::addBuffer(Value value, TensorBuffer::Kind kind, int index) {
  auto type = cast<GraphTensorType>(value.getType());
  buffers.push_back({kind, index, type.sizes(), tensors::dtypeOf(type.getElement())});
  return bufferOf[value] = buffers.size() - 1;
}

/// One array in two shapes: what is returned is what was stored, and else what is read.
void Program::addShape(graph::ReshapeOp op) {
  unsigned source = bufferOf.lookup(op.getSrc());
  if (bufferOf.count(op.getResult()))
    buffers[source].sameAs = bufferOf.lookup(op.getResult());
  else
    buffers[addBuffer(op.getResult(), TensorBuffer::Kind::Intermediate, 0)].sameAs = source;
}

/// What the kernel is given is found among the buffers that it reads and writes.
void Program::describeHand(graph::LaunchOp launch, TensorKernel &kernel) {
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

/// As explanations list it; empty: what costs nothing.
static std::string nameOfOperation(Operation &op) {
  if (auto map = dyn_cast<graph::MapOp>(op))
    return graph::stringifyMapKind(map.getKind()).str();
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return graph::stringifyReduceKind(reduce.getKind()).str();
  if (auto partial = dyn_cast<graph::PartialOp>(op))
    return formatted("{} in parts", graph::stringifyReduceKind(partial.getKind()));
  return isa<graph::ScanOp>(op)     ? "cumsum"
         : isa<graph::GatherOp>(op) ? "gather"
         : isa<graph::CastOp>(op)   ? "to"
         : isa<graph::MatmulOp>(op) ? "matmul"
                                    : "";
}

void Program::addKernel(KernelOp op, TensorKernel kernel) {
  origins.push_back({op, unsigned(kernels.size()), kernel.buffers});
  kernels.push_back(std::move(kernel));
}

void Program::describeKernel(KernelOp op) {
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
    addKernel(op, std::move(kernel));
    return;
  }
  KernelShape shape = graph::shapeOf(op);
  kernel.bytesRead = shape.bytesRead();
  kernel.bytesWritten = shape.bytesWritten();
  kernel.reduces = shape.reduces;
  kernel.multiplies = bool(shape.product);
  kernel.chains = shape.product && shape.product->chain;
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
}

TensorProgram &Program::forSizes(const Bindings &sizes, const Target &target) {
  bool fits = llvm::all_of(chained, [&](const KernelShape &shape) {
    std::optional<Extents> extents = extentsOf(shape, sizes);
    return !extents || chainFits(shape, *extents, target);
  });
  if (fits)
    return withShares(sizes, target);
  if (!apart) {
    apart = std::make_unique<Program>(context, OwningOpRef<ModuleOp>(unfused->clone()));
    apart->launches = launches;
    apart->signature = signature;
    // What could be fused with chains can be without.
    (void)apart->fuse(kernels.front().name, signature, /*chains=*/false);
  }
  return apart->withShares(sizes, target);
}

//===----------------------------------------------------------------------===//
// Products whose inner dimension programs share
//===----------------------------------------------------------------------===//

Program &Program::withShares(const Bindings &sizes, const Target &target) {
  std::vector<int64_t> parts(kernels.size(), 1);
  bool isAny = false;
  for (auto &[kernel, shape] : products)
    if (std::optional<Extents> extents = extentsOf(shape, sizes)) {
      parts[kernel] = tile::shareInner(shape, *extents, target);
      isAny |= parts[kernel] > 1;
    }
  if (!isAny)
    return *this;
  std::unique_ptr<Program> &made = shared[parts];
  if (!made) {
    made = std::make_unique<Program>(context, OwningOpRef<ModuleOp>(module->clone()));
    made->mark = mark; // what is not shared is the same kernel
    made->launches = launches;
    made->traced = traced;
    made->unfusedBytes = unfusedBytes;
    made->unfusedLaunches = unfusedLaunches;
    made->describe(signature);
    made->shareInner(parts);
  }
  return *made;
}

/// Buffers of sums come behind all others, which keep their numbers.
void Program::shareInner(ArrayRef<int64_t> parts) {
  std::vector<TensorKernel> before = std::exchange(kernels, {});
  std::vector<Origin> beforeOrigins = std::exchange(origins, {});
  for (auto [i, kernel] : llvm::enumerate(before)) {
    origins.push_back(beforeOrigins[i]);
    if (parts[i] == 1) {
      kernels.push_back(std::move(kernel));
      continue;
    }
    origins.push_back(beforeOrigins[i]);
    kernel.parts = parts[i];
    auto [multiplies, sums] = sharedKernels(i, kernel);
    kernels.push_back(std::move(multiplies));
    kernels.push_back(std::move(sums));
  }
  products.clear();
}

std::pair<TensorKernel, TensorKernel> Program::sharedKernels(unsigned number,
                                                             const TensorKernel &whole) {
  const KernelShape &shape = products.find(number)->second;
  TensorKernel first = whole, second = whole;
  std::vector<unsigned> sums;
  Size sumBytes;
  for (graph::MatmulOp op : graph::productsOf(shape)) {
    Sizes sizes = graph::shapeOfSums(op, whole.parts);
    sums.push_back(buffers.size());
    buffers.push_back({TensorBuffer::Kind::Intermediate, 0, sizes, *eval::DType::parse("fp32")});
    sumBytes = sumBytes + graph::product(sizes) * Size(4);
  }
  auto fill = [&](TensorKernel &kernel, graph::Share share) {
    kernel.addsParts = share == graph::Share::Sum;
    kernel.name = graph::nameOfKernel(shape, share);
    kernel.buffers.clear();
    kernel.bytesRead = Size();
    std::vector<unsigned> written;
    for (unsigned array : graph::arraysOf(shape, share)) {
      bool isRead = array < whole.numRead;
      (isRead ? kernel.buffers : written).push_back(whole.buffers[array]);
      if (isRead && !shape.isNumber(array))
        kernel.bytesRead = kernel.bytesRead + bytesOfValue(KernelOp(shape.op)->getOperand(array));
    }
    kernel.numRead = kernel.buffers.size();
    llvm::append_range(kernel.buffers, sums);
    llvm::append_range(kernel.buffers, written);
    kernel.operations.clear();
    for (Operation &inner : KernelOp(shape.op).getBody().front().without_terminator()) {
      bool isBehind = shape.forms.count(inner.getResult(0)) && !isa<graph::MatmulOp>(inner);
      std::string name = nameOfOperation(inner);
      if (!name.empty() && isBehind == (share == graph::Share::Sum))
        kernel.operations.push_back(name);
    }
  };
  fill(first, graph::Share::Parts);
  first.bytesWritten = sumBytes;
  first.reasons.clear();
  fill(second, graph::Share::Sum);
  second.numRead += sums.size();
  second.bytesRead = second.bytesRead + sumBytes;
  second.operations.insert(second.operations.begin(), "sum of parts");
  return {std::move(first), std::move(second)};
}

void Program::chooseParts(Bindings &sizes, const Target &target) const {
  for (const KernelShape &shape : inParts)
    if (std::optional<Extents> extents = extentsOf(shape, sizes))
      sizes[*shape.parts->name()] = tile::chooseParts(shape, *extents, target);
}

/// New tensors, then what parameters become, which lies where they do.
void Program::describeResults(Operation *end) {
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

void Program::describe(const tensors::Signature &signature) {
  func::FuncOp entry = function();
  returnsTuple = entry->hasAttr(tensors::kTupleAttr);
  returnsNone = entry->hasAttr(tensors::kNoneAttr);
  if (auto needs = entry->getAttrOfType<ArrayAttr>(tensors::kRequiresAttr))
    for (size_t i = 0; i + 1 < needs.size(); i += 2) {
      std::string error;
      requirements.push_back({*Size::parse(cast<StringAttr>(needs[i]).getValue(), error),
                              cast<StringAttr>(needs[i + 1]).str()});
    }
  unsigned next = 0;
  for (auto [i, parameter] : llvm::enumerate(signature.parameters)) {
    if (parameter.kind == tensors::Parameter::Kind::Constant)
      continue;
    Value argument = entry.getArgument(next++);
    bool isNumber = parameter.kind == tensors::Parameter::Kind::Number;
    addBuffer(argument, isNumber ? TensorBuffer::Kind::Number : TensorBuffer::Kind::Tensor, i);
    if (!isNumber && !argument.use_empty())
      leastBytes = leastBytes + bytesOfValue(argument);
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

std::unique_ptr<eval::EvalError> Program::build(eval::Evaluator &evaluator,
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
  error = fuse(callee.asFunction().name(), signature, /*chains=*/true);
  if (chained.empty())
    unfused = {};
  return error;
}

std::unique_ptr<eval::EvalError> Program::fuse(StringRef name, const tensors::Signature &signature,
                                               bool chains) {
  countUnfused();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    message += formatted(": {}", d);
    return success();
  });
  PassManager passes(&context);
  graph::buildFusePipeline(passes, chains);
  if (failed(passes.run(*module)))
    return eval::fail(formatted("internal error in the fusion of `{}`{}", name, message));
  describe(signature);
  return nullptr;
}

std::unique_ptr<TensorProgram> TensorProgram::create(eval::Evaluator &evaluator,
                                                     const eval::PyValue &function,
                                                     const tensors::Signature &signature,
                                                     ArrayRef<tensors::Argument> arguments,
                                                     std::unique_ptr<eval::EvalError> &error) {
  auto program = std::make_unique<Program>();
  error = program->build(evaluator, function, signature, arguments);
  if (error)
    return nullptr;
  return program;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static std::string strideName(unsigned buffer, size_t dim) {
  return "stride." + std::to_string(buffer) + "." + std::to_string(dim);
}

Sizes Program::stridesOf(unsigned buffer, const TensorPlace &place, std::string &layout) const {
  Sizes strides;
  layout += ";" + std::to_string(buffer);
  for (auto [dim, stride] : llvm::enumerate(place.strides)) {
    // 0 is not: the elements are as many, and reductions count each.
    bool isKnown = stride == 1;
    layout += isKnown ? ",1" : ",s";
    strides.push_back(isKnown ? Size(stride) : Size::symbol(strideName(buffer, dim)));
  }
  return strides;
}

const KernelShape &Program::shapeFor(unsigned kernel, ArrayRef<TensorPlace> places,
                                     std::string &layout) {
  const Origin &of = origins[kernel];
  std::vector<Sizes> strides;
  for (unsigned buffer : of.buffers) // a result has gaps where it lies in a parameter that does
    strides.push_back(places[buffer].strides.empty() ? Sizes()
                                                     : stridesOf(buffer, places[buffer], layout));
  std::string key = std::to_string(of.number) + layout;
  auto found = shapes.find(key);
  if (found == shapes.end())
    found = shapes.emplace(key, graph::shapeOf(of.op, strides)).first;
  return found->second;
}

std::string Program::moduleText(const KernelShape &shape, const graph::Cut &cut) {
  ++modulesMade;
  OwningOpRef<ModuleOp> made = ModuleOp::create(UnknownLoc::get(&context));
  graph::emitKernel(shape, cut, *made);
  return textOf(*made, true);
}

/// "*fp16:16", "fp32", "i32:16"
static std::string signatureOf(const KernelShape &shape, const graph::Cut &cut,
                               ArrayRef<TensorBuffer> buffers, const TensorKernel &kernel) {
  std::string text;
  auto add = [&](std::string entry, bool divides) {
    text += (text.empty() ? "" : ",") + entry + (divides ? ":16" : "");
  };
  for (auto [i, buffer] : llvm::enumerate(kernel.buffers)) {
    const TensorBuffer &of = buffers[buffer];
    std::string type = of.type.isBool() ? "i8" : of.type.str();
    bool isNumber = of.kind == TensorBuffer::Kind::Number;
    add((isNumber ? "" : "*") + type, !isNumber && cut.aligned[i]);
  }
  for (bool divides : cut.divisible)
    add(cut.wide ? "i64" : "i32", divides);
  return text;
}

static std::string keyOf(const std::string &kernel, const std::string &layout,
                         const graph::Cut &cut) {
  std::string key = kernel + layout + "|" + std::to_string(cut.block) + "x" +
                    std::to_string(cut.rows) + "x" + std::to_string(cut.inner) + "x" +
                    std::to_string(cut.depth) + "w" + std::to_string(cut.warps) + "s" +
                    std::to_string(cut.stages) + "t" + std::to_string(cut.together) + "|" +
                    std::to_string(int(cut.share)) + "p" + std::to_string(cut.parts) + "|";
  for (bool flag : {cut.loop, cut.evenColumns, cut.evenRows, cut.evenInner, cut.evenDepth,
                    cut.oneBlock, cut.wide, cut.announces, cut.streams})
    key += flag ? '1' : '0';
  for (auto *flags : {&cut.divisible, &cut.aligned, &cut.absent}) {
    key += "|";
    for (bool flag : *flags)
      key += flag ? '1' : '0';
  }
  return key;
}

/// Which arrays of a kernel have no elements.
std::vector<bool> Program::withoutElements(const TensorKernel &kernel,
                                           const Bindings &sizes) const {
  std::vector<bool> absent;
  for (unsigned buffer : kernel.buffers)
    absent.push_back(graph::product(buffers[buffer].shape).evaluate(sizes) == 0);
  return absent;
}

/// So many elements, with one along each dimension that has none.
static int64_t atLeastOne(ArrayRef<Size> dims, const Bindings &sizes) {
  int64_t count = 1;
  for (const Size &size : dims)
    count *= std::max<int64_t>(size.evaluate(sizes).value_or(1), 1);
  return count;
}

/// A kernel without rows or columns may have results all the same: then `extents` have one each,
/// and `cut` says what is absent. False if it has none.
bool Program::cutWithoutPrograms(graph::Cut &cut, Extents &extents, const TensorKernel &kernel,
                                 const KernelShape &shape, const Bindings &sizes,
                                 const Target &target) const {
  std::vector<bool> absent = withoutElements(kernel, sizes);
  if (std::find(absent.begin() + kernel.numRead, absent.end(), false) == absent.end())
    return false;
  extents.rows = atLeastOne(shape.rows, sizes);
  extents.columns = atLeastOne(shape.columns, sizes);
  cut = chooseCut(shape, extents, target);
  cut.absent = std::move(absent);
  return true;
}

/// The numbers that the kernel is given for its sizes, and what `cut` may know of them. Nothing
/// if they do not fit 64 bits.
static std::optional<std::vector<int64_t>> valuesOf(const KernelShape &shape, graph::Cut &cut,
                                                    const Extents &extents, const Bindings &sizes) {
  std::vector<int64_t> values;
  for (const Size &size : shape.sizes) {
    std::optional<int64_t> value = size.evaluate(sizes);
    if (!value)
      return std::nullopt;
    if (!cut.absent.empty())
      value = size == graph::product(shape.rows)      ? extents.rows
              : size == graph::product(shape.columns) ? extents.columns
                                                      : std::max<int64_t>(*value, 1);
    values.push_back(*value);
    cut.wide |= *value != int32_t(*value);
    cut.divisible.push_back(*value % 16 == 0 && shape.aligns(size));
  }
  return values;
}

static llvm::Error tooLarge(const TensorKernel &kernel) {
  return llvm::createStringError(formatted("the sizes of kernel `{}` do not fit: a dimension, a "
                                           "stride or the number of programs is too large",
                                           kernel.name));
}

/// Whether the kernel behind this one, which has so many programs along x, may start before it
/// ends.
bool Program::announcesNext(const graph::Cut &cut, unsigned index, int64_t programs,
                            const Target &target) const {
  const TensorKernel &kernel = kernels[index];
  // One that fills the chip leaves no room for the next but at the end of its last programs.
  int64_t count = programs * kernel.parts, threads = count * cut.warps * int64_t(kLanes);
  bool leavesRoom =
      kernel.multiplies ? count <= kMostToAnnounce : threads < threadsAtOnce(target) / 2;
  return index + 1 < kernels.size() && leavesRoom;
}

llvm::Expected<TensorLaunch> Program::launch(unsigned index, const Bindings &given,
                                             ArrayRef<TensorPlace> places, const Target &target) {
  const TensorKernel &kernel = kernels[index];
  if (kernel.hand)
    return launchHand(kernel, given, places, target);
  std::string layout;
  const KernelShape &shape = shapeFor(index, places, layout);
  Bindings sizes = given;
  for (unsigned buffer : origins[index].buffers)
    for (auto [dim, stride] : llvm::enumerate(places[buffer].strides))
      sizes[strideName(buffer, dim)] = stride;
  std::optional<Extents> extents = extentsOf(shape, sizes);
  if (!extents)
    return tooLarge(kernel);
  TensorLaunch launch;
  launch.elements = double(extents->rows) * extents->columns *
                    std::max<int64_t>(extents->inner, 1) * std::max<int64_t>(extents->depth, 1);
  graph::Cut cut = kernel.addsParts   ? cutSum(*extents, target, kernel.parts)
                   : kernel.parts > 1 ? cutShared(shape, *extents, target, kernel.parts)
                                      : chooseCut(shape, *extents, target);
  if (countPrograms(shape, cut, *extents) == 0 && !shape.product &&
      !cutWithoutPrograms(cut, *extents, kernel, shape, sizes, target)) {
    launch.grid = {0, 1, 1};
    return launch;
  }
  constexpr int64_t narrow = int64_t(1) << 30; // a block more still fits 32 bits
  cut.wide = std::max({extents->rows, extents->columns, extents->inner, extents->depth}) >= narrow;
  std::optional<std::vector<int64_t>> values = valuesOf(shape, cut, *extents, sizes);
  if (!values)
    return tooLarge(kernel);
  for (unsigned buffer : kernel.buffers) {
    cut.aligned.push_back(places[buffer].address % 16 == 0);
    launch.arguments.push_back({true, buffer, 0});
  }
  for (int64_t value : *values)
    launch.arguments.push_back({false, 0, value});
  int64_t programs = countPrograms(shape, cut, *extents);
  if (programs < 0 || programs > INT32_MAX)
    return tooLarge(kernel);
  cut.announces = announcesNext(cut, index, programs, target);
  launch.grid = {uint32_t(programs), 1, 1};
  if (cut.share == graph::Share::Parts)
    launch.grid[1] = uint32_t(kernel.parts);
  launch.key = keyOf(mark + std::to_string(origins[index].number), layout, cut);
  auto &source = sources[launch.key];
  if (!source) {
    std::string name = kernel.name + frontend::kModuleEnding.str();
    source = std::make_shared<frontend::SourceFile>(name, moduleText(shape, cut));
  }
  launch.source = source;
  launch.options.kernel = kernel.name;
  launch.options.signature = signatureOf(shape, cut, buffers, kernel);
  launch.options.numWarps = cut.warps;
  launch.options.target = target.name.str();
  return launch;
}

//===----------------------------------------------------------------------===//
// Kernels that somebody wrote
//===----------------------------------------------------------------------===//

/// The entry of a signature, and the argument.
static std::string handEntry(const tensors::HandArgument &argument, const TensorKernel &kernel,
                             ArrayRef<TensorBuffer> buffers, ArrayRef<TensorPlace> places,
                             const Bindings &sizes, TensorArgument &out) {
  using Kind = tensors::HandArgument::Kind;
  if (argument.kind == Kind::Read || argument.kind == Kind::Write) {
    unsigned buffer = kernel.buffers[argument.index];
    const TensorBuffer &of = buffers[buffer];
    out = {true, buffer, 0};
    if (of.kind == TensorBuffer::Kind::Number)
      return of.type.str();
    std::string type = of.type.isBool() ? "i1" : of.type.str();
    // What it reads it must not write: others may read it as well.
    std::string pointer = argument.kind == Kind::Read ? "*k" : "*";
    return pointer + type + (places[buffer].address % 16 == 0 ? ":16" : "");
  }
  if (argument.kind == Kind::Real) {
    out.isReal = true;
    out.size = llvm::bit_cast<uint32_t>(float(argument.real));
    return "fp32";
  }
  out.size =
      argument.kind == Kind::Size ? argument.size.evaluate(sizes).value_or(0) : argument.integer;
  bool isWide = out.size != int32_t(out.size);
  return std::string(isWide ? "i64" : "i32") + (out.size % 16 == 0 ? ":16" : "");
}

llvm::Expected<TensorLaunch> Program::launchHand(const TensorKernel &kernel, const Bindings &sizes,
                                                 ArrayRef<TensorPlace> places,
                                                 const Target &target) {
  const tensors::HandKernel &hand = *kernel.hand;
  const eval::FunctionObject &function = hand.function.asFunction();
  TensorLaunch launch;
  for (auto [i, dim] : llvm::enumerate(hand.grid)) {
    std::optional<int64_t> count = dim.evaluate(sizes);
    if (!count || *count > (i == 0 ? INT32_MAX : UINT16_MAX))
      return tooLarge(kernel);
    launch.grid[i] = uint32_t(*count);
  }
  if (llvm::is_contained(launch.grid, 0u)) {
    launch.grid = {0, 1, 1};
    return launch;
  }
  for (unsigned buffer : kernel.buffers)
    if (!places[buffer].strides.empty())
      return llvm::createStringError(
          formatted("`{}` in line {} is given a parameter whose elements have gaps between them, "
                    "which it knows nothing of: call the function with contiguous tensors",
                    function.name(), hand.line));
  for (const tensors::HandArgument &argument : hand.arguments) {
    if (argument.kind == tensors::HandArgument::Kind::Constant) {
      launch.options.constexprs.emplace_back(argument.name, argument.constant);
      continue;
    }
    TensorArgument &given = launch.arguments.emplace_back();
    std::string entry = handEntry(argument, kernel, buffers, places, sizes, given);
    launch.options.signature += (launch.options.signature.empty() ? "" : ",") + entry;
  }
  launch.options.kernel = function.name();
  launch.options.numWarps = hand.numWarps;
  launch.options.numStages = hand.numStages;
  launch.options.target = target.name.str();
  launch.key = mark + kernel.name + "|" + launch.options.signature;
  // The file outlives the program, which keeps the function.
  launch.source = std::shared_ptr<const frontend::SourceFile>(std::shared_ptr<void>(),
                                                              &function.module->source());
  return launch;
}
