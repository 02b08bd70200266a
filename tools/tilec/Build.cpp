//===- Build.cpp - tilec build: kernels ahead of time ---------------------===//
//
// Lists the variants that arguments reach, as launches would (runtime/jit/), compiles each
// for every target, and writes them as C.
//
//===----------------------------------------------------------------------===//
#include "frontend/Counted.h"
#include "frontend/Files.h"
#include "frontend/Parser.h"
#include "runtime/Error.h"
#include "runtime/TargetName.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tools/tilec/BuildArguments.h"
#include "tools/tilec/BuildCompile.h"
#include "tools/tilec/BuildFunction.h"
#include "tools/tilec/BuildMistakes.h"
#include "tools/tilec/BuildTuning.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/Configurations.h"
#include "tools/tilec/KernelList.h"
#include "tools/tilec/KernelOptions.h"
#include "tools/tilec/OutputFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using llvm::StringRef;

static constexpr StringRef detailsText =
    R"text(Writes DIR/NAME.c and DIR/NAME.h (NAME is FILE's, unless --name gives one): every variant of the
kernels that launches with such arguments can reach, for every target. Compile the source, link
libtile_rt, and launch with values (tile/rt.h): the variant is found as a compiler at hand would
find it. There is machine code where `ptxas` is on PATH, and PTX, which newer chips take too, for
targets without a letter behind their number.

ARGUMENT is NAME=VALUES; the same NAME may be given several times. Without one the annotation counts
("*fp32:16", "i32"), or the default.
  x=*fp32         addresses of fp32, aligned to 16 bytes or not;  x=*fp32:16  only aligned ones
  n=i32           any i32: equal to 1, divisible by 16, or neither;  n=i32:16  only multiples of 16
  n=1..4096       from 1 to 4096;  n=64..4096:64  multiples of 64
  s=fp32  b=i1  p=none     a float, a bool, None
  BLOCK=64,128    values of a constexpr that launches give; --constexpr fixes one instead

A kernel with @triton.autotune is built in its configuration N (1, the first), or in those that win:
  --tuning-file FILE   by records that were made on GPUs (tilec bench --tuning-file FILE, or TILE_TUNING
                       in a program with libtile): for each device and key its own
  --tuning model       by the cost model, for values that the arguments in `key` can have, and for
                       each target; with a file, for kernels that it has no records of
A launch takes the configuration that was chosen for its device and its key or, where there is none
for them, for the nearest. --print-autotuning says which one serves what.

The grid that the file's function KERNEL_grid computes, or --grid, is built in. In CMake:
tile_add_kernels.

A function of whole tensors (@tile.function) becomes NAME_run(stream, tensors and numbers, results) and
NAME_shapes, which sets the shapes of the results. Its sizes stay open; they are checked when it runs.
Of its parameters --argument says
  M=1..8192  N=64..4096:64  K=512     sizes that the kernels are to be good for (1..65536): others
                                      are served by what was made for the nearest
  x=fp16                              the type of a tensor that does not say its own
Each kernel is there in all cuts into blocks that the compiler chooses for such sizes, each for sizes
that blocks fit, for multiples of 16 and for any. Tensors have no gaps; numbers keep their C types.

Examples:
  tilec build add.tile -o generated --target sm_80 --target sm_90a --argument n=1..1000000 \
      --constexpr BLOCK=1024 --grid "lambda args: (triton.cdiv(args['n'], args['BLOCK']),)"
  tilec build matmul.tile --kernel matmul -o generated --target h100 --tuning-file tuning.jsonl \
      --argument M=1..8192 --argument N=4096 --argument K=4096
  tilec build norms.tile --kernel layer_norm -o generated --target h100 --argument x=fp16 \
      --argument weight=fp16 --argument bias=fp16 --argument M=1..65536 --argument N=4096
)text";

namespace {
class BuildCommand : public Command {
public:
  BuildCommand();
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  llvm::Error buildAll(const frontend::SourceFile &source);
  llvm::Error buildKernel(const frontend::SourceFile &source, const ast::FunctionDef &def,
                          BuiltKernel &out);
  llvm::Error checkConfigurations(const jit::JitFile &file, const ast::FunctionDef &def) const;
  llvm::Error choose(const frontend::SourceFile &source, const ast::Module &module);
  llvm::Error buildFunctions();
  llvm::Error writeAll();
  llvm::Error finish(StringRef name, std::string source, std::string header);

