//===- Builtins.cpp - the table of tl.* functions and argument binding ----===//
#include "frontend/specialize/Builtins.h"
#include "frontend/Counted.h"
#include "text/Format.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

const BuiltinTable &BuiltinTable::get() {
  static const BuiltinTable table = [] {
    BuiltinTable t;
    addCreationBuiltins(t);
    addShapeBuiltins(t);
    addMathBuiltins(t);
    addLibdeviceBuiltins(t);
    addMemoryBuiltins(t);
    addAtomicBuiltins(t);
    addBlockPointerBuiltins(t);
    addTensorDescriptorBuiltins(t);
    addElementBuiltins(t);
    addForeignBuiltins(t);
    addReductionBuiltins(t);
    addCombinerBuiltins(t);
    addOrderingBuiltins(t);
    addDotBuiltins(t);
    addDotScaledBuiltins(t);
    addRandomBuiltins(t);
    addHintBuiltins(t);
    return t;
  }();
  return table;
}

void BuiltinTable::add(StringRef name, StringRef parameters, BuiltinFunction function) {
  Builtin &row = rows[name];
  row.name = name.str();
  row.function = function;
  while (!parameters.empty()) {
    auto [first, rest] = parameters.split(", ");
    Builtin::Parameter parameter;
    parameter.variadic = first.consume_front("*");
    parameter.optional = first.consume_back("=") || parameter.variadic;
    parameter.name = first;
    row.parameters.push_back(parameter);
    parameters = rest;
  }
}

static constexpr StringRef members[] = {
    "broadcast_to", "trans",       "permute",    "split",       "view",       "reshape",
    "expand_dims",  "store",       "atomic_cas", "atomic_xchg", "atomic_add", "atomic_max",
    "atomic_min",   "atomic_and",  "atomic_or",  "atomic_xor",  "reduce",     "associative_scan",
    "histogram",    "gather",      "exp",        "exp2",        "log",        "log2",
    "cos",          "sin",         "sqrt",       "sqrt_rn",     "rsqrt",      "abs",
    "erf",          "floor",       "ceil",       "cdiv",        "sigmoid",    "softmax",
    "ravel",        "max",         "argmax",     "min",         "argmin",     "sum",
    "xor_sum",      "reduce_or",   "cumsum",     "cumprod",     "sort",       "flip",
    "cast",         "logical_and", "logical_or", "item",        "to",
};

const Builtin *BuiltinTable::findMember(StringRef name) const {
  if (!llvm::is_contained(members, name))
    return nullptr;
  return find(name == "to" ? "tl.cast" : ("tl." + name).str());
}

