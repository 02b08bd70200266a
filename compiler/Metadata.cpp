//===- Metadata.cpp - what a launcher must know, as JSON ------------------===//
//
// The format is a contract with other tools (`tilec compile --help` has it):
// keys keep their names and meaning, unknown keys are ignored when read.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compiler.h"
#include "compiler/ParseJson.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using Kind = KernelParameter::Kind;
namespace json = llvm::json;

static constexpr std::pair<Kind, llvm::StringLiteral> kindNames[] = {
    {Kind::Arg, "arg"},
    {Kind::TensorMap, "tensor_map"},
    {Kind::DescBase, "desc_base"},
    {Kind::DescShape, "desc_shape"},
    {Kind::DescStride, "desc_stride"},
    {Kind::Scratch, "scratch"},
    {Kind::Const, "const"},
    {Kind::NumPrograms, "num_programs"},
};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A constant's value is JSON already; what is not is written as a string.
static json::Value constantValue(llvm::StringRef text) {
  auto parsed = parseJson(text);
  if (parsed)
    return std::move(*parsed);
  llvm::consumeError(parsed.takeError());
  return text;
}

static bool isDescriptorPart(Kind kind) {
  return kind == Kind::DescBase || kind == Kind::DescShape || kind == Kind::DescStride;
}

static json::Object factorToJson(const LaunchSum::Factor &factor) {
  json::Object object{{"index", factor.index}, {"path", json::Array(factor.path)}};
  if (factor.part == LaunchSum::Factor::Part::Value)
    return object;
  object["kind"] = factor.part == LaunchSum::Factor::Part::Shape ? "desc_shape" : "desc_stride";
  object["dim"] = factor.dim;
  return object;
}

/// A number where there is nothing to work out, otherwise a list of terms.
static json::Value sumToJson(const LaunchSum &sum) {
  if (sum.terms.empty())
    return 0;
  if (sum.terms.size() == 1 && sum.terms.front().factors.empty())
    return sum.terms.front().coefficient;
  json::Array terms;
  for (const LaunchSum::Term &term : sum.terms) {
    json::Array factors;
    for (const LaunchSum::Factor &factor : term.factors)
      factors.push_back(factorToJson(factor));
    terms.push_back(
        json::Object{{"coefficient", term.coefficient}, {"factors", std::move(factors)}});
  }
  return json::Object{{"sum", std::move(terms)}};
}

static json::Array sumsToJson(llvm::ArrayRef<LaunchSum> sums) {
  json::Array list;
  for (const LaunchSum &sum : sums)
    list.push_back(sumToJson(sum));
  return list;
}

static void tensorMapToJson(const TensorMap &map, json::Object &object) {
  object["type"] = map.type;
  object["rank"] = int64_t(map.sizes.size());
  object["sizes"] = sumsToJson(map.sizes);
  object["strides"] = sumsToJson(map.strides);
  object["stored"] = map.stored;
  if (!map.notNegative.empty())
    object["not_negative"] = sumsToJson(map.notNegative);
  object["box"] = json::Array(map.box);
  object["element_strides"] = json::Array(std::vector<int64_t>(map.box.size(), 1));
  object["interleave"] = "none";
  object["swizzle"] = map.swizzle ? std::to_string(map.swizzle) + "B" : "none";
  object["l2_promotion"] = "128B";
  object["oob_fill"] = "zero";
}

static json::Object parameterToJson(const KernelParameter &parameter) {
  json::Object object;
  for (auto [kind, name] : kindNames)
    if (kind == parameter.kind)
      object["kind"] = name;
  bool fromCaller = parameter.kind != Kind::Scratch && parameter.kind != Kind::Const &&
                    parameter.kind != Kind::NumPrograms;
  if (fromCaller)
    object["index"] = parameter.index;
  if (!parameter.type.empty())
    object["type"] = parameter.type;
  else if (parameter.kind == Kind::DescBase)
    object["type"] = "ptr";
  if (parameter.kind == Kind::Arg || !parameter.path.empty())
    object["path"] = json::Array(parameter.path);
  if (parameter.kind == Kind::TensorMap)
    tensorMapToJson(parameter.map, object);
  if (parameter.multiple > 1)
    object["multiple"] = parameter.multiple;
  if (isDescriptorPart(parameter.kind) || parameter.kind == Kind::NumPrograms)
    object["dim"] = parameter.dim;
  if (parameter.kind == Kind::Scratch) {
    object["bytes"] = parameter.bytes;
    object["per"] = parameter.per;
    object["zero"] = parameter.zero;
  }
  if (parameter.kind == Kind::Const)
    object["value"] = constantValue(parameter.value);
  return object;
}

static json::Array splitsToJson(llvm::ArrayRef<GridSplit> splits) {
  json::Array list;
  for (const GridSplit &split : splits)
    list.push_back(json::Object{{"axis", split.axis},
                                {"to", split.to},
                                {"size", sumToJson(split.size)},
                                {"divisor", split.divisor}});
  return list;
}

