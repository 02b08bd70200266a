//===- TensorLaunch.cpp - what a kernel of a function is launched with ----===//
//
// For the sizes and places of a call: how the kernel is cut into blocks, its module, which is made
// once for all launches of one key, and its arguments.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/FusedProgram.h"
#include "frontend/Specialize.h"
#include "passes/graph/GraphPasses.h"
#include "target/Tuning.h"
#include "text/Format.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace tile;
using graph::Bindings;
using graph::KernelShape;
using graph::kMostMultiple;
using graph::Size;
using graph::Sizes;

static std::string strideName(unsigned buffer, size_t dim) {
  return "stride." + std::to_string(buffer) + "." + std::to_string(dim);
}

Sizes FusedProgram::stridesOf(unsigned buffer, const TensorPlace &place,
                              std::string &layout) const {
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

/// Rows that fill no more of a block than this are joined with those of other products.
static constexpr int64_t kFewRows = 64;

const KernelShape &FusedProgram::shapeFor(unsigned kernel, ArrayRef<TensorPlace> places,
                                          const Bindings &sizes, std::string &layout) {
  const KernelShape &shape = shapeOf(kernel, places, layout, /*joinsRows=*/false);
  if (!graph::canJoinRows(shape))
    return shape;
  std::optional<int64_t> rows = shape.rows.back().evaluate(sizes);
  std::optional<int64_t> batch = graph::product(ArrayRef(shape.rows).drop_back()).evaluate(sizes);
  if (!rows || !batch || *rows >= kFewRows || *batch < 2)
    return shape;
  layout.clear();
  return shapeOf(kernel, places, layout, /*joinsRows=*/true);
}

const KernelShape &FusedProgram::shapeOf(unsigned kernel, ArrayRef<TensorPlace> places,
                                         std::string &layout, bool joinsRows) {
  const Origin &of = origins[kernel];
  std::vector<Sizes> strides;
  for (unsigned buffer : of.buffers) // a result has gaps where it lies in a parameter that does
    strides.push_back(places[buffer].strides.empty() ? Sizes()
                                                     : stridesOf(buffer, places[buffer], layout));
  if (joinsRows)
    layout += "|joined";
  std::string key = std::to_string(of.number) + layout;
  auto found = shapes.find(key);
  if (found == shapes.end())
    found = shapes.emplace(key, graph::shapeOf(of.op, strides, joinsRows)).first;
  return found->second;
}

std::string FusedProgram::moduleText(const KernelShape &shape, const graph::Cut &cut) {
  ++modulesMade;
  OwningOpRef<ModuleOp> made = ModuleOp::create(UnknownLoc::get(&context));
  graph::emitKernel(shape, cut, *made);
  return textOf(*made, true);
}

/// "*fp16:16", "fp32", "i32:16"
static std::string signatureOf(const KernelShape &shape, const graph::Cut &cut,
                               ArrayRef<TensorBuffer> buffers, const TensorKernel &kernel) {
  std::string text;
  auto add = [&](std::string entry, int multiple) {
    text +=
        (text.empty() ? "" : ",") + entry + (multiple > 1 ? ":" + std::to_string(multiple) : "");
  };
  for (auto [i, buffer] : llvm::enumerate(kernel.buffers)) {
    const TensorBuffer &of = buffers[buffer];
    std::string type = of.type.isBool() ? "i8" : of.type.str();
    bool isNumber = of.kind == TensorBuffer::Kind::Number;
    add((isNumber ? "" : "*") + type, !isNumber && cut.aligned[i] ? kMostMultiple : 0);
  }
  for (int multiple : cut.divisible)
    add(cut.wide ? "i64" : "i32", multiple);
  return text;
}

static std::string keyOf(const std::string &kernel, const std::string &layout,
                         const graph::Cut &cut) {
  std::string key = kernel + layout + "|" + std::to_string(cut.block) + "x" +
                    std::to_string(cut.rows) + "x" + std::to_string(cut.inner) + "x" +
                    std::to_string(cut.depth) + "w" + std::to_string(cut.warps) + "s" +
                    std::to_string(cut.stages) + "t" + std::to_string(cut.together) + "f" +
                    std::to_string(cut.fewPrograms) + "|" + std::to_string(int(cut.share)) + "p" +
                    std::to_string(cut.parts) + "," + std::to_string(cut.step) + "|";
  for (bool flag : {cut.loop, cut.evenColumns, cut.evenRows, cut.evenInner, cut.evenDepth,
                    cut.oneBlock, cut.wide, cut.announces, cut.streams, cut.hasEmptySize})
    key += flag ? '1' : '0';
  for (int multiple : cut.divisible)
    key += std::to_string(multiple) + ",";
  for (auto *flags : {&cut.aligned, &cut.absent, &cut.ofNothing}) {
    key += "|";
    for (bool flag : *flags)
      key += flag ? '1' : '0';
  }
  return key;
}

/// Which arrays of a kernel have no elements.
std::vector<bool> FusedProgram::withoutElements(const TensorKernel &kernel,
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
bool FusedProgram::cutWithoutPrograms(graph::Cut &cut, Extents &extents, const TensorKernel &kernel,
                                      const KernelShape &shape, const Bindings &sizes,
                                      const Target &target) const {
  std::vector<bool> absent = withoutElements(kernel, sizes);
  if (std::find(absent.begin() + kernel.numRead, absent.end(), false) == absent.end())
    return false;
  extents.rows = atLeastOne(shape.rows, sizes);
  extents.columns = atLeastOne(shape.columns, sizes);
  cut = chooseCut(shape, extents, target);
  cut.absent = std::move(absent);
  for (mlir::Value result :
       graph::KernelOp(shape.op).getBody().front().getTerminator()->getOperands()) {
    auto partial = result.getDefiningOp<graph::PartialOp>();
    cut.ofNothing.push_back(partial &&
                            graph::product(graph::sizesOf(partial.getSrc())).evaluate(sizes) == 0);
  }
  return true;
}

/// The largest power of two that divides it, as far as accesses gain by it.
static int multipleOf(int64_t value) {
  return int(std::min<int64_t>(kMostMultiple, llvm::MinAlign(kMostMultiple, uint64_t(value))));
}

/// The numbers that the kernel is given for its sizes, and what `cut` may know of them. Nothing
/// if they do not fit 64 bits.
static std::optional<std::vector<int64_t>> valuesOf(const KernelShape &shape, graph::Cut &cut,
                                                    const Extents &extents, const Bindings &sizes,
                                                    Fit fit) {
  std::vector<int64_t> values;
  for (const Size &size : shape.sizes) {
    std::optional<int64_t> value = size.evaluate(sizes);
    if (!value)
      return std::nullopt;
    cut.hasEmptySize |= *value == 0;
    if (!cut.absent.empty())
      value = size == graph::product(shape.rows)      ? extents.rows
              : size == graph::product(shape.columns) ? extents.columns
                                                      : std::max<int64_t>(*value, 1);
    values.push_back(*value);
    cut.wide |= *value != int32_t(*value);
    int multiple = fit == Fit::Own ? multipleOf(*value) : fit == Fit::Divisible ? kMostMultiple : 0;
    cut.divisible.push_back(shape.aligns(size) ? multiple : 0);
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
bool FusedProgram::announcesNext(const graph::Cut &cut, unsigned index, int64_t programs,
                                 const Target &target) const {
  const TensorKernel &kernel = kernels[index];
  const Tuning &tuning = tuningOf(target);
  // One that fills the chip leaves no room for the next but at the end of its last programs.
  int64_t count = programs * kernel.parts, threads = count * cut.warps * int64_t(kLanes);
  bool leavesRoom = kernel.multiplies ? count <= tuning.announceMostPrograms
                                      : threads < threadsAtOnce(target) / tuning.announcePartOfChip;
  return index + 1 < kernels.size() && leavesRoom;
}

/// The cut that somebody wants, or else the model's.
static graph::Cut cutOf(const TensorKernel &kernel, const KernelShape &shape,
                        const Extents &extents, const TensorCut *wanted, const Target &target) {
  bool isScattered = kernel.scatter != TensorKernel::Scatter::No;
  graph::Cut cut = isScattered        ? cutScatter(shape, extents, target, kernel.scatter)
                   : kernel.addsParts ? cutSum(extents, target, kernel.parts)
                   : kernel.step >= 0 ? cutStep(shape, extents, target, kernel)
                   : kernel.parts > 1 ? cutShared(shape, extents, target, kernel.parts)
                                      : chooseCut(shape, extents, target);
  if (wanted && !isScattered)
    takeCut(cut, shape, *wanted, extents, target);
  return cut;
}

/// What the launch runs. The text is made once for all launches of its key.
void FusedProgram::addCode(TensorLaunch &launch, const TensorKernel &kernel,
                           const KernelShape &shape, const graph::Cut &cut, const Target &target) {
  auto &source = sources[launch.key];
  if (!source) {
    std::string name = kernel.name + frontend::kModuleEnding.str();
    source = std::make_shared<frontend::SourceFile>(name, moduleText(shape, cut));
  }
  launch.source = source;
  launch.options.kernel = kernel.name;
  launch.options.signature = signatureOf(shape, cut, buffers, kernel);
  launch.options.numWarps = cut.warps;
  launch.options.multiplesAtLaunch = false;
  launch.options.target = target.name.str();
}

llvm::Expected<TensorLaunch> FusedProgram::launchFor(const Asked &asked, unsigned index) {
  const TensorKernel &kernel = kernels[index];
  if (kernel.hand)
    return launchHand(asked, kernel);
  ArrayRef<TensorPlace> places = asked.places;
  const Target &target = asked.target;
  std::string layout;
  Bindings sizes = asked.sizes;
  for (unsigned buffer : origins[index].buffers)
    for (auto [dim, stride] : llvm::enumerate(places[buffer].strides))
      sizes[strideName(buffer, dim)] = stride;
  const KernelShape &shape = shapeFor(index, places, sizes, layout);
  std::optional<Extents> extents = extentsOf(shape, sizes);
  if (!extents)
    return tooLarge(kernel);
  if (kernel.parts > 1 && !sumsFit(kernel, *extents))
    return tooLarge(kernel);
  TensorLaunch launch;
  launch.elements = double(extents->rows) * extents->columns *
                    std::max<int64_t>(extents->inner, 1) * std::max<int64_t>(extents->depth, 1);
  graph::Cut cut = cutOf(kernel, shape, *extents, asked.cut, target);
  if (countPrograms(shape, cut, *extents) == 0 && !shape.product &&
      !cutWithoutPrograms(cut, *extents, kernel, shape, sizes, target)) {
    launch.grid = {0, 1, 1};
    return launch;
  }
  if (asked.fit != Fit::Own)
    cut.evenColumns = cut.evenRows = cut.evenInner = cut.evenDepth = false;
  cut.wide =
      std::max({extents->rows, extents->columns, extents->inner, extents->depth}) >= kNarrowExtents;
  std::optional<std::vector<int64_t>> values = valuesOf(shape, cut, *extents, sizes, asked.fit);
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
  if (shape.product)
    cut.fewPrograms = fewPrograms(programs * kernel.parts, target);
  launch.grid = {uint32_t(programs), 1, 1};
  if (cut.sharesGrid())
    launch.grid[1] = uint32_t(kernel.parts);
  launch.key = keyOf(mark + std::to_string(origins[index].number), layout, cut);
  addCode(launch, kernel, shape, cut, target);
  if (asked.calls)
    *asked.calls = classOf(shape, cut, kernel.parts);
  return launch;
}

//===----------------------------------------------------------------------===//
// Kernels that somebody wrote
//===----------------------------------------------------------------------===//

/// The entry of a signature, and the argument.
static std::string handEntry(const tensors::HandArgument &argument, const TensorKernel &kernel,
                             ArrayRef<TensorBuffer> buffers, ArrayRef<TensorPlace> places,
                             const Bindings &sizes, Fit fit, TensorArgument &out) {
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
  bool mayVary = argument.kind == Kind::Size && fit == Fit::Any;
  return std::string(isWide ? "i64" : "i32") + (out.size % 16 == 0 && !mayVary ? ":16" : "");
}

/// The calls in which the kernel is given numbers of these types.
static void describeClass(const tensors::HandKernel &hand, const TensorLaunch &launch, Fit fit,
                          LaunchClass &calls) {
  calls.grid = hand.grid;
  size_t next = 0;
  for (const tensors::HandArgument &argument : hand.arguments) {
    if (argument.kind == tensors::HandArgument::Kind::Constant)
      continue;
    const TensorArgument &given = launch.arguments[next++];
    if (given.isBuffer)
      continue;
    if (argument.kind != tensors::HandArgument::Kind::Size) {
      calls.arguments.push_back(given.size);
      continue;
    }
    calls.arguments.push_back(argument.size);
    if (given.size == int32_t(given.size))
      calls.conditions.push_back({SizeCondition::Kind::AtMost, argument.size, INT32_MAX});
    if (given.size % 16 == 0 && fit != Fit::Any)
      calls.conditions.push_back({SizeCondition::Kind::Divides, argument.size, 16});
  }
}

llvm::Expected<TensorLaunch> FusedProgram::launchHand(const Asked &asked,
                                                      const TensorKernel &kernel) {
  const tensors::HandKernel &hand = *kernel.hand;
  const eval::FunctionObject &function = hand.function.asFunction();
  TensorLaunch launch;
  for (auto [i, dim] : llvm::enumerate(hand.grid)) {
    std::optional<int64_t> count = dim.evaluate(asked.sizes);
    if (!count || *count > (i == 0 ? INT32_MAX : UINT16_MAX))
      return tooLarge(kernel);
    launch.grid[i] = uint32_t(*count);
  }
  if (llvm::is_contained(launch.grid, 0u)) {
    launch.grid = {0, 1, 1};
    return launch;
  }
  for (unsigned buffer : kernel.buffers)
    if (!asked.places[buffer].strides.empty())
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
    std::string entry =
        handEntry(argument, kernel, buffers, asked.places, asked.sizes, asked.fit, given);
    launch.options.signature += (launch.options.signature.empty() ? "" : ",") + entry;
  }
  launch.options.kernel = function.name();
  launch.options.numWarps = hand.numWarps;
  launch.options.multiplesAtLaunch = false;
  launch.options.numStages = hand.numStages;
  launch.options.target = asked.target.name.str();
  launch.key = mark + kernel.name + "|" + launch.options.signature;
  // The file outlives the program, which keeps the function.
  launch.source = std::shared_ptr<const frontend::SourceFile>(std::shared_ptr<void>(),
                                                              &function.module->source());
  launch.tree = &function.module->tree();
  if (asked.calls)
    describeClass(hand, launch, asked.fit, *asked.calls);
  return launch;
}