  CompileOptions compile;
  std::vector<std::string> paths, kernels, arguments, targets;
  std::string output, name, grid;
  BuildTuning tuning;
  bool assemble = true;
  KeptTexts texts;
  std::vector<std::unique_ptr<jit::Jit>> jits;
  std::unique_ptr<CompileService> service;
  std::optional<CodeCompiler> compiler;
  ast::Module module;
  std::unique_ptr<eval::Program> files; ///< of the functions
  std::vector<const ast::FunctionDef *> chosen;
  std::vector<std::shared_ptr<eval::FunctionObject>> functions;
  std::vector<BuiltKernel> built;
  std::vector<BuiltFunction> builtFunctions;
};
} // namespace

BuildCommand::BuildCommand() {
  options.positional("FILE", paths, 1, 1);
  options.group("What to build")
      .list("kernel", "NAME", "a kernel or function; may be repeated (those that say all types)",
            kernels)
      .list("argument", "ARGUMENT",
            "values that an argument or size can have, see below; may be repeated", arguments)
      .custom("constexpr", "NAME=VALUE", "fixes a compile-time parameter; may be repeated",
              [this](StringRef text) { return acceptConstexpr(compile, text); })
      .text("grid", "LAMBDA", "the grid, from a dict of the arguments", grid)
      .integer("config", "N", "which configuration of @triton.autotune (1)", tuning.configuration,
               1, 1000)
      .text("tuning-file", "FILE", "the configurations that its records choose", tuning.file,
            ValueKind::File)
      .choice("tuning", {"model"}, "the configurations that the cost model chooses", tuning.how)
      .flag("print-autotuning", "print which configuration serves which launches", tuning.print)
      .list("include", "DIR", "look for imported files here too; may be repeated",
            compile.includePaths, ValueKind::Directory, 'I');
  options.group("How to build")
      .custom(
          "target", "TARGET", "a target; may be repeated (this machine's GPU, else sm_90a)",
          [this](StringRef target) {
            targets.push_back(target.str());
            return std::string();
          },
          targetChoices())
      .integer("num-warps", "N", "warps that run one program, a power of two (4)", compile.numWarps,
               1, 32)
      .integer("num-stages", "N", "pipeline stages of loops over memory (3)", compile.numStages, 0,
               32)
      .flag("no-assemble", "PTX only, even where `ptxas` is on PATH", assemble, false)
      .text("output", "DIR", "folder for the files; made if it is not there", output,
            ValueKind::Directory, 'o')
      .text("name", "NAME", "name of the files", name);
}

/// Of those that can be chosen, which are all where records or the cost model choose.
llvm::Error BuildCommand::checkConfigurations(const jit::JitFile &file,
                                              const ast::FunctionDef &def) const {
  bool isAnyChosen = !tuning.file.empty() || !tuning.how.empty();
  unsigned wanted = unsigned(std::max(tuning.configuration, 1)) - 1;
  for (auto [i, configuration] : llvm::enumerate(file.choices.configurations)) {
    if (!file.choices.isTuned || (!isAnyChosen && i != wanted))
      continue;
    frontend::DiagnosticEngine said;
    if (std::string problem = checkConfiguration(configuration.tune); !problem.empty()) {
      said.error(&file.source(), def.nameRange, std::move(problem));
      return makeError(ErrorCode::Compile, StringRef(said.str()).rtrim());
    }
  }
  return llvm::Error::success();
}