std::vector<StringRef> BuiltinTable::memberNames() const {
  std::vector<StringRef> names(std::begin(members), std::end(members));
  for (StringRef property : {"shape", "dtype", "type", "numel", "T"})
    names.push_back(property);
  return names;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static std::string signatureOf(const Builtin &builtin) {
  std::string text = builtin.name + "(";
  for (auto [i, parameter] : llvm::enumerate(builtin.parameters))
    text += (i ? ", " : "") + std::string(parameter.variadic ? "*" : "") + parameter.name.str() +
            (parameter.optional && !parameter.variadic ? "=..." : "");
  return text + ")";
}

static bool bindKeyword(BuiltinCall &call, StringRef name, const PyValue &value,
                        SourceRange range) {
  std::vector<StringRef> names;
  for (auto [i, parameter] : llvm::enumerate(call.builtin.parameters)) {
    names.push_back(parameter.name);
    if (parameter.name != name)
      continue;
    if (call.given[i]) {
      call.fail(formatted("argument `{}` is given twice", name));
      return false;
    }
    call.args[i] = value;
    call.given[i] = true;
    call.ranges[i] = range;
    return true;
  }
  StringRef near = frontend::nearestName(name, names);
  Emitter::At at(call.s, range.empty() ? call.s.place->range : range);
  call.fail(formatted("there is no argument `{}`{}: {}", name,
                      near.empty() ? "" : formatted("; did you mean `{}`?", near),
                      signatureOf(call.builtin)));
  return false;
}

static bool bindArguments(BuiltinCall &call, const eval::CallArgs &args) {
  const auto &parameters = call.builtin.parameters;
  call.args.resize(parameters.size());
  call.given.assign(parameters.size(), false);
  call.ranges.assign(parameters.size(), {});
  auto rangeAt = [](ArrayRef<SourceRange> ranges, size_t i) {
    return i < ranges.size() ? ranges[i] : SourceRange();
  };
  for (auto [i, value] : llvm::enumerate(args.positional)) {
    if (i < parameters.size() && parameters[i].variadic) {
      std::vector<PyValue> rest(args.positional.begin() + i, args.positional.end());
      call.args[i] = rest.size() == 1 && rest[0].isSequence() ? rest[0] : PyValue::tuple(rest);
      call.given[i] = true;
      if (i < args.positionalRanges.size())
        call.ranges[i] = {args.positionalRanges[i].begin, args.positionalRanges.back().end};
      break;
    }
    if (i >= parameters.size()) {
      call.fail(
          formatted("{} given, but at most {} taken: {}",
                    counted(args.positional.size(), "argument") +
                        (args.positional.size() == 1 ? " is" : " are"),
                    std::to_string(parameters.size()) + (parameters.size() == 1 ? " is" : " are"),
                    signatureOf(call.builtin)));
      return false;
    }
    call.args[i] = value;
    call.given[i] = true;
    call.ranges[i] = rangeAt(args.positionalRanges, i);
  }
  for (auto [i, keyword] : llvm::enumerate(args.keywords)) {
    auto &[name, value] = keyword;
    if (name != "_semantic" && name != "_builder" &&
        !bindKeyword(call, name, value, rangeAt(args.keywordRanges, i)))
      return false;
  }
  for (auto [i, parameter] : llvm::enumerate(parameters))
    if (!call.given[i] && !parameter.optional) {
      call.fail(
          formatted("argument `{}` is missing: {}", parameter.name, signatureOf(call.builtin)));
      return false;
    }
  return true;
}

PyValue callBuiltin(Specializer &s, const Builtin &builtin, const eval::CallArgs &args,
                    bool isMember) {
  BuiltinCall call(s, builtin);
  call.isMember = isMember;
  if (!bindArguments(call, args))
    return PoisonValue::get();
  if (llvm::any_of(call.args, holdsPoison))
    return PoisonValue::get();
  return builtin.function(call);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

PyValue BuiltinCall::fail(std::string message) {
  SourceRange range = s.place->range;
  for (auto [i, parameter] : llvm::enumerate(builtin.parameters))
    if (i < ranges.size() && !ranges[i].empty() &&
        StringRef(message).starts_with(formatted("`{}`", parameter.name)))
      range = ranges[i];
  Emitter::At at(s, range);
  return s.fail(formatted("`{}`: {}", builtin.name, message));
}

Tensor BuiltinCall::poison(std::string message) {
  fail(std::move(message));
  return {};
}

std::string BuiltinCall::parameter(unsigned i) const {
  return formatted("`{}`", builtin.parameters[i].name);
}

Tensor BuiltinCall::tensor(unsigned i) {
  if (!tensorIn(args[i]) && !args[i].isNumber())
    return poison(
        formatted("{} must be a tensor or a number, got {}", parameter(i), describe(args[i])));
  return s.tensor(args[i]);
}

/// A compile-time value, also behind a name that was assigned one.
static PyValue known(Specializer &s, const PyValue &value) {
  if (const Tensor *t = tensorIn(value))
    return s.constantValue(*t).value_or(value);
  return value;
}

std::optional<int64_t> BuiltinCall::integer(unsigned i) {
  if (std::optional<int64_t> value = known(s, args[i]).toInt64())
    return value;
  fail(formatted("{} must be a compile-time integer, got {}{}", parameter(i), describe(args[i]),
                 tensorIn(args[i]) ? "; pass it as a `tl.constexpr` parameter" : ""));
  return std::nullopt;
}

bool BuiltinCall::flag(unsigned i, bool otherwise) {
  if (!has(i))
    return otherwise;
  PyValue value = known(s, args[i]);
  if (tensorIn(value)) {
    fail(
        formatted("{} must be known at compile time, got {}; pass it as a `tl.constexpr` parameter",
                  parameter(i), describe(value)));
    return otherwise;
  }
  return s.truth(value).value_or(otherwise);
}

std::optional<std::string> BuiltinCall::string(unsigned i) {
  if (!has(i))
    return std::string();
  if (args[i].isStr())
    return args[i].asStr();
  fail(formatted("{} must be a string, got {}", parameter(i), describe(args[i])));
  return std::nullopt;
}

std::optional<DType> BuiltinCall::dtype(unsigned i) {
  const PyValue &value = args[i];
  std::optional<DType> type;
  if (value.is(PyValue::Kind::DType))
    type = value.asDType().scalar();
  else if (value.isStr())
    type = DType::parse(value.asStr());
  else if (value.isSymbol("float"))
    type = DType(Kind::Float32);
  else if (value.isSymbol("int"))
    type = DType(Kind::Int32);
  else if (value.isSymbol("bool"))
    type = DType(Kind::Int1);
  std::string reason;
  if (!type || type->isVoid()) {
    fail(
        formatted("{} must be a type such as `tl.float32`, got {}", parameter(i), describe(value)));
    return std::nullopt;
  }
  if (!supportedOn(*type, s.target, reason)) {
    fail(reason);
    return std::nullopt;
  }
  return type;
}

std::optional<llvm::SmallVector<int64_t>> BuiltinCall::integers(unsigned i) {
  llvm::SmallVector<int64_t> result;
  llvm::ArrayRef<PyValue> elements = args[i];
  if (args[i].isSequence())
    elements = args[i].elements();
  if (args[i].isNone())
    elements = {};
  for (const PyValue &element : elements) {
    // A list of one tuple is that tuple: reshape((2, 3)) and reshape(2, 3).
    std::optional<int64_t> value = known(s, element).toInt64();
    if (!value) {
      fail(formatted("{} must be compile-time integers, got {}", parameter(i), describe(element)));
      return std::nullopt;
    }
    result.push_back(*value);
  }
  return result;
}

std::optional<llvm::SmallVector<int64_t>> BuiltinCall::shape(unsigned i) {
  std::optional<llvm::SmallVector<int64_t>> dims = integers(i);
  std::string problem;
  if (!dims)
    return std::nullopt;
  if (!checkShape(*dims, problem)) {
    fail(problem);
    return std::nullopt;
  }
  return dims;
}

std::optional<int64_t> BuiltinCall::axis(unsigned i, int64_t rank) {
  std::optional<int64_t> value = integer(i);
  if (!value)
    return std::nullopt;
  if (*value < -rank || *value >= rank) {
    fail(rank ? formatted("{} is {}, but the dimensions are {} to {}", parameter(i), *value, -rank,
                          rank - 1)
              : formatted("{} is {}, but a scalar has no dimensions", parameter(i), *value));
    return std::nullopt;
  }
  return *value < 0 ? *value + rank : *value;
}

} // namespace tile::specialize
