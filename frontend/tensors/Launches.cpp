//===- Launches.cpp - kernels of the same file in a function's graph ------===//
//
// `kernel[grid](x, out, x.shape[0], BLOCK=128)` is one operation: it reads the tensors that it
// is given, and writes all of those that `tile.empty` made. What it changes, or writes a part of,
// the launch declares (`changes=`): such a tensor has another value from there on. The grid and
// sizes are formulas.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

std::optional<int64_t> HandGrid::evaluate(const graph::Bindings &sizes) const {
  int64_t count = 1;
  for (auto &[size, divisor] : factors) {
    std::optional<int64_t> value = size.evaluate(sizes);
    if (!value || *value < 0)
      return std::nullopt;
    int64_t blocks = *value / divisor + (*value % divisor != 0);
    if (llvm::MulOverflow(count, blocks, count))
      return std::nullopt;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

namespace {
/// `tile.cdiv(n, 128)`, and products of such.
class BlocksValue : public eval::Extension {
public:
  explicit BlocksValue(HandGrid grid) : Extension(&id), grid(std::move(grid)) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  std::string typeName() const override { return "number of blocks"; }
  std::string repr() const override {
    std::string text;
    for (auto &[size, divisor] : grid.factors)
      text += formatted("{}cdiv({}, {})", text.empty() ? "" : " * ", size, divisor);
    return text;
  }
  Result binary(ast::BinaryOp op, const PyValue &other, bool reflected) override;

  static char id;
  const HandGrid grid;
};
} // namespace

char BlocksValue::id = 0;

/// A dimension of a grid; nothing if it is none.
static std::optional<HandGrid> gridOf(const PyValue &value) {
  if (auto *blocks = value.dynExtension<BlocksValue>())
    return blocks->grid;
  if (std::optional<Size> size = sizeOf(value))
    return HandGrid{{{*size, 1}}};
  return std::nullopt;
}

Result BlocksValue::binary(ast::BinaryOp op, const PyValue &other, bool reflected) {
  std::optional<HandGrid> with = gridOf(other);
  if (op != ast::BinaryOp::Mul || !with)
    return fail(formatted("`{}` is a number of blocks: it can be multiplied by sizes and others, "
                          "and be part of a grid",
                          repr()));
  HandGrid product = grid;
  product.factors.insert(product.factors.end(), with->factors.begin(), with->factors.end());
  return PyValue::extension(std::make_shared<BlocksValue>(std::move(product)));
}

/// cdiv(n, block)
static Result cdiv(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  std::optional<Size> size = sizeOf(r[0]);
  std::optional<int64_t> divisor = r[1].toInt64();
  if (!size || !divisor || *divisor < 1)
    return fail(formatted("`cdiv` needs a size and a whole number above 0, got {} and {}",
                          eval::repr(r[0]), eval::repr(r[1])));
  if (std::optional<Size> whole = size->dividedBy(Size(*divisor)))
    return tracer.sizeValue(*whole);
  return PyValue::extension(std::make_shared<BlocksValue>(HandGrid{{{*size, *divisor}}}));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// `kernel[grid]`
class LaunchSite : public eval::Extension {
public:
  LaunchSite(Tracer &tracer, PyValue kernel, PyValue grid)
      : Extension(&id), tracer(tracer), kernel(std::move(kernel)), grid(std::move(grid)) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  std::string typeName() const override { return "launch"; }
  std::string repr() const override { return kernel.asFunction().name() + "[...]"; }
  Result call(eval::Evaluator &evaluator, const CallArgs &args) override;

private:
  std::unique_ptr<EvalError> readOptions(CallArgs &args, HandKernel &out);
  std::unique_ptr<EvalError> readChanges(const PyValue &names);
  std::unique_ptr<EvalError> checkChanged(const ast::Parameter &parameter, const PyValue &value);
  std::unique_ptr<EvalError> readTensor(const ast::Parameter &parameter, TensorValue &tensor,
                                        HandArgument &argument);
  std::unique_ptr<EvalError> readArgument(const ast::Parameter &parameter, const PyValue &value,
                                          HandKernel &out);
  std::string changedTwice() const;
  std::unique_ptr<EvalError> readGrid(eval::Evaluator &evaluator,
                                      const std::vector<PyValue> &values, HandKernel &out);

  static char id;
  Tracer &tracer;
  PyValue kernel, grid;
  llvm::SmallVector<mlir::Value> reads;
  std::vector<TensorValue *> writes;
  llvm::SmallVector<int64_t> changes;         ///< for each of those the operand, or -1
  std::vector<std::string> changedParameters; ///< of the kernel, as declared
};
} // namespace

char LaunchSite::id = 0;

std::unique_ptr<EvalError> LaunchSite::readOptions(CallArgs &args, HandKernel &out) {
  std::vector<std::pair<std::string, PyValue>> rest;
  for (auto &[name, value] : args.keywords) {
    bool isParameter = llvm::any_of(kernel.asFunction().params(),
                                    [&](auto &parameter) { return parameter.name == name; });
    if (name == "changes" && !isParameter) {
      if (auto error = readChanges(value))
        return error;
      continue;
    }
    int *option = name == "num_warps"    ? &out.numWarps
                  : name == "num_stages" ? &out.numStages
                                         : nullptr;
    if (isParameter || !option) // a name may be both
      rest.emplace_back(name, value);
    if (!option)
      continue;
    std::optional<int64_t> number = value.toInt64();
    if (!number || *number < 1 || *number > 64)
      return fail(formatted("`{}` is a number from 1 to 64, got {}", name, eval::repr(value)));
    *option = int(*number);
  }
  args.keywords = std::move(rest);
  return nullptr;
}

/// A name of a parameter, or several.
std::unique_ptr<EvalError> LaunchSite::readChanges(const PyValue &names) {
  const eval::FunctionObject &function = kernel.asFunction();
  changedParameters.clear();
  std::vector<StringRef> known;
  for (const ast::Parameter &parameter : function.params())
    known.push_back(parameter.name);
  for (const PyValue &name : names.isSequence() ? names.elements() : ArrayRef(names)) {
    if (!name.isStr() || !llvm::is_contained(known, name.asStr())) {
      std::string message =
          formatted("`changes` names parameters of `{}` whose tensors it changes, got {}",
                    function.name(), eval::repr(name));
      StringRef near = name.isStr() ? frontend::nearestName(name.asStr(), known) : "";
      return fail(near.empty() ? message : formatted("{}; did you mean '{}'?", message, near));
    }
    changedParameters.push_back(name.asStr());
  }
  return nullptr;
}

/// Whether what is declared to be changed can be.
std::unique_ptr<EvalError> LaunchSite::checkChanged(const ast::Parameter &parameter,
                                                    const PyValue &value) {
  auto refuse = [&](StringRef why) {
    return fail(formatted("`{}` of `{}` is declared to be changed, {}", parameter.name,
                          kernel.asFunction().name(), why));
  };
  auto *tensor = value.dynExtension<TensorValue>();
  if (!tensor || tensor->isWeak)
    return refuse(formatted("and is no tensor: {}", eval::repr(value)));
  if (tensor->isUnwritten)
    return refuse("and has no elements yet: what `tile.empty` made is written whole, without being "
                  "declared; `tile.zeros` has elements");
  if (!tracer.parameters.count(tensor) && !isOwn(*tensor))
    return refuse("and is a view of another tensor: pass that, or a copy, `.clone()`");
  return nullptr;
}

std::unique_ptr<EvalError> LaunchSite::readTensor(const ast::Parameter &parameter,
                                                  TensorValue &tensor, HandArgument &argument) {
  bool isNumber = tensor.isWeak && !tensor.value.getDefiningOp();
  if (tensor.isWeak && !isNumber)
    return eval::unsupported(formatted("`{}` of `{}` is computed of numbers that the call "
                                       "chooses; only such a number itself can be passed",
                                       parameter.name, kernel.asFunction().name()));
  bool isChanged = llvm::is_contained(changedParameters, parameter.name);
  if (!tensor.isUnwritten) {
    argument.kind = HandArgument::Kind::Read;
    argument.index = reads.size();
    reads.push_back(tensor.value);
  }
  if (!tensor.isUnwritten && !isChanged)
    return nullptr;
  if (llvm::is_contained(writes, &tensor))
    return fail(formatted("one tensor that is written is passed twice to `{}`",
                          kernel.asFunction().name()));
  changes.push_back(isChanged ? int64_t(argument.index) : -1);
  argument.kind = HandArgument::Kind::Write;
  argument.index = writes.size();
  writes.push_back(&tensor);
  return nullptr;
}

std::unique_ptr<EvalError> LaunchSite::readArgument(const ast::Parameter &parameter,
                                                    const PyValue &value, HandKernel &out) {
  HandArgument &argument = out.arguments.emplace_back();
  argument.name = parameter.name;
  using Kind = HandArgument::Kind;
  bool isConstant =
      eval::isConstexprAnnotation(parameter.annotation.get(), kernel.asFunction().module);
  if (isConstant && !llvm::is_contained(changedParameters, parameter.name)) {
    bool isPlain = value.is(PyValue::Kind::Int) || value.is(PyValue::Kind::Bool) ||
                   value.is(PyValue::Kind::Float) || value.is(PyValue::Kind::DType) ||
                   value.isNone() || value.isStr();
    if (!isPlain)
      return fail(formatted("`{}` of `{}` is a constant of the compilation, got {}", parameter.name,
                            kernel.asFunction().name(), eval::repr(value)));
    argument.constant = value.is(PyValue::Kind::DType)  ? "tl." + value.asDType().name()
                        : value.is(PyValue::Kind::Bool) ? (value.asBool() ? "true" : "false")
                        : value.isNone()                ? "null"
                        : value.isStr()                 ? "\"" + value.asStr() + "\""
                                                        : eval::repr(value);
    return nullptr;
  }
  if (llvm::is_contained(changedParameters, parameter.name))
    if (auto error = checkChanged(parameter, value))
      return error;
  if (auto *tensor = value.dynExtension<TensorValue>())
    return readTensor(parameter, *tensor, argument);
  if (auto *size = value.dynExtension<SizeValue>()) {
    argument.kind = Kind::Size;
    argument.size = size->size;
  } else if (value.is(PyValue::Kind::Float)) {
    argument.kind = Kind::Real;
    argument.real = value.asFloat();
  } else if (std::optional<int64_t> number = value.toInt64()) {
    argument.kind = Kind::Integer;
    argument.integer = *number;
  } else {
    return eval::unsupported(formatted(
        "`{}` of `{}` is a tensor, a size or a number in a function of whole tensors, got {}",
        parameter.name, kernel.asFunction().name(), eval::repr(value)));
  }
  return nullptr;
}

/// The name of a tensor that is changed and read as another argument; empty: there is none.
std::string LaunchSite::changedTwice() const {
  for (auto [tensor, operand] : llvm::zip_equal(writes, changes))
    if (operand >= 0 && llvm::count(reads, reads[operand]) > 1)
      return tensor->name.empty() ? "a tensor" : formatted("`{}`", tensor->name);
  return "";
}

/// Numbers and sizes, `tile.cdiv` of them, or what a function of the constants gives.
std::unique_ptr<EvalError> LaunchSite::readGrid(eval::Evaluator &evaluator,
                                                const std::vector<PyValue> &values,
                                                HandKernel &out) {
  PyValue given = grid;
  if (given.is(PyValue::Kind::Function)) {
    std::vector<std::pair<PyValue, PyValue>> named;
    for (auto [parameter, value] : llvm::zip_equal(kernel.asFunction().params(), values))
      named.emplace_back(PyValue::string(parameter.name), value);
    Result made = evaluator.call(given, {{PyValue::dict(std::move(named))}, {}});
    if (!made)
      return made.takeError();
    given = made.take();
  }
  std::vector<PyValue> dims = {given};
  if (given.isSequence())
    dims = given.elements().vec();
  for (const PyValue &dim : dims)
    if (std::optional<HandGrid> known = gridOf(dim))
      out.grid.push_back(*known);
  if (dims.empty() || dims.size() > 3 || out.grid.size() != dims.size())
    return fail(formatted("the grid of `{}` is one to three numbers of programs: sizes, "
                          "`tile.cdiv(size, block)` and products of them, got {}",
                          kernel.asFunction().name(), eval::repr(given)));
  return nullptr;
}

Result LaunchSite::call(eval::Evaluator &evaluator, const CallArgs &given) {
  const eval::FunctionObject &function = kernel.asFunction();
  for (const eval::Decorator &decorator : function.decorators)
    if (decorator.name != "triton.jit" && decorator.name != "jit")
      return eval::unsupported(formatted("`{}` is decorated with `{}`: in a function of whole "
                                         "tensors a kernel is launched as it is written",
                                         function.name(), decorator.name));
  CallArgs args = given;
  HandKernel made;
  made.function = kernel;
  changedParameters.clear();
  if (auto error = readOptions(args, made))
    return error;
  std::vector<PyValue> values;
  if (Result ok = evaluator.bind(function, args, values); !ok)
    return ok;
  reads.clear();
  writes.clear();
  changes.clear();
  for (auto [parameter, value] : llvm::zip_equal(function.params(), values))
    if (auto error = readArgument(parameter, value, made))
      return error;
  if (writes.empty())
    return fail(
        formatted("`{}` writes nothing that the function could use: pass it a tensor of "
                  "`tile.empty(shape, dtype=...)`, which it writes whole, or declare what it "
                  "changes, `changes=\"NAME\"`; other tensors are read",
                  function.name()));
  if (std::string name = changedTwice(); !name.empty())
    return fail(formatted("{} is changed by `{}`, and is passed to it a second time: what it reads "
                          "there is not known; pass a copy, `.clone()`",
                          name, function.name()));
  if (auto error = readGrid(evaluator, values, made))
    return error;
  llvm::SmallVector<mlir::Type> types;
  for (TensorValue *written : writes)
    types.push_back(written->value.getType());
  mlir::Location at = tracer.here();
  if (auto line = at->findInstanceOf<mlir::FileLineColLoc>())
    made.line = line.getLine();
  auto op = graph::LaunchOp::create(tracer.builder, at, types, function.name(),
                                    tracer.launches.size(), reads);
  if (llvm::any_of(changes, [](int64_t operand) { return operand >= 0; }))
    op->setAttr(graph::kChangesAttr, tracer.builder.getDenseI64ArrayAttr(changes));
  for (auto [written, value, changed] : llvm::zip_equal(writes, op.getOutputs(), changes)) {
    if (changed >= 0) {
      tracer.update(*written, value);
      continue;
    }
    written->value = value;
    written->isUnwritten = false;
  }
  tracer.launches.push_back(std::move(made));
  return PyValue();
}

std::optional<Result> Tracer::subscriptKernel(eval::Evaluator &, const PyValue &kernel,
                                              const PyValue &grid) {
  return PyValue::extension(std::make_shared<LaunchSite>(*this, kernel, grid));
}

ArrayRef<TracedEntry> tensors::tracedLaunches() {
  static const TracedEntry table[] = {{"cdiv", cdiv}};
  return table;
}