llvm::Error BuildCommand::buildKernel(const frontend::SourceFile &source,
                                      const ast::FunctionDef &def, BuiltKernel &out) {
  jit::JitSettings settings;
  // Beside functions each is given its own.
  auto isOthers = [&](StringRef name) {
    auto has = [&](const BuiltFunction &one) { return one.knows(name); };
    auto is = [&](const ast::Parameter &parameter) { return parameter.name == name; };
    return llvm::any_of(builtFunctions, has) && llvm::none_of(def.params, is);
  };
  settings.compile = compile;
  llvm::erase_if(settings.compile.constexprs, [&](auto &one) { return isOthers(one.first); });
  std::vector<std::string> own = arguments;
  llvm::erase_if(own, [&](StringRef one) { return isOthers(one.split('=').first); });
  settings.compile.print = printStatically;
  settings.compile.kernel = def.name;
  settings.compile.target = targets[0];
  settings.grid = grid;
  auto made = jit::Jit::create(
      *service, std::make_unique<frontend::SourceFile>(source.name().str(), source.text().str()),
      std::move(settings), {},
      [] { return makeError(ErrorCode::NoDriver, "nothing is launched"); });
  if (!made)
    return made.takeError();
  jits.push_back(std::move(*made));
  jit::Jit &kernel = *jits.back();
  out.file = &kernel.file();
  std::vector<tile_argument_range> ranges;
  if (llvm::Error error = readRanges(*out.file, own, texts, ranges, out.argumentTypes))
    return error;
  if (llvm::Error error = checkConfigurations(kernel.file(), def))
    return error;
  if (llvm::Error error = chooseConfigurations(kernel, ranges, targets, tuning, out))
    return error;
  auto configurationOf = [&](const dispatch::Key &key) {
    size_t behind = 1 + out.file->choices.heuristics.size();
    return llvm::find_if(out.configurations, [&](const BuiltConfiguration &one) {
      return one.number == key.words[key.size - behind];
    });
  };
  if (llvm::Error error = kernel.variants(ranges, [&](const dispatch::Key &key) {
        if (configurationOf(key) != out.configurations.end())
          out.variants.push_back({key, {}});
        return true;
      }))
    return error;
  for (BuiltVariant &variant : out.variants) {
    CompileOptions options = kernel.optionsOf(variant.key);
    for (const std::string &target : configurationOf(variant.key)->targets) {
      options.target = target;
      auto codes = compiler->codesFor(kernel.file().source(), options);
      if (!codes)
        return codes.takeError();
      llvm::move(*codes, std::back_inserter(variant.codes));
    }
  }
  return llvm::Error::success();
}

llvm::Error BuildCommand::finish(StringRef base, std::string source, std::string header) {
  if (std::error_code code = llvm::sys::fs::create_directories(output))
    return makeError(ErrorCode::Io, formatted("cannot make `{}`: {}", output, code.message()));
  OutputFiles out(paths[0]);
  for (auto [ending, text] : {std::pair(".c", &source), std::pair(".h", &header)}) {
    llvm::SmallString<128> path(output);
    llvm::sys::path::append(path, base + ending);
    out.add(path.str().str(), std::move(*text));
  }
  std::string error;
  return out.commit(error) ? llvm::Error::success() : makeError(ErrorCode::Io, error);
}

/// The kernels and functions that are asked for, or all that say their types.
llvm::Error BuildCommand::choose(const frontend::SourceFile &source, const ast::Module &module) {
  files = std::make_unique<eval::Program>(compile.includePaths);
  auto all = files->add(source, module).functions();
  llvm::erase_if(all, [](auto &one) { return !one->findDecorator("tile.function"); });
  if (kernels.empty()) {
    chosen = listTypedKernels(module);
    for (const std::shared_ptr<eval::FunctionObject> &function : all)
      if (saysTypes(*files, *function, compile.constexprs))
        functions.push_back(function);
    if (chosen.empty() && functions.empty())
      return invalidArgument(describeUntyped(source, module, compile.includePaths, all));
  }
  for (const std::string &wanted : kernels) {
    auto function = llvm::find_if(all, [&](auto &one) { return one->name() == wanted; });
    if (function != all.end()) {
      functions.push_back(*function);
      continue;
    }
    const ast::FunctionDef *found = nullptr;
    for (const ast::StmtPtr &statement : module.body)
      if (auto *def = llvm::dyn_cast<ast::FunctionDef>(statement.get()); def && def->name == wanted)
        found = def;
    if (!found)
      return invalidArgument(describeMissing(wanted, source, module, all));
    chosen.push_back(found);
  }
  return llvm::Error::success();
}

llvm::Error BuildCommand::buildFunctions() {
  if (functions.empty())
    return llvm::Error::success();
  if (!grid.empty() || tuning.configuration || !tuning.file.empty() || !tuning.how.empty())
    return invalidArgument(
        formatted("--grid, --config, --tuning-file and --tuning are for kernels, "
                  "and `{}` is a function of whole tensors, which is cut into "
                  "blocks by the compiler",
                  functions[0]->name()));
  FunctionRequest request{arguments, compile.constexprs, targets,
                          [this](const frontend::SourceFile &source, CompileOptions options) {
                            options.includePaths = compile.includePaths;
                            options.print = printStatically;
                            return compiler->codesFor(source, std::move(options));
                          }};
  builtFunctions.resize(functions.size());
  for (auto [function, built] : llvm::zip_equal(functions, builtFunctions))
    if (llvm::Error error = buildFunction(*files, function, request, built))
      return error;
  auto isKnown = [&](StringRef name) {
    return llvm::any_of(builtFunctions, [&](auto &one) { return one.knows(name); });
  };
  for (const std::string &argument : arguments) // one of several may have it, or a kernel
    if (chosen.empty() && !isKnown(StringRef(argument).split('=').first))
      return invalidArgument(formatted(
          "option `--argument`: `{}`: {} has no tensor or size of that name", argument,
          functions.size() == 1 ? formatted("`{}`", functions[0]->name()) : "no function"));
  return llvm::Error::success();
}

