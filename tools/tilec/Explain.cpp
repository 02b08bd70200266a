//===- Explain.cpp - tilec explain ----------------------------------------===//
#include "compiler/Explain.h"
#include "compiler/Estimate.h"
#include "compiler/functions/DrawFunction.h"
#include "frontend/Parser.h"
#include "frontend/eval/DType.h"
#include "runtime/LaunchPlan.h"
#include "runtime/TargetName.h"
#include "target/Devices.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tools/tilec/Assembler.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/Configurations.h"
#include "tools/tilec/ExplainFunctions.h"
#include "tools/tilec/KernelList.h"
#include "tools/tilec/KernelOptions.h"
#include "tools/tilec/ObservedLaunches.h"
#include "tools/tilec/OutputFiles.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace tilec;
using llvm::StringRef;
using tile::Explanation;
using tile::formatted;

static constexpr StringRef detailsText =
    R"(Without `--kernel`, every kernel of FILE that says the types of its parameters is explained. With
`--test` or `--bench`, the launches that this function makes are, with their types, constants, options
and arguments: each variant of a kernel once. PARAM=VALUE picks cases, as in `tilec test`.

For each access to memory: the bytes that a thread moves at once, and the sectors of 32 bytes that
one request of a warp touches; or that the tensor memory accelerator (TMA) copies it, or why it does
not. For each product the instruction. For each exchange through shared memory its wavefronts, and
how many there would be without bank conflicts. Then what the kernel takes on a multiprocessor, and a
bound: the least time of one program, or of one iteration of the loop that decides, if one
multiprocessor had its share of the chip and nothing else to do. Bounds come from data sheets; no
kernel reaches all of them.

Of a function of whole tensors (`@tile.function`): its kernels with the operations in each, every
fusion that was not taken and why, the bytes that each kernel reads and writes, and beside them those
that the function would move operation by operation and those that it must. `--dtype` is the type of
tensors whose annotation leaves it open, `--value M=8192` the number that a size stands for;
`--html OUT` draws the kernels and what lies between them.

`--value` makes trip counts of loops known, so that the bound is about a whole program.
Registers and spills come from `ptxas`, or from the driver if this machine's GPU runs the target.

Examples:
  tilec explain matmul.tile --kernel matmul --signature '*fp16:16,*fp16:16,*fp16:16,i32,i32,i32,\
i32:16,i32:1,i32:16,i32:1,i32:16,i32:1' --constexpr BLOCK_M=128 --constexpr BLOCK_N=256 \
      --constexpr BLOCK_K=64 --num-warps 8 --value K=4096
  tilec explain softmax.tile --device a100 --json
  tilec explain functions/softmax.tile --dtype bf16 --value M=8192 --value N=8192
  tilec explain softmax.tile --bench bench_softmax
)";

namespace {
class ExplainCommand : public Command {
public:
  ExplainCommand();
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  /// Settles target and chip; what is wrong with the options, if anything is.
  std::string settle();
  std::string acceptValue(StringRef text);
  std::vector<std::string> kernelsOf(const tile::frontend::SourceFile &source, int explained,
                                     int &status);
  std::string checkValues(const tile::frontend::SourceFile &source,
                          llvm::ArrayRef<std::string> kernels,
                          const std::set<std::string> *sizes) const;
  std::string checkSizes(const std::set<std::string> &sizes) const;
  std::string checkLaunchedValues(llvm::ArrayRef<ObservedKernel> launches) const;
  int explainKernel(tile::Compiler &compiler, const tile::frontend::SourceFile &source,
                    const tile::ExplainOptions &chosen, Explanation &explanation);

  int explainLaunches(tile::Compiler &compiler);
  void append(const Explanation &explanation, const tile::frontend::SourceFile &source,
              const ObservedKernel *launch, std::optional<tile::LaunchEstimate> estimate = {});
  int writeReport(int status);

  int explainTensorFunctions(const tile::frontend::SourceFile &source, llvm::raw_ostream &os,
                             llvm::json::Array &list);

  tile::ExplainOptions explain;
  FunctionsToExplain functions;
  std::vector<std::string> files, parameters;
  std::string test, bench, text;
  llvm::json::Array list;
  std::string output = "-", html;
  std::string untypedTest;        ///< of a file whose kernels do not say their types
  std::vector<std::string> parts; ///< of the page
  bool json = false;
};
} // namespace

