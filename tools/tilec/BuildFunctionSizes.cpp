//===- BuildFunctionSizes.cpp - what a function is built for --------------===//
#include "tools/tilec/BuildFunctionSizes.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "tile/rt.h"
#include "tools/tilec/BuildArguments.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using graph::Bindings;
using graph::Size;
using llvm::StringRef;
using tensors::Parameter;

/// Samples of one function and target; sizes of more names are further apart.
static constexpr size_t kMostSamples = 256;
/// The same for names that nobody has said anything of.
static constexpr int64_t kMostFactor = 65536;

llvm::Error tilec::diagnosed(const eval::EvalError &error) {
  frontend::DiagnosticEngine diagnostics;
  eval::report(error, diagnostics);
  return makeError(diagnostics.onlyUnsupported() ? ErrorCode::Unsupported : ErrorCode::Compile,
                   StringRef(diagnostics.str()).rtrim());
}

//===----------------------------------------------------------------------===//
// What it is built for
//===----------------------------------------------------------------------===//

bool BuiltFunction::knows(StringRef name) const {
  return llvm::any_of(sizes, [&](const BuiltSize &size) { return size.name == name; }) ||
         llvm::any_of(signature.parameters, [&](const Parameter &parameter) {
           return parameter.name == name && parameter.kind != Parameter::Kind::Number;
         });
}

/// `M=1..4096`, `N=64..4096:64`, `K=512`; `x=fp16`.
llvm::Error FunctionSizes::readArgument(StringRef text) {
  auto [name, value] = text.split('=');
  auto wrong = [&](const llvm::Twine &why) {
    return invalidArgument(formatted("option `--argument`: `{}`: {}", text, why));
  };
  for (const Parameter &parameter : out.signature.parameters) {
    if (parameter.name != name || parameter.kind != Parameter::Kind::Tensor)
      continue;
    value.consume_front("*");
    std::optional<eval::DType> type = eval::DType::parse(value.split(':').first);
    if (!type)
      return wrong(formatted("`{}` is no type of elements", value));
    if (parameter.element && *parameter.element != *type)
      return wrong(formatted("`{}` has elements of type {}", name, parameter.element->str()));
    elements.insert({name.str(), *type});
    return llvm::Error::success();
  }
  if (llvm::none_of(out.sizes, [&](const BuiltSize &size) { return size.name == name; }))
    return llvm::Error::success(); // another function's
  SizeRange &range = ranges[name.str()];
  auto [numbers, step] = value.split(':');
  auto [least, most] = numbers.contains("..") ? numbers.split("..") : std::pair(numbers, numbers);
  if (least.getAsInteger(10, range.least) || most.getAsInteger(10, range.most) ||
      (!step.empty() && step.getAsInteger(10, range.step)) || range.least < 0 || range.step < 1 ||
      range.least > range.most)
    return wrong("sizes are LEAST..MOST, LEAST..MOST:STEP or a number");
  std::optional<int64_t> first = firstMultiple(range.least, range.most, uint64_t(range.step));
  if (!first)
    return wrong(formatted("has no value: no multiple of {} is from {} to {}", range.step,
                           range.least, range.most));
  range.least = std::max(*first, range.step); // nothing is to be done for a size of 0
  range.most = std::max(range.most, range.least);
  return llvm::Error::success();
}

llvm::Error FunctionSizes::chooseConstant(size_t index) {
  const Parameter &parameter = out.signature.parameters[index];
  eval::PyValue &to = arguments[index].constant;
  for (auto &[name, text] : request.constexprs) {
    int64_t whole = 0;
    double real = 0;
    if (name != parameter.name)
      continue;
    StringRef value = text;
    if (value == "None" || value == "null")
      to = eval::PyValue::none();
    else if (value == "True" || value == "true" || value == "False" || value == "false")
      to = eval::PyValue::boolean(value.lower() == "true");
    else if (!value.getAsInteger(10, whole))
      to = eval::PyValue::integer(whole);
    else if (!value.getAsDouble(real))
      to = eval::PyValue::number(real);
    else if (value.consume_front("\"") && value.consume_back("\""))
      to = eval::PyValue::string(value.str());
    else
      return invalidArgument(formatted("option `--constexpr`: `{}={}`: a constant of a function of "
                                       "whole tensors is a number, a text in quotes, true, false "
                                       "or null",
                                       name, text));
    return llvm::Error::success();
  }
  if (!function.params()[index].defaultValue)
    return invalidArgument(formatted("`{}` does not say what `{}` is: give --constexpr {}=VALUE",
                                     out.name, parameter.name, parameter.name));
  eval::Result value = files.evaluator().defaultValue(function, index);
  if (!value)
    return diagnosed(value.error());
  to = value.take();
  return llvm::Error::success();
}