llvm::Error BuildCommand::writeAll() {
  std::string base = name.empty() ? llvm::sys::path::stem(paths[0]).str() : name;
  std::string text;
  if (llvm::Error error = writeSource(base, built, builtFunctions, text))
    return error;
  size_t variants = 0, configurations = 0, choices = 0;
  for (const BuiltKernel &kernel : built) {
    variants += kernel.variants.size();
    configurations += kernel.choices.empty() ? 0 : kernel.configurations.size();
    choices += kernel.choices.size();
  }
  for (const BuiltFunction &function : builtFunctions)
    variants += countCodes(function);
  if (llvm::Error error = finish(base, std::move(text), writeHeader(base, built, builtFunctions)))
    return error;
  llvm::outs() << formatted("{}/{}.c: ", output, base);
  if (!built.empty())
    llvm::outs() << formatted("{}, ", counted(built.size(), "kernel"));
  if (!builtFunctions.empty())
    llvm::outs() << formatted("{}, ", counted(builtFunctions.size(), "function"));
  llvm::outs() << formatted("{}, {}", counted(variants, "variant"), llvm::join(targets, ", "));
  if (choices)
    llvm::outs() << formatted("; {} for {}", counted(configurations, "configuration"),
                              counted(choices, "choice"));
  llvm::outs() << '\n';
  return llvm::Error::success();
}

llvm::Error BuildCommand::buildAll(const frontend::SourceFile &source) {
  frontend::DiagnosticEngine diagnostics;
  module = frontend::parse(source, diagnostics);
  if (diagnostics.hasErrors())
    return makeError(ErrorCode::Compile, StringRef(diagnostics.str()).rtrim());
  if (llvm::Error error = choose(source, module))
    return error;
  PooledCompiler pool = pooledCompiler();
  ServiceSettings settings;
  settings.estimator = pool.estimate;
  service = std::make_unique<CompileService>(pool.compile, std::move(settings));
  compiler.emplace(*service, assemble);
  built.resize(chosen.size());
  if (llvm::Error error = buildFunctions())
    return error;
  for (auto [def, kernel] : llvm::zip(chosen, built))
    if (llvm::Error error = buildKernel(source, *def, kernel))
      return error;
  return writeAll();
}

int BuildCommand::run() {
  if (output.empty()) {
    printError("build", "a folder is needed: -o DIR");
    return Usage;
  }
  if (tuning.configuration && (!tuning.file.empty() || !tuning.how.empty())) {
    printError("build", "--config is one configuration, and --tuning-file and --tuning choose "
                        "several: give one of them");
    return Usage;
  }
  if (targets.empty())
    targets = {tile::runtime::defaultTarget()};
  std::vector<std::string> resolved; // boards with the same chip are one target
  for (std::string &target : targets) {
    if (std::string problem = resolveTargetOption(target); !problem.empty()) {
      printError("build", problem);
      return Usage;
    }
    if (!llvm::is_contained(resolved, target))
      resolved.push_back(target);
  }
  targets = std::move(resolved);
  compile.target = targets[0];
  if (std::string problem = checkKernelOptions(compile); !problem.empty()) {
    printError("build", problem);
    return Usage;
  }
  // Also where nothing asks it: no kernel of FILE may be tuned.
  if (std::string error;
      !tuning.file.empty() && !frontend::readFile(tuning.file, frontend::kMaxSourceBytes, error)) {
    printError("build", error);
    return Failure;
  }
  assemble = assemble && llvm::sys::findProgramByName("ptxas");
  auto source = openSource("build", paths[0]);
  if (!source)
    return Failure;
  llvm::Error error = buildAll(*source);
  if (!error)
    return Success;
  ErrorParts parts = takeError(std::move(error));
  if (parts.code == ErrorCode::Compile || StringRef(parts.message).contains(": error: "))
    llvm::errs() << parts.message << '\n'; // with its place
  else
    printError("build", parts.message);
  return parts.code == ErrorCode::Unsupported       ? Unsupported
         : parts.code == ErrorCode::InvalidArgument ? Usage
                                                    : Failure;
}

std::unique_ptr<Command> tilec::createBuildCommand() { return std::make_unique<BuildCommand>(); }