ExplainCommand::ExplainCommand() {
  options.positional("FILE [PARAM=VALUE]...", files, 1, 100);
  addSelectionOptions(options, explain.compile);
  addCompilationOptions(options, explain.compile);
  options.group("What to show")
      .text("device", "NAME",
            formatted("the chip whose limits count: {} (one that runs the target)",
                      tile::deviceNames()),
            explain.device)
      .custom("value", "NAME=N", "an integer argument of the kernel; may be repeated",
              [this](StringRef v) { return acceptValue(v); })
      .text("dtype", "TYPE", "of whole tensors that do not say it: fp32, bf16, ... (fp32)",
            functions.dtype)
      .choice("show", {"graph", "groups"},
              "of functions of whole tensors, the IR that was traced, or the groups made of it",
              functions.show)
      .text("test", "NAME", "explain what this test launches", test)
      .text("bench", "NAME", "explain what this bench launches", bench)
      .flag("json", "as JSON: one object for each kernel, in a list", json)
      .text("html", "OUT", "file for a picture of functions of whole tensors, beside the report",
            html, ValueKind::File)
      .text("output", "OUT", "file for the report; `-` is standard output (-)", output,
            ValueKind::File, 'o');
}

std::string ExplainCommand::acceptValue(StringRef text) {
  auto [name, number] = text.split('=');
  int64_t value = 0;
  if (name.empty() || number.getAsInteger(0, value))
    return "expected NAME=N with a whole number";
  explain.values[name.str()] = value;
  return {};
}

/// Functions of whole tensors; as explainFunctions.
int ExplainCommand::explainTensorFunctions(const tile::frontend::SourceFile &source,
                                           llvm::raw_ostream &os, llvm::json::Array &list) {
  functions.target = explain.compile.target;
  functions.values = {explain.values.begin(), explain.values.end()};
  return explainFunctions(source, functions, os, json ? &list : nullptr,
                          html.empty() ? nullptr : &parts);
}

/// The kernels to explain, besides so many functions of whole tensors; an empty name stands
/// for the file's only one.
std::vector<std::string> ExplainCommand::kernelsOf(const tile::frontend::SourceFile &source,
                                                   int explained, int &status) {
  if (explained && !explain.compile.kernel.empty())
    return {};
  if (!explain.compile.kernel.empty() || !explain.compile.signature.empty())
    return {explain.compile.kernel};
  tile::frontend::DiagnosticEngine diagnostics;
  tile::ast::Module module = tile::frontend::parse(source, diagnostics);
  if (diagnostics.hasErrors()) {
    diagnostics.print(llvm::errs(), colorMessages());
    status = Failure;
    return {};
  }
  std::vector<std::string> names;
  for (const tile::ast::FunctionDef *kernel : listTypedKernels(module))
    names.emplace_back(kernel->name);
  if (names.empty() && !explained) { // let the compiler say what is missing
    names.emplace_back();
    untypedTest = firstTest(module);
  }
  return names;
}

/// What is wrong with a name of `--value` that is none of these; empty if nothing is.
static std::string describeUnknown(StringRef what, StringRef name,
                                   llvm::ArrayRef<std::string> names) {
  if (llvm::is_contained(names, name))
    return {};
  StringRef guess = nearest(name, names);
  return formatted("option `--value`: no {} `{}`{}", what, name,
                   guess.empty() ? "" : formatted("; did you mean `{}`?", guess));
}

/// No tensor has fewer elements than none.
std::string ExplainCommand::checkSizes(const std::set<std::string> &sizes) const {
  for (auto &[name, value] : explain.values)
    if (value < 0 && sizes.count(name))
      return formatted("option `--value`: the size `{}` cannot be negative, got `{}`", name, value);
  return {};
}

/// Each is an integer argument of one of the launches at least, where all say theirs.
std::string ExplainCommand::checkLaunchedValues(llvm::ArrayRef<ObservedKernel> launches) const {
  std::vector<std::string> names;
  for (const ObservedKernel &launch : launches) {
    if (launch.values.empty())
      return {};
    for (auto &[name, value] : launch.values)
      names.push_back(name);
  }
  for (auto &[name, value] : explain.values)
    if (std::string problem =
            describeUnknown("launched kernel has an integer argument", name, names);
        !problem.empty())
      return problem;
  return {};
}

