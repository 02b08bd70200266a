//===- Program.cpp - tile.h: functions of whole tensors, compiled ----------===//
#include "runtime/capi/Program.h"
#include "frontend/Parser.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;
using tensors::Parameter;

static llvm::Error diagnosed(const eval::EvalError &error) {
  frontend::DiagnosticEngine diagnostics;
  eval::report(error, diagnostics);
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os, /*color=*/false);
  return makeError(diagnostics.onlyUnsupported() ? ErrorCode::Unsupported : ErrorCode::Compile,
                   text);
}

/// The function of that name, or the only one.
static llvm::Error findFunction(tile_program &to, eval::ModuleEnv &file, const char *name) {
  std::string known;
  unsigned count = 0;
  for (const std::shared_ptr<eval::FunctionObject> &function : file.functions()) {
    if (!function->findDecorator("tile.function"))
      continue;
    known += formatted("{}{}`", known.empty() ? "`" : ", `", function->name());
    if (name && function->name() != name)
      continue;
    ++count;
    to.function = eval::PyValue::function(function);
  }
  if (count == 1)
    return llvm::Error::success();
  if (known.empty())
    return makeError(ErrorCode::Compile, "the file has no `@tile.function`");
  return makeError(ErrorCode::Compile,
                   (name ? formatted("no `@tile.function` is called `{}`: there is ", name)
                         : std::string("which function is meant? There is ")) +
                       known);
}

/// The types of the call that the program is for.
static llvm::Error chooseTypes(tile_program &to, eval::Evaluator &evaluator, llvm::StringRef types,
                               std::vector<tensors::Argument> &arguments) {
  llvm::SmallVector<llvm::StringRef> given;
  types.split(given, ',', -1, /*KeepEmpty=*/false);
  size_t next = 0;
  for (auto [i, parameter] : llvm::enumerate(to.signature.parameters)) {
    tensors::Argument &argument = arguments.emplace_back();
    if (parameter.kind == Parameter::Kind::Tensor && parameter.element) {
      argument.element = *parameter.element;
    } else if (parameter.kind == Parameter::Kind::Tensor) {
      size_t which = given.size() == 1 ? 0 : next++;
      if (which >= given.size())
        return invalid(formatted("`types` has no type for `{}`", parameter.name));
      std::optional<eval::DType> type = eval::DType::parse(given[which].trim());
      if (!type)
        return invalid(formatted("`types`: `{}` is no type", given[which].trim()));
      argument.element = *type;
    } else if (parameter.kind == Parameter::Kind::Constant) {
      const eval::FunctionObject &function = to.function.asFunction();
      if (!function.params()[i].defaultValue)
        return makeError(ErrorCode::Unsupported,
                         formatted("the constant `{}` has no default", parameter.name));
      eval::Result value = evaluator.defaultValue(function, i);
      if (!value)
        return diagnosed(value.error());
      argument.constant = value.take();
    }
  }
  if (given.size() > 1 && next < given.size())
    return invalid("`types` has more types than there are tensors that do not say theirs");
  return llvm::Error::success();
}

static llvm::Error compileProgram(tile_compiler *compiler,
                                  std::unique_ptr<frontend::SourceFile> file,
                                  const tile_program_options *options, tile_program **program) {
  tile_program_options chosen;
  tile_program_options_init(&chosen);
  if (llvm::Error error = readOptions(options, chosen))
    return error;
  tile_compile_options ofKernels;
  tile_compile_options_init(&ofKernels);
  ofKernels.target = chosen.target;
  auto converted = convertOptions(&ofKernels);
  if (!converted)
    return converted.takeError();

  llvm::StringRef mode = chosen.mode ? chosen.mode : "default";
  if (mode != "default" && mode != "reduce-overhead" && mode != "max-autotune")
    return invalid(formatted("`mode`: there is no `{}`; `default`, `reduce-overhead` and "
                             "`max-autotune` are known",
                             mode));

  auto made = std::make_unique<tile_program>();
  made->repeats = mode != "default";
  if (mode == "max-autotune")
    made->tuning = std::make_unique<ProgramTuning>(chosenText(chosen.tuning_file, "TILE_TUNING"),
                                                   chosen.no_timing != 0);
  made->compiler = *reinterpret_cast<std::shared_ptr<tile_compiler> *>(compiler);
  made->file = std::move(file);
  made->target = findTarget(converted->target);
  if (!made->target)
    return invalid(describeUnknownTarget(converted->target));
  frontend::DiagnosticEngine diagnostics;
  made->module = frontend::parse(*made->file, diagnostics);
  if (diagnostics.hasErrors()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.print(os, /*color=*/false);
    return makeError(ErrorCode::Compile, text);
  }
  made->files = std::make_unique<eval::Program>();
  eval::Evaluator &evaluator = made->files->evaluator();
  if (llvm::Error error =
          findFunction(*made, made->files->add(*made->file, made->module), chosen.function))
    return error;
  if (auto error = tensors::readSignature(evaluator, made->function.asFunction(), made->signature))
    return diagnosed(*error);
  std::vector<tensors::Argument> arguments;
  if (llvm::Error error =
          chooseTypes(*made, evaluator, chosen.types ? chosen.types : "fp32", arguments))
    return error;
  std::unique_ptr<eval::EvalError> error;
  made->program =
      TensorProgram::create(evaluator, made->function, made->signature, arguments, error);
  if (error)
    return diagnosed(*error);
  for (unsigned result : made->program->results)
    made->resultTypes.push_back(made->program->buffers[result].type.str());
  *program = made.release();
  return llvm::Error::success();
}

tile_status tile_program_compile_file(tile_compiler *compiler, const char *path,
                                      const tile_program_options *options, tile_program **program) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    *program = nullptr;
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(path);
    std::unique_ptr<frontend::SourceFile> file;
    if (llvm::Error error = openSource(path, file))
      return error;
    return compileProgram(compiler, std::move(file), options, program);
  });
}

tile_status tile_program_compile_buffer(tile_compiler *compiler, const char *name,
                                        const char *source, size_t length,
                                        const tile_program_options *options,
                                        tile_program **program) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    *program = nullptr;
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(source);
    std::unique_ptr<frontend::SourceFile> file;
    if (llvm::Error error = sourceOf(name, source, length, file))
      return error;
    return compileProgram(compiler, std::move(file), options, program);
  });
}

void tile_program_destroy(tile_program *program) { delete program; }

tile_status tile_program_get_info(const tile_program *program, tile_program_info *info) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    TILE_REQUIRE(info);
    tile_program_info filled = {};
    for (const Parameter &parameter : program->signature.parameters)
      filled.num_arguments += parameter.kind != Parameter::Kind::Constant;
    filled.num_results = program->program->results.size();
    filled.num_kernels = program->program->mostKernels();
    filled.kernels_compiled = program->kernels.size();
    return writeInfo(filled, info);
  });
}