std::string KernelMetadata::toJson() const {
  PlainNumbers plain;
  json::Array parameters;
  for (const KernelParameter &parameter : params)
    parameters.push_back(parameterToJson(parameter));
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream, /*IndentSize=*/2);
  out.object([&] {
    out.attribute("entry", entry);
    out.attribute("target", target);
    out.attribute("shared_bytes", sharedBytes);
    out.attribute("num_warps", numWarps);
    out.attribute("threads", threads);
    out.attribute("cluster", json::Array(cluster));
    out.attribute("ctas_per_program", ctasPerProgram);
    out.attribute("cooperative", cooperative);
    if (persistent)
      out.attribute("persistent", true);
    if (*std::max_element(std::begin(programsPerBlock), std::end(programsPerBlock)) > 1)
      out.attribute("programs_per_block", json::Array(programsPerBlock));
    if (programsApart > 0)
      out.attribute("programs_apart", programsApart);
    if (programsGrow)
      out.attribute("programs_grow", true);
    if (fewPrograms > 0)
      out.attribute("few_programs", fewPrograms);
    if (!gridSplits.empty())
      out.attribute("grid_splits", splitsToJson(gridSplits));
    if (dependent)
      out.attribute("dependent", true);
    if (registers >= 0)
      out.attribute("registers", registers);
    out.attribute("params", std::move(parameters));
  });
  stream << '\n';
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool fromJSON(const json::Value &value, LaunchSum::Factor &factor, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind = "arg";
  if (!map || !map.map("index", factor.index) || !map.mapOptional("path", factor.path) ||
      !map.mapOptional("kind", kind) || !map.mapOptional("dim", factor.dim))
    return false;
  using Part = LaunchSum::Factor::Part;
  if (kind != "arg" && kind != "desc_shape" && kind != "desc_stride") {
    path.field("kind").report("is not `arg`, `desc_shape` or `desc_stride`");
    return false;
  }
  factor.part = kind == "arg" ? Part::Value : kind == "desc_shape" ? Part::Shape : Part::Stride;
  return true;
}

static bool fromJSON(const json::Value &value, LaunchSum::Term &term, json::Path path) {
  json::ObjectMapper map(value, path);
  const json::Array *factors = map ? value.getAsObject()->getArray("factors") : nullptr;
  if (!factors || !map.map("coefficient", term.coefficient))
    return false;
  for (auto [i, factor] : llvm::enumerate(*factors))
    if (!fromJSON(factor, term.factors.emplace_back(), path.field("factors").index(i)))
      return false;
  return true;
}

static bool fromJSON(const json::Value &value, LaunchSum &sum, json::Path path) {
  if (auto number = value.getAsInteger()) {
    sum.terms.push_back({*number, {}});
    return true;
  }
  const json::Object *object = value.getAsObject();
  const json::Array *terms = object ? object->getArray("sum") : nullptr;
  if (!terms) {
    path.report("is neither a number nor a sum");
    return false;
  }
  for (auto [i, term] : llvm::enumerate(*terms))
    if (!fromJSON(term, sum.terms.emplace_back(), path.field("sum").index(i)))
      return false;
  return true;
}

static bool sumsFromJson(const json::Object &object, llvm::StringRef key,
                         std::vector<LaunchSum> &sums, json::Path path) {
  const json::Array *list = object.getArray(key);
  if (!list) {
    path.field(key).report("is not a list");
    return false;
  }
  for (auto [i, sum] : llvm::enumerate(*list))
    if (!fromJSON(sum, sums.emplace_back(), path.field(key).index(i)))
      return false;
  return true;
}

static bool tensorMapFromJson(const json::Object &object, TensorMap &map,
                              json::ObjectMapper &mapper, json::Path path) {
  std::string swizzle;
  map.stored = true; // unless it says that it is not
  if (!mapper.map("type", map.type) || !mapper.map("box", map.box) ||
      !mapper.map("swizzle", swizzle) || !sumsFromJson(object, "sizes", map.sizes, path) ||
      !sumsFromJson(object, "strides", map.strides, path) ||
      !mapper.mapOptional("stored", map.stored))
    return false;
  if (object.get("not_negative") && !sumsFromJson(object, "not_negative", map.notNegative, path))
    return false;
  map.swizzle = llvm::StringSwitch<int>(swizzle)
                    .Case("none", 0)
                    .Case("32B", 32)
                    .Case("64B", 64)
                    .Case("128B", 128)
                    .Default(-1);
  if (map.swizzle < 0) {
    path.field("swizzle").report("is not none, 32B, 64B or 128B");
    return false;
  }
  if (map.box.size() != map.sizes.size() || map.strides.size() + 1 != map.sizes.size()) {
    path.field("box").report("does not fit the sizes and strides");
    return false;
  }
  return true;
}