/// What is wrong with the names of `--value`: each is a parameter of one of the kernels at least,
/// or, where those are not at the top level, of some function there, or a size of a function of
/// whole tensors, if some are explained. Empty if nothing is.
std::string ExplainCommand::checkValues(const tile::frontend::SourceFile &source,
                                        llvm::ArrayRef<std::string> kernels,
                                        const std::set<std::string> *sizes) const {
  tile::frontend::DiagnosticEngine diagnostics;
  tile::ast::Module module = tile::frontend::parse(source, diagnostics);
  std::vector<std::string> ofKernels, ofAll;
  for (const tile::ast::StmtPtr &stmt : module.body)
    if (auto *def = llvm::dyn_cast<tile::ast::FunctionDef>(stmt.get()))
      for (const tile::ast::Parameter &parameter : def->params) {
        ofAll.push_back(parameter.name);
        if (llvm::is_contained(kernels, def->name))
          ofKernels.push_back(parameter.name);
      }
  std::vector<std::string> names = ofKernels.empty() && !kernels.empty() ? ofAll : ofKernels;
  StringRef what = !sizes            ? "kernel has a parameter"
                   : kernels.empty() ? "function has a size"
                                     : "kernel has a parameter, and no function a size,";
  if (sizes)
    names.insert(names.end(), sizes->begin(), sizes->end());
  for (auto &[name, value] : explain.values)
    if (std::string problem = describeUnknown(what, name, names);
        (sizes || !names.empty()) && !problem.empty())
      return problem;
  return {};
}

int ExplainCommand::explainKernel(tile::Compiler &compiler,
                                  const tile::frontend::SourceFile &source,
                                  const tile::ExplainOptions &wanted, Explanation &explanation) {
  tile::ExplainOptions chosen = wanted;
  if (!applyConfiguration(source, chosen.compile))
    return Failure;
  tile::CompileResult result;
  bool ok = tile::explain(compiler, source, chosen, result, explanation);
  result.diagnostics.print(llvm::errs(), colorMessages());
  if (!ok)
    return result.status == tile::CompileResult::Status::Unsupported ? Unsupported : Failure;
  std::string cubin, error, log;
  int registers = -1;
  if (assembleCubin(result.output, chosen.compile.target, cubin, registers, error, &log)) {
    tile::readAssemblerLog(log, explanation);
    explanation.registers = registers;
  } else if (!findPtxas().empty()) {
    explanation.assemblerError = error;
  }
  explanation.conclude();
  return Success;
}

std::string ExplainCommand::settle() {
  const tile::DeviceModel *device = tile::findDevice(explain.device);
  if (explain.compile.target.empty())
    explain.compile.target = device ? tile::targetOf(*device) : tile::runtime::defaultTarget();
  if (explain.device.empty())
    device = tile::findDevice(explain.compile.target); // `--target a100` says the board as well
  if (device)
    explain.device = device->name.str();
  std::string problem = checkKernelOptions(explain.compile);
  if (problem.empty() && !explain.device.empty() && !device)
    problem = formatted("option `--device`: no chip is called `{}`; expected one of {}",
                        explain.device, tile::deviceNames());
  if (problem.empty() && !tile::eval::DType::parse(functions.dtype))
    problem = formatted("option `--dtype`: `{}` is no type; fp32, fp16 and bf16 are some",
                        functions.dtype);
  return problem;
}

int ExplainCommand::run() {
  std::string problem = settle();
  if (!problem.empty()) {
    printError("explain", problem);
    return Usage;
  }
  tile::Compiler compiler;
  parameters.assign(files.begin() + 1, files.end());
  if (!html.empty() && !(test.empty() && bench.empty())) {
    printError("explain", "`--html` draws functions of whole tensors, not launches: leave out "
                          "`--test` and `--bench`");
    return Usage;
  }
  if (!html.empty() && html == output) {
    printError("explain", formatted("the report and the page of `--html` both go to `{}`: name a "
                                    "file for one of them (`-o` is for the report)",
                                    html));
    return Usage;
  }
  if (!test.empty() || !bench.empty())
    return explainLaunches(compiler);
  if (!parameters.empty()) {
    printError("explain",
               formatted("`{}` is of cases: name their `--test` or `--bench`", parameters[0]));
    return Usage;
  }
  auto source = openSource("explain", files[0]);
  if (!source)
    return Failure;
  int status = Success;
  functions.only = explain.compile.kernel;
  functions.includePaths = explain.compile.includePaths;
  std::set<std::string> sizes;
  if (!explain.values.empty())
    sizes = sizesOf(*source, functions);
  if (problem = checkSizes(sizes); !problem.empty()) {
    printError("explain", problem);
    return Usage;
  }
  llvm::raw_string_ostream os(text);
  int explained = explainTensorFunctions(*source, os, list);
  if (explained < 0)
    return Failure;
  if (!html.empty() && parts.empty()) {
    printError("explain",
               formatted("option `--html`: `{}` has no `@tile.function` to draw", files[0]));
    return Failure;
  }
  std::vector<std::string> kernels = kernelsOf(*source, explained, status);
  if (problem = checkValues(*source, kernels, explained ? &sizes : nullptr); !problem.empty()) {
    printError("explain", problem);
    return Usage;
  }
  for (const std::string &kernel : kernels) {
    Explanation explanation;
    tile::ExplainOptions chosen = explain;
    chosen.compile.kernel = kernel;
    if (int failed = explainKernel(compiler, *source, chosen, explanation)) {
      status = failed;
      continue;
    }
    append(explanation, *source, nullptr);
  }
  if (status != Success && !untypedTest.empty())
    printError(
        "explain",
        formatted("`--test {}` explains what that launches; its types are those of the launches",
                  untypedTest));
  return writeReport(status);
}