llvm::Error FunctionSizes::chooseTypes() {
  arguments.resize(out.signature.parameters.size());
  for (auto [i, parameter] : llvm::enumerate(out.signature.parameters)) {
    if (parameter.kind == Parameter::Kind::Constant) {
      if (llvm::Error error = chooseConstant(i))
        return error;
      continue;
    }
    std::optional<eval::DType> type = parameter.element;
    if (auto given = elements.find(parameter.name); !type && given != elements.end())
      type = given->second;
    if (!type)
      return invalidArgument(formatted("`{}` does not say the type of `{}`: give --argument "
                                       "{}=TYPE (fp16, bf16, fp32, ...)",
                                       out.name, parameter.name, parameter.name));
    if (parameter.kind == Parameter::Kind::Tensor)
      arguments[i].element = *type;
    else if (type->isFloating() && type->itemSize() < 4)
      return makeError(ErrorCode::Unsupported,
                       formatted("`{}` cannot be built: the number `{}` is {}, which C does not "
                                 "have; `float` is a float32",
                                 out.name, parameter.name, type->str()));
    out.types.push_back(type->str());
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Whether a dimension says a name that is not known yet; it is known then.
bool FunctionSizes::findSize(unsigned parameter, unsigned dim, const Size &size) {
  std::set<std::string> names;
  size.collectNames(names);
  for (const BuiltSize &known : out.sizes)
    names.erase(known.name);
  if (names.size() != 1)
    return false;
  std::string name = *names.begin();
  BuiltSize found{name, parameter, dim, std::nullopt};
  if (size.name() != name) {
    Size factor, rest;
    bool isLinear = true;
    size.forEachTerm([&](llvm::ArrayRef<std::string> product, int64_t coefficient) {
      Size left = coefficient;
      unsigned times = 0;
      for (const std::string &one : product) {
        times += one == name;
        if (std::optional<std::pair<Size, int64_t>> quotient = Size::quotientOf(one)) {
          std::set<std::string> inside;
          quotient->first.collectNames(inside);
          isLinear &= !inside.count(name);
        }
        left = one == name ? left : left * Size::symbol(one);
      }
      isLinear &= times < 2;
      (times ? factor : rest) = (times ? factor : rest) + left;
    });
    if (!isLinear)
      return false;
    found.solved = {rest, factor};
  }
  out.sizes.push_back(std::move(found));
  return true;
}

/// In the order in which a call finds them (frontend/tensors/Signature.cpp).
llvm::Error FunctionSizes::findSizes() {
  std::set<std::string> all;
  auto pass = [&](bool alone) {
    bool found = false;
    unsigned number = 0;
    for (const Parameter &parameter : out.signature.parameters) {
      if (parameter.kind == Parameter::Kind::Constant)
        continue;
      for (auto [dim, size] : llvm::enumerate(parameter.sizes)) {
        size.collectNames(all);
        if (!alone || size.name())
          found |= findSize(number, unsigned(dim), size);
      }
      ++number;
    }
    return found;
  };
  pass(/*alone=*/true);
  while (pass(/*alone=*/false))
    ;
  if (out.sizes.size() < all.size())
    return makeError(ErrorCode::Unsupported,
                     formatted("`{}` cannot be built: the shapes of its parameters do not decide "
                               "all sizes in them",
                               out.name));
  if (out.sizes.size() > TILE_RT_MOST_SIZES / 2)
    return makeError(ErrorCode::Unsupported,
                     formatted("`{}` cannot be built: it has more than {} names of sizes", out.name,
                               TILE_RT_MOST_SIZES / 2));
  return llvm::Error::success();
}

/// The ends of a range, and between them numbers that grow by `factor`.
static std::vector<int64_t> numbersIn(const SizeRange &range, int64_t factor) {
  std::vector<int64_t> numbers = {range.least};
  for (int64_t n = 1; n < range.most && n <= INT64_MAX / factor; n *= factor)
    if (int64_t multiple = int64_t(llvm::alignTo(n, range.step));
        multiple > numbers.back() && multiple < range.most)
      numbers.push_back(multiple);
  if (range.most > numbers.back())
    numbers.push_back(range.most);
  return numbers;
}

std::vector<Bindings> FunctionSizes::samples() const {
  std::vector<std::vector<int64_t>> numbers;
  for (int64_t factor = 2;; factor *= 2) {
    numbers.clear();
    double count = 1;
    for (const BuiltSize &size : out.sizes) {
      auto range = ranges.find(size.name);
      numbers.push_back(numbersIn(range == ranges.end() ? SizeRange() : range->second, factor));
      count *= double(numbers.back().size());
    }
    if (count <= double(kMostSamples) || factor > kMostFactor)
      break;
  }
  std::vector<Bindings> samples = {{}};
  for (auto [size, of] : llvm::zip_equal(out.sizes, numbers)) {
    std::vector<Bindings> longer;
    for (const Bindings &one : samples)
      for (int64_t number : of)
        longer.emplace_back(one)[size.name] = number;
    samples = std::move(longer);
  }
  llvm::erase_if(samples, [&](const Bindings &sizes) { return !isPossible(sizes); });
  return samples;
}

bool FunctionSizes::isPossible(const Bindings &sizes) const {
  for (const Parameter &parameter : out.signature.parameters)
    for (const Size &size : parameter.sizes)
      if (size.evaluate(sizes).value_or(-1) < 0)
        return false;
  return out.program->unmetRequirement(sizes).empty();
}

llvm::Error FunctionSizes::read() {
  out.name = function.name();
  if (auto error = tensors::readSignature(files.evaluator(), function, out.signature))
    return diagnosed(*error);
  for (auto [i, parameter] : llvm::enumerate(out.signature.parameters))
    if (parameter.kind != Parameter::Kind::Constant)
      out.parameters.push_back(unsigned(i));
  if (llvm::Error error = findSizes())
    return error;
  for (const std::string &argument : request.arguments)
    if (llvm::Error error = readArgument(argument))
      return error;
  return chooseTypes();
}