static bool parameterFromJson(const json::Value &value, KernelParameter &parameter,
                              json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("kind", kind))
    return false;
  const auto *known =
      llvm::find_if(kindNames, [&](const auto &entry) { return entry.second == kind; });
  if (known == std::end(kindNames)) {
    path.field("kind").report("is not a kind of parameter");
    return false;
  }
  parameter.kind = known->first;

  const json::Object &object = *value.getAsObject();
  bool fromCaller = parameter.kind != Kind::Scratch && parameter.kind != Kind::Const &&
                    parameter.kind != Kind::NumPrograms;
  if (fromCaller && !map.map("index", parameter.index))
    return false;
  if (fromCaller && parameter.index < 0) {
    path.field("index").report("is negative");
    return false;
  }
  switch (parameter.kind) {
  case Kind::Arg:
    if (!map.map("type", parameter.type) || !map.mapOptional("path", parameter.path) ||
        !map.mapOptional("multiple", parameter.multiple))
      return false;
    if (parameter.multiple >= 1 && llvm::isPowerOf2_32(unsigned(parameter.multiple)))
      return true;
    path.field("multiple").report("is not a power of two");
    return false;
  case Kind::TensorMap:
    return map.mapOptional("path", parameter.path) &&
           tensorMapFromJson(object, parameter.map, map, path);
  case Kind::DescBase:
    return map.mapOptional("type", parameter.type) && map.mapOptional("path", parameter.path);
  case Kind::DescShape:
  case Kind::DescStride:
    return map.map("type", parameter.type) && map.map("dim", parameter.dim) &&
           map.mapOptional("path", parameter.path);
  case Kind::Scratch:
    return map.map("bytes", parameter.bytes) && map.map("per", parameter.per) &&
           map.map("zero", parameter.zero);
  case Kind::NumPrograms:
    return map.map("type", parameter.type) && map.map("dim", parameter.dim);
  case Kind::Const:
    if (!map.map("type", parameter.type))
      return false;
    if (const json::Value *constant = object.get("value")) {
      llvm::raw_string_ostream(parameter.value) << *constant;
      return true;
    }
    path.field("value").report("is missing");
    return false;
  }
  return false;
}

static bool splitFromJson(const json::Value &value, GridSplit &split, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("axis", split.axis) || !map.map("to", split.to) ||
      !map.map("divisor", split.divisor))
    return false;
  const json::Value *size = value.getAsObject()->get("size");
  if (!size) {
    path.field("size").report("is missing");
    return false;
  }
  if (!fromJSON(*size, split.size, path.field("size")))
    return false;
  auto isAxis = [](int axis) { return axis >= 0 && axis < 3; };
  if (isAxis(split.axis) && isAxis(split.to) && split.axis != split.to && split.divisor > 0)
    return true;
  path.report("does not name two axes and a positive divisor");
  return false;
}

static bool metadataFromJson(const json::Value &value, KernelMetadata &out, json::Path path) {
  json::ObjectMapper map(value, path);
  std::vector<int> cluster, programs = {1, 1, 1};
  if (!map || !map.map("entry", out.entry) || !map.map("target", out.target) ||
      !map.map("shared_bytes", out.sharedBytes) || !map.map("num_warps", out.numWarps) ||
      !map.map("threads", out.threads) || !map.map("cluster", cluster) ||
      !map.map("ctas_per_program", out.ctasPerProgram) ||
      !map.map("cooperative", out.cooperative) || !map.mapOptional("registers", out.registers) ||
      !map.mapOptional("dependent", out.dependent) ||
      !map.mapOptional("persistent", out.persistent) ||
      !map.mapOptional("few_programs", out.fewPrograms) ||
      !map.mapOptional("programs_apart", out.programsApart) ||
      !map.mapOptional("programs_grow", out.programsGrow) ||
      !map.mapOptional("programs_per_block", programs))
    return false;
  if (programs.size() != 3 || llvm::any_of(programs, [](int n) { return n < 1; })) {
    path.field("programs_per_block").report("is not three positive numbers");
    return false;
  }
  std::copy(programs.begin(), programs.end(), out.programsPerBlock);
  if (cluster.size() != 3) {
    path.field("cluster").report("is not three numbers");
    return false;
  }
  std::copy(cluster.begin(), cluster.end(), out.cluster);

  if (const json::Array *splits = value.getAsObject()->getArray("grid_splits"))
    for (auto [i, split] : llvm::enumerate(*splits))
      if (!splitFromJson(split, out.gridSplits.emplace_back(), path.field("grid_splits").index(i)))
        return false;
  const json::Array *parameters = value.getAsObject()->getArray("params");
  if (!parameters) {
    path.field("params").report("is not a list");
    return false;
  }
  for (auto [i, parameter] : llvm::enumerate(*parameters))
    if (!parameterFromJson(parameter, out.params.emplace_back(), path.field("params").index(i)))
      return false;
  return true;
}

bool KernelMetadata::fromJson(llvm::StringRef text, KernelMetadata &out, std::string &error) {
  out = KernelMetadata();
  auto parsed = parseJson(text);
  if (!parsed) {
    error = formatted("the metadata is not JSON: {}", llvm::toString(parsed.takeError()));
    return false;
  }
  json::Path::Root root("metadata");
  if (metadataFromJson(*parsed, out, root))
    return true;
  error = llvm::toString(root.getError());
  return false;
}