/// One kernel's part of the report.
void ExplainCommand::append(const Explanation &explanation,
                            const tile::frontend::SourceFile &source, const ObservedKernel *launch,
                            std::optional<tile::LaunchEstimate> estimate) {
  if (json) {
    llvm::json::Value object = explanation.toJson();
    if (launch)
      (*object.getAsObject())["launch"] =
          llvm::json::Object{{"function", launch->function},
                             {"case", launch->parameters},
                             {"grid", llvm::json::Array(launch->grid)},
                             {"launches", int64_t(launch->launches)}};
    if (estimate)
      (*object.getAsObject())["estimate"] =
          llvm::json::Object{{"milliseconds", estimate->seconds * 1e3}, {"limit", estimate->limit}};
    list.push_back(std::move(object));
    return;
  }
  llvm::raw_string_ostream os(text);
  os << (text.empty() ? "" : "\n");
  if (launch) {
    os << formatted("{}({}) launches {} for a grid of {}", launch->function, launch->parameters,
                    launch->options.kernel, launch->grid[0]);
    for (unsigned size : llvm::ArrayRef(launch->grid).drop_front())
      os << formatted(" x {}", size);
    os << formatted(", {} {} of this variant\n  {}", launch->launches,
                    launch->launches == 1 ? "launch" : "launches", launch->options.signature);
    for (auto &[name, value] : launch->options.constexprs)
      os << formatted(", {}={}", name, value);
    os << '\n';
  }
  explanation.print(os, source);
  if (estimate)
    os << formatted("  this launch: about {:.4f} ms on a {} by the cost model, for {}\n",
                    estimate->seconds * 1e3, explanation.device->title, estimate->limit);
}

/// The launches of one test or bench.
int ExplainCommand::explainLaunches(tile::Compiler &compiler) {
  if (!explain.compile.kernel.empty() || !explain.compile.signature.empty() ||
      (!test.empty() && !bench.empty())) {
    printError("explain", "`--test` and `--bench` say what is launched: give one of them, and no "
                          "`--kernel` or `--signature`");
    return Usage;
  }
  HostFile file;
  file.path.path = files[0];
  if (!file.parse("explain"))
    return Failure;
  const tile::DeviceModel *model = tile::findDevice(explain.device);
  if (!model)
    model = tile::deviceFor(tile::targetNamed(explain.compile.target).capability);
  auto purpose = test.empty() ? tile::host::Purpose::Bench : tile::host::Purpose::Test;
  auto launches = observeLaunches("explain", file, purpose, test.empty() ? bench : test, parameters,
                                  explain.compile, model);
  if (!launches)
    return Failure;
  if (std::string problem = checkLaunchedValues(*launches); !problem.empty()) {
    printError("explain", problem);
    return Usage;
  }
  int status = Success;
  for (const ObservedKernel &launch : *launches) {
    tile::ExplainOptions chosen = explain;
    chosen.compile = tile::runtime::forLaunch(launch.options);
    chosen.compile.target = explain.compile.target;
    chosen.values.insert(launch.values.begin(), launch.values.end());
    Explanation explanation;
    if (int failed = explainKernel(compiler, *launch.file, chosen, explanation))
      status = failed;
    else
      append(explanation, *launch.file, &launch,
             tile::estimateLaunch(compiler, *launch.file, chosen, launch.grid));
  }
  return writeReport(status);
}

int ExplainCommand::writeReport(int status) {
  if (json && !list.empty())
    text = llvm::formatv("{0:2}\n", llvm::json::Value(std::move(list)));
  if (text.empty())
    return status;
  OutputFiles out(files[0]);
  bool failed = status != Success; // some kernels are left out
  out.addFound("explain", failed, output, std::move(text));
  if (!parts.empty())
    out.addFound("explain", failed, html,
                 tile::htmlPage(llvm::sys::path::filename(files[0]), parts));
  std::string error;
  if (out.commit(error))
    return status;
  printError("explain", error);
  return Failure;
}

std::unique_ptr<Command> tilec::createExplainCommand() {
  return std::make_unique<ExplainCommand>();
}
