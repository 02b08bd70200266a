//===- JitFile.cpp - a kernel as its launches see it ----------------------===//
#include "runtime/jit/JitFile.h"
#include "frontend/Parser.h"
#include "frontend/eval/Annotations.h"
#include "frontend/eval/Helpers.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"
#include "llvm/Support/JSON.h"

using namespace tile;
using namespace tile::jit;
using eval::PyValue;
using eval::Result;
using runtime::ErrorCode;
using runtime::makeError;
using Kind = PyValue::Kind;
using dispatch::Parameter;

llvm::Error jit::toError(const frontend::DiagnosticEngine &diagnostics) {
  return makeError(diagnostics.onlyUnsupported() ? ErrorCode::Unsupported : ErrorCode::Compile,
                   llvm::StringRef(diagnostics.str()).rtrim());
}

llvm::Error JitFile::toError(std::unique_ptr<eval::EvalError> error,
                             llvm::StringRef context) const {
  if (!context.empty())
    error->diagnostic.message = formatted("{}: {}", context, error->diagnostic.message);
  frontend::DiagnosticEngine diagnostics;
  eval::report(*error, diagnostics);
  return jit::toError(diagnostics);
}

JitFile::JitFile(std::unique_ptr<frontend::SourceFile> file, JitSettings settings)
    : file(std::move(file)), settings(std::move(settings)),
      program(this->settings.compile.includePaths) {}
JitFile::~JitFile() = default;

std::string *JitFile::keep(std::string text) {
  texts.push_back(std::make_unique<std::string>(std::move(text)));
  return texts.back().get();
}

