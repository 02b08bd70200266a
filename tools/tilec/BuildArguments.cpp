//===- BuildArguments.cpp - values that arguments of built kernels have ---===//
#include "tools/tilec/BuildArguments.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using llvm::StringRef;

llvm::Error tilec::invalidArgument(const llvm::Twine &message) {
  return makeError(ErrorCode::InvalidArgument, message);
}

std::optional<int64_t> tilec::firstMultiple(int64_t least, int64_t most, uint64_t step) {
  __int128 rest = least % __int128(step); // of what is negative no more than 0
  __int128 first = least - rest + (rest > 0 ? __int128(step) : 0);
  return first > most ? std::nullopt : std::optional(int64_t(first));
}

/// One value of a constexpr.
static std::optional<tile_value> constantOf(StringRef text, KeptTexts &texts) {
  int64_t number = 0;
  double real = 0;
  if (text == "none" || text == "null" || text == "None")
    return tile_none();
  if (text == "true" || text == "True" || text == "false" || text == "False")
    return tile_bool(text.lower() == "true");
  if (!text.getAsInteger(10, number))
    return tile_int(number);
  if (!text.getAsDouble(real))
    return tile_float(real);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return tile_text(
        texts.emplace_back(std::make_unique<std::string>(text.drop_front().drop_back()))->c_str());
  return std::nullopt;
}

/// How C says it.
static std::string typeOf(const tile_argument_range &range) {
  switch (range.least.kind) {
  case TILE_VALUE_POINTER:
    return formatted("*{}", dispatch::nameOf(range.least.dtype));
  case TILE_VALUE_INT:
    return "int";
  case TILE_VALUE_FLOAT:
    return "float";
  default:
    return "value";
  }
}

/// What `text` says of an argument.
static llvm::Error addRange(StringRef argument, StringRef text,
                            const dispatch::Parameter &parameter, KeptTexts &texts,
                            std::vector<tile_argument_range> &out, std::string &type) {
  auto add = [&](tile_value least, tile_value most, uint64_t step, std::string as) {
    out.push_back({parameter.name, least, most, step});
    type = type.empty() || type == as ? as : "value";
  };
  StringRef rest = text.trim();
  auto wrong = [&] {
    std::string several =
        formatted("; for several, give `--argument {}=...` several times", argument);
    return invalidArgument(formatted("argument `{}`: `{}` is none of *TYPE, *TYPE:16, i32, i32:16, "
                                     "LEAST..MOST, LEAST..MOST:STEP, a type, none or a value{}",
                                     argument, text, text.contains(',') ? several : ""));
  };
  if (parameter.flags & dispatch::Parameter::Constexpr) {
    for (StringRef part : llvm::split(rest, ',')) {
      auto value = constantOf(part.trim(), texts);
      if (!value)
        return wrong();
      add(*value, *value, 1, "value");
    }
    return llvm::Error::success();
  }
  auto [head, hint] = rest.split(':');
  uint64_t step = 1;
  int64_t least = 0, most = 0;
  if (head.contains("..")) {
    auto [from, to] = head.split("..");
    if (from.getAsInteger(10, least) || to.getAsInteger(10, most) || least > most ||
        (!hint.empty() && (hint.getAsInteger(10, step) || step == 0)))
      return wrong();
    // A step is a multiple, not a distance from the first.
    std::optional<int64_t> first = firstMultiple(least, most, step);
    if (!first)
      return invalidArgument(formatted("argument `{}`: `{}` has no value: no multiple of {} is "
                                       "from {} to {}",
                                       argument, text, step, least, most));
    add(tile_int(*first), tile_int(most), step, "int");
  } else if (auto range = jit::rangeOfType(parameter.name, rest)) {
    add(range->least, range->most, range->step, typeOf(*range));
  } else if (auto value = constantOf(head, texts)) {
    add(*value, *value, 1, value->kind == TILE_VALUE_INT ? "int" : "value");
  } else {
    return wrong();
  }
  return llvm::Error::success();
}

llvm::Error tilec::readRanges(const jit::JitFile &file, llvm::ArrayRef<std::string> arguments,
                              KeptTexts &texts, std::vector<tile_argument_range> &out,
                              std::vector<std::string> &types) {
  types.assign(file.parameters.size(), "");
  std::vector<bool> isGiven(file.parameters.size());
  for (const std::string &text : arguments) {
    auto [argument, values] = StringRef(text).split('=');
    std::optional<unsigned> index = file.find(argument);
    if (!index || values.empty())
      return invalidArgument(
          formatted("option `--argument`: `{}`: {}", text,
                    values.empty() ? "expected NAME=VALUES"
                                   : formatted("`{}` has no such argument", file.kernel())));
    isGiven[*index] = true;
    if (llvm::Error error =
            addRange(argument, values, file.parameters[*index], texts, out, types[*index]))
      return error;
  }
  for (size_t i = 0; i < file.parameters.size(); ++i) {
    if (isGiven[i])
      continue;
    const dispatch::Parameter &parameter = file.parameters[i];
    if (const std::string &annotation = file.annotations[i]; !annotation.empty()) {
      if (llvm::Error error = addRange(parameter.name, annotation, parameter, texts, out, types[i]))
        return error;
    } else if (!file.defaults[i]) {
      return invalidArgument(
          formatted("`{}` does not say what `{}` is: give --argument {}=VALUES{}", file.kernel(),
                    parameter.name, parameter.name,
                    parameter.flags & dispatch::Parameter::Constexpr
                        ? formatted(", or --constexpr {}=VALUE", parameter.name)
                        : std::string()));
    }
  }
  for (std::string &type : types)
    if (type.empty())
      type = "value";
  return llvm::Error::success();
}