llvm::Expected<std::unique_ptr<JitFile>> JitFile::open(std::unique_ptr<frontend::SourceFile> file,
                                                       JitSettings settings) {
  std::unique_ptr<JitFile> out(new JitFile(std::move(file), std::move(settings)));
  frontend::DiagnosticEngine diagnostics;
  out->tree = frontend::parse(*out->file, diagnostics);
  if (diagnostics.hasErrors())
    return jit::toError(diagnostics);
  out->module = &out->program.add(*out->file, out->tree);
  if (const Target *target = findTarget(out->settings.compile.target))
    out->program.evaluator().capability = target->capability;
  using Part = llvm::Error (JitFile::*)();
  for (Part part : {&JitFile::choose, &JitFile::readDecorators, &JitFile::readDecisions,
                    &JitFile::readParameters, &JitFile::readHeuristics, &JitFile::readGrid})
    if (llvm::Error error = (out.get()->*part)())
      return std::move(error);
  return out;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static std::string quotedList(llvm::ArrayRef<llvm::StringRef> names) {
  std::string text;
  for (llvm::StringRef name : names)
    text += formatted("{}{}`", text.empty() ? "`" : ", `", name);
  return text;
}

llvm::Error JitFile::choose() {
  std::string &wanted = settings.compile.kernel;
  std::vector<std::shared_ptr<eval::FunctionObject>> kernels;
  std::vector<llvm::StringRef> known;
  for (auto &candidate : module->functions())
    if (candidate->isJit && module->isBound(*candidate)) {
      kernels.push_back(candidate);
      known.push_back(candidate->def->name);
    }
  if (wanted.empty()) {
    auto candidates = eval::withoutHelpers(kernels);
    function = candidates.size() == 1 ? candidates.front() : nullptr;
  }
  for (auto &candidate : kernels)
    if (candidate->name() == wanted)
      function = candidate;
  if (function) {
    wanted = function->name();
    return llvm::Error::success();
  }
  std::string text = file->name().str();
  if (kernels.empty())
    return makeError(ErrorCode::Compile,
                     formatted("`{}` has no kernels (`@triton.jit` functions)", text));
  if (wanted.empty())
    return makeError(
        ErrorCode::InvalidArgument,
        formatted("`{}` has several kernels ({}): say which", text, quotedList(known)));
  std::string message = formatted("`{}` has no kernel `{}`", text, wanted);
  llvm::StringRef near = frontend::nearestName(wanted, known);
  message += near.empty() ? formatted("; it has {}", quotedList(known))
                          : formatted("; did you mean `{}`?", near);
  return makeError(ErrorCode::InvalidArgument, message);
}

/// What the decorator says not to specialise on: names or positions.
llvm::Error JitFile::readDecorators() {
  const eval::Decorator *jit = function->findDecorator("triton.jit");
  eval::CallArgs args;
  if (!jit)
    return llvm::Error::success();
  if (Result ok = program.evaluator().decoratorArguments(*function, *jit, args); !ok)
    return toError(ok.takeError());
  auto read = [&](llvm::StringRef keyword, std::vector<std::string> &out) -> llvm::Error {
    const PyValue *list = args.keyword(keyword);
    for (const PyValue &element : list ? list->elements() : llvm::ArrayRef<PyValue>()) {
      std::optional<int64_t> index = element.toInt64();
      if (element.isStr())
        out.push_back(element.asStr());
      else if (index && *index >= 0 && *index < int64_t(function->params().size()))
        out.push_back(function->params()[*index].name);
      else
        return toError(eval::fail(formatted("`{}` needs names or positions of parameters, got {}",
                                            keyword, eval::repr(element))));
    }
    return llvm::Error::success();
  };
  if (const PyValue *debug = args.keyword("debug"); debug && debug->is(Kind::Bool))
    settings.compile.debug |= debug->asBool();
  if (llvm::Error error = read("do_not_specialize", settings.plain))
    return error;
  return read("do_not_specialize_on_alignment", settings.unaligned);
}

llvm::Error JitFile::readDecisions() {
  if (auto error =
          readChoices(program.evaluator(), *function, choices, settings.compile.constexprs))
    return toError(std::move(error));
  for (const std::string &name : choices.parameters()) {
    if (isFixed(name))
      return makeError(ErrorCode::InvalidArgument,
                       formatted("constexpr `{}` is given, and a decorator of `{}` sets it, too",
                                 name, kernel()));
    if (llvm::Error error = checkNames({name}, formatted("a decorator of `{}` sets", kernel())))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error JitFile::checkNames(llvm::ArrayRef<std::string> given, llvm::StringRef what) const {
  for (const std::string &name : given) {
    if (llvm::any_of(function->params(), [&](auto &p) { return p.name == name; }))
      continue;
    std::vector<llvm::StringRef> candidates;
    for (const ast::Parameter &parameter : function->params())
      candidates.push_back(parameter.name);
    std::string message = formatted("{} `{}`: `{}` has no such parameter", what, name, kernel());
    if (llvm::StringRef near = frontend::nearestName(name, candidates); !near.empty())
      message += formatted("; did you mean `{}`?", near);
    return makeError(ErrorCode::InvalidArgument, message);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

bool JitFile::isFixed(llvm::StringRef name) const {
  return llvm::any_of(settings.compile.constexprs,
                      [&](const auto &entry) { return entry.first == name; });
}

/// The value of a default that a launch could give, too.
static std::optional<tile_value> valueOf(const PyValue &value,
                                         llvm::function_ref<std::string *(std::string)> keep) {
  switch (value.kind()) {
  case Kind::None:
    return tile_none();
  case Kind::Bool:
    return tile_bool(value.asBool());
  case Kind::Int:
    if (std::optional<int64_t> number = value.toInt64())
      return tile_int(*number);
    return std::nullopt;
  case Kind::Float:
    return tile_float(value.asFloat());
  case Kind::Str:
    if (value.asStr().size() > dispatch::kMostText || value.asStr().find('\0') != std::string::npos)
      return std::nullopt;
    return tile_text(keep(value.asStr())->c_str());
  case Kind::DType:
    if (uint8_t dtype = dispatch::dtypeNamed(value.asDType().str().c_str()))
      return tile_type(tile_dtype(dtype));
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// A fixed constexpr, for formulas; nothing for what only kernels have a use for.
static std::optional<PyValue> constantOf(llvm::StringRef text) {
  if (text.ltrim().starts_with("[") ||
      text.ltrim().starts_with("{")) // read by recursion, for nothing
    return std::nullopt;
  PlainNumbers plain;
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  if (parsed->getAsNull())
    return PyValue();
  if (auto truth = parsed->getAsBoolean())
    return PyValue::boolean(*truth);
  if (auto number = parsed->getAsInteger(); number && !text.contains('.'))
    return PyValue::integer(*number);
  if (auto number = parsed->getAsNumber())
    return PyValue::number(*number);
  if (auto string = parsed->getAsString())
    return PyValue::string(string->str());
  return std::nullopt;
}

llvm::Error JitFile::checkSettings() {
  std::vector<std::string> fixed;
  for (const auto &[name, value] : settings.compile.constexprs) {
    fixed.push_back(name);
    if (std::optional<PyValue> constant = constantOf(value))
      names.constants[name] = *constant;
    else
      names.others[name] = value;
  }
  for (auto [list, what] : {std::pair(&settings.plain, "`do_not_specialize`"),
                            std::pair(&settings.unaligned, "`do_not_specialize_on_alignment`"),
                            std::pair(&fixed, "constexpr")})
    if (llvm::Error error = checkNames(*list, what))
      return error;
  return llvm::Error::success();
}

/// The type that a parameter's annotation says, as text or by a name of `tl`.
static std::string typeSaid(const ast::Parameter &parameter, uint8_t dtype) {
  auto *text = llvm::dyn_cast_if_present<ast::Constant>(parameter.annotation.get());
  if (text && text->type == ast::Constant::Type::String)
    return text->text;
  return dtype ? dispatch::nameOf(dtype) : "";
}

llvm::Error JitFile::readParameters() {
  if (llvm::Error error = checkSettings())
    return error;
  eval::Evaluator &evaluator = program.evaluator();
  const std::vector<std::string> decided = choices.parameters();
  for (size_t i = 0; i < function->params().size(); ++i) {
    const ast::Parameter &parameter = function->params()[i];
    if (llvm::is_contained(decided, parameter.name))
      continue;
    if (parameter.kind == ast::Parameter::Kind::VarArgs ||
        parameter.kind == ast::Parameter::Kind::KwArgs)
      return toError(eval::unsupported(
          formatted("kernel `{}` has a parameter `*{}`, which cannot be given a value here",
                    kernel(), parameter.name)));
    eval::ParameterKind kind = eval::annotationOf(evaluator, *function, i);
    if (isFixed(parameter.name)) {
      if (!kind.isConstexpr)
        return makeError(ErrorCode::InvalidArgument,
                         formatted("constexpr `{}`: that parameter of `{}` is a run-time one",
                                   parameter.name, kernel()));
      continue;
    }
    std::optional<tile_value> value;
    if (parameter.defaultValue) {
      Result evaluated = evaluator.defaultValue(*function, i);
      if (!evaluated)
        return toError(evaluated.takeError());
      value = valueOf(*evaluated, [this](std::string text) { return keep(std::move(text)); });
      if (kind.isConstexpr && !value) {
        names.constants[parameter.name] = *evaluated;
        continue; // the compiler takes the default
      }
    }
    bool isPlain = llvm::is_contained(settings.plain, parameter.name);
    uint8_t flags = 0;
    flags |= kind.isConstexpr ? Parameter::Constexpr : 0;
    // An annotated integer stays a run-time value even when it is 1, unless the
    // annotation speaks of the value too ("i32:1", "i32:16").
    flags |= isPlain || (kind.scalar && !kind.folds) ? Parameter::NoOne : 0;
    flags |=
        isPlain || llvm::is_contained(settings.unaligned, parameter.name) ? Parameter::NoAlign : 0;
    flags |= kind.isConst ? Parameter::ReadOnly : 0;
    flags |= kind.isPointer ? Parameter::IsPointer : 0;
    uint8_t dtype = kind.scalar && !kind.isConstexpr
                        ? dispatch::dtypeNamed(kind.scalar->str().c_str())
                        : uint8_t(TILE_DTYPE_NONE);
    names.arguments[parameter.name] = unsigned(parameters.size());
    parameters.push_back({parameter.name.c_str(), flags, dtype});
    defaults.push_back(value);
    annotations.push_back(kind.isConstexpr ? "" : typeSaid(parameter, dtype));
    if (!value)
      numRequired = unsigned(parameters.size());
  }
  if (parameters.size() > dispatch::kMostArguments)
    return makeError(ErrorCode::Unsupported,
                     formatted("`{}` has {} parameters, and at most {} are possible", kernel(),
                               uint64_t(parameters.size()), dispatch::kMostArguments));
  names.constants.try_emplace("num_warps", PyValue::integer(settings.compile.numWarps));
  names.constants.try_emplace("num_stages", PyValue::integer(settings.compile.numStages));
  return llvm::Error::success();
}

std::optional<unsigned> JitFile::find(llvm::StringRef name) const {
  auto it = names.arguments.find(name);
  return it == names.arguments.end() ? std::nullopt : std::optional(it->second);
}

std::vector<llvm::StringRef> JitFile::parameterNames() const {
  std::vector<llvm::StringRef> out;
  for (const Parameter &parameter : parameters)
    out.push_back(parameter.name);
  return out;
}

CompileOptions JitFile::optionsFor(const dispatch::Described &described, unsigned configuration,
                                   const int64_t *heuristics) const {
  CompileOptions options = settings.compile;
  const Configuration &chosen = choices.configurations[configuration];
  if (choices.isTuned)
    chosen.tune.applyTo(options);
  for (const Heuristic &heuristic : chosen.heuristics) {
    int64_t value = *heuristics++;
    options.constexprs.emplace_back(heuristic.parameter, heuristic.formula.isTruth
                                                             ? (value ? "true" : "false")
                                                             : std::to_string(value));
  }
  options.signature = described.signature;
  // What is not to be specialised on is not looked at by launches, either.
  unsigned entry = 0;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    auto isThis = [&, i = i](const dispatch::Described::Constant &c) { return c.parameter == i; };
    if (llvm::any_of(llvm::ArrayRef(described.constants, described.numConstants), isThis))
      continue;
    if (parameter.flags & Parameter::NoAlign)
      options.multiples.emplace_back(entry, 1);
    ++entry;
  }
  for (unsigned i = 0; i < described.numConstants; ++i)
    options.constexprs.emplace_back(parameters[described.constants[i].parameter].name,
                                    described.constants[i].text);
  return options;
}
