//===- Compile.cpp - tilec compile ----------------------------------------===//
//
// Other programs call this command: its options, the files it writes and its
// exit codes are a contract, tested in tests/lit/tilec.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compiler.h"
#include "frontend/AST.h"
#include "frontend/Parser.h"
#include "runtime/TargetName.h"
#include "target/Devices.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tools/tilec/Assembler.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/Configurations.h"
#include "tools/tilec/KernelList.h"
#include "tools/tilec/KernelOptions.h"
#include "tools/tilec/OutputFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace tilec;
using llvm::StringRef;
using tile::CompileOptions;
using tile::CompileResult;
using tile::formatted;
using tile::Stage;

static constexpr StringRef detailsText =
    R"(Signature: one entry for each parameter not annotated tl.constexpr, in order, separated by commas
(commas also stand inside (), [], <> and quotes). Not needed where the file annotates its types.

  *fp32  *fp32:16  *kfp16     pointer (k: read-only); :16 = the address is a multiple of 16
  i32  i32:16  i32:1  i64     integer; :16 = divisible by 16, :1 = equal to 1 (folded); of both,
                              :2, :4 and :8 say less than :16
  u8..u64 i1 fp16 bf16 fp32 fp64   other scalars
  none                        the argument is None
  (i32:16,*fp16)              tuple, nests; (x=*fp16,n=i32) and Args(x=*fp16,n=i32) are named
  tensordesc<fp16[128,64]>    host-side descriptor with that block shape
  const=VALUE                 any other value that is specialised on

VALUE is JSON (128, 0.5, true, null, "relu", [1,2]), or tl.float16 for a dtype, or @name for a
function of FILE, or inf, -inf, nan. What is left open is taken from the first configuration of a kernel
with @triton.autotune: its constexprs, warps and stages.

Without --kernel and --signature, all kernels of FILE whose types are known are compiled: those that
annotate every parameter and whose constants have defaults, or get values here. `--list-kernels`
says what the others lack.

Exit codes: 0 all files written, 1 compile error, 2 wrong usage, 3 the kernel uses something that
is not supported yet. On failure no file is touched.

Metadata is one JSON object: "entry", "target", "shared_bytes", "num_warps", "threads", "cluster",
"ctas_per_program", "cooperative", "registers" (if known) and "params", the parameters of the entry
in order:
  {"kind":"arg","index":i,"type":"ptr|i1|i8|...|fp64","path":[j,...]}   entry i of the signature
  {"kind":"tensor_map","index":i,...}                  what cuTensorMapEncodeTiled needs;
                                                       none with --no-tensor-maps
  {"kind":"desc_base"|"desc_shape"|"desc_stride","index":i,"dim":d,"type":...}
  {"kind":"scratch","bytes":n,"per":"launch|program","zero":bool}
  {"kind":"const","type":...,"value":v}
  {"kind":"num_programs","dim":axis,"type":"i32"}      the grid along that axis, with --persistent
docs/metadata.md says how to launch with it.

Examples:
  tilec compile add.tile -o add.ptx --metadata add.json
  tilec compile matmul.py --kernel matmul --signature '*fp16:16,*fp16:16,*fp16:16,i32,i32,i32' \
      --constexpr BLOCK_M=128 --constexpr BLOCK_N=64 --num-warps 8 --target sm_90a -o matmul.ptx
  tilec compile softmax.tile --emit tile            the tile dialect, on standard output
  tilec compile kernels.py -o ptx/ --metadata ptx/  every kernel whose types are known
)";

namespace {
class CompileCommand : public Command {
public:
  CompileCommand();
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  bool checkUsage();
  int emitTree(const tile::frontend::SourceFile &source);
  bool chooseKernels(const tile::frontend::SourceFile &source);
  std::string checkConstants(const tile::frontend::SourceFile &source,
                             const tile::ast::Module &module);
  int compileAll(const tile::frontend::SourceFile &source);
  int compileKernel(tile::Compiler &compiler, const tile::frontend::SourceFile &source,
                    const CompileOptions &options, CompileResult &result);
  int writeAll(std::vector<CompileResult> &results);
  bool checkPassName(tile::Compiler &compiler);
  bool assemble(CompileResult &result);
  int write(std::string text, std::string metadata);
  void printTimes(const CompileResult &result) const;

  CompileOptions compile;
  std::vector<std::string> files;
  bool listOnly = false;
  std::string emit = "ptx", output = "-", metadataPath;
  /// Of several: their names, and the parameters that `--constexpr` may speak of.
  std::vector<KernelEntry> kernels;
};
} // namespace

CompileCommand::CompileCommand() {
  options.positional("FILE", files, 0, 1); // none with `--target list`
  addSelectionOptions(options, compile);
  addCompilationOptions(options, compile);
  options.group("What to write")
      .text("output", "OUT",
            "file for the result, or a folder for `KERNEL.ptx`; `-` is standard output "
            "(-)",
            output, ValueKind::File, 'o')
      .text("metadata", "OUT.json", "file (or folder) for what a launcher must know", metadataPath,
            ValueKind::File)
      .choice("emit", {"ast", "tile", "cta", "llvm", "ptx", "cubin"}, "stop after this stage (ptx)",
              emit)
      .text("print-ir-after", "PASS", "print the module on stderr after each run of PASS, or `all`",
            compile.printIrAfter)
      .flag("list-kernels",
            "print the kernels of FILE, each with what has to be said to compile it, and stop",
            listOnly)
      .flag("timing", "print the time each stage took on stderr", compile.timing);
}

/// Why several kernels do not go where the options say.
static std::string describeSeveral(const tile::frontend::SourceFile &source,
                                   llvm::ArrayRef<KernelEntry> kernels, std::string instead) {
  constexpr size_t mostNamed = 16;
  std::string text =
      formatted("`{}` has {} kernels whose types are known: {}, or one of them with `--kernel`: ",
                source.name(), kernels.size(), instead);
  for (const KernelEntry &kernel : kernels.take_front(mostNamed))
    text += formatted("{}{}`", &kernel == kernels.begin() ? "`" : ", `", kernel.name);
  if (kernels.size() > mostNamed)
    text += formatted(" and {} more", kernels.size() - mostNamed);
  return text;
}

/// What single options cannot check by themselves.
bool CompileCommand::checkUsage() {
  std::string problem;
  if (files.empty())
    problem = "expected FILE";
  else if (std::string wrong = checkKernelOptions(compile); !wrong.empty())
    problem = wrong;
  else if (!metadataPath.empty() && emit != "ptx" && emit != "cubin")
    problem = "`--metadata` describes a finished kernel: it needs `--emit ptx` or `--emit cubin`";
  else if (output == metadataPath && !isFolder(output))
    problem = formatted("`--output` and `--metadata` name the same file, `{}`", output);
  else if (emit == "cubin" && output == "-" && llvm::outs().is_displayed())
    problem = "a cubin is binary: name a file with `-o`";
  if (!problem.empty())
    printError("compile", problem);
  return problem.empty();
}

int CompileCommand::run() {
  if (compile.target == "list") {
    printTargets();
    return Success;
  }
  bool treeOnly = listOnly || emit == "ast"; // needs no GPU, so it asks for none
  if (compile.target.empty())
    compile.target = treeOnly ? tile::fallbackTarget().name.str() : tile::runtime::defaultTarget();
  if (!checkUsage())
    return Usage;
  auto source = openSource("compile", files[0]);
  if (!source)
    return Failure;
  if (treeOnly)
    return emitTree(*source);
  return chooseKernels(*source) ? compileAll(*source) : int(Usage);
}

/// What only needs the tree starts no compiler.
int CompileCommand::emitTree(const tile::frontend::SourceFile &source) {
  tile::frontend::DiagnosticEngine diagnostics;
  tile::ast::Module module = tile::frontend::parse(source, diagnostics);
  diagnostics.print(llvm::errs(), colorMessages());
  if (diagnostics.hasErrors())
    return Failure;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (listOnly) {
    std::vector<KernelEntry> found = listKernels(module, source);
    forgetDecided(source, module, compile.includePaths, found);
    for (const KernelEntry &kernel : found)
      os << kernel.name << (kernel.isComplete() ? "" : formatted("  {}", kernel.missing())) << '\n';
    if (text.empty()) {
      printError("compile", formatted("`{}` has no kernels", source.name()));
      return Failure;
    }
    return write(std::move(text), "");
  }
  tile::ast::print(module, os);
  return write(std::move(text), "");
}

bool CompileCommand::checkPassName(tile::Compiler &compiler) {
  StringRef name = compile.printIrAfter;
  if (name.empty() || name == "all")
    return true;
  std::vector<std::string> names = compiler.passNames();
  if (llvm::is_contained(names, name))
    return true;
  printError(
      "compile",
      formatted("option `--print-ir-after`: no pass is called `{}`; expected `all` or one of {}",
                name, llvm::join(names, ", ")));
  return false;
}

/// With several kernels whose types are known, and none named: all of them, and a note about each
/// of the others.
bool CompileCommand::chooseKernels(const tile::frontend::SourceFile &source) {
  if (!compile.kernel.empty() || !compile.signature.empty())
    return true;
  tile::frontend::DiagnosticEngine ignored;
  tile::ast::Module module = tile::frontend::parse(source, ignored);
  if (ignored.hasErrors())
    return true; // the compiler says it
  std::vector<std::string> given;
  for (auto &[name, value] : compile.constexprs)
    given.push_back(name);
  std::vector<KernelEntry> found = listKernels(module, source);
  forgetDecided(source, module, compile.includePaths, found);
  std::string leftOut;
  for (KernelEntry &kernel : found) {
    llvm::erase_if(kernel.constants, [&](auto &name) { return llvm::is_contained(given, name); });
    if (kernel.isComplete())
      kernels.push_back(std::move(kernel));
    else
      leftOut +=
          formatted("tilec: note: `{}` is not compiled: it {}\n", kernel.name, kernel.missing());
  }
  if (!kernels.empty()) // or else the compiler says what is missing
    llvm::errs() << leftOut;
  if (kernels.size() < 2) {
    if (!kernels.empty())
      compile.kernel = kernels.front().name;
    kernels.clear();
    return true;
  }
  std::string problem = checkConstants(source, module);
  if (problem.empty() && output != "-" && !isFolder(output))
    problem =
        describeSeveral(source, kernels, formatted("name a folder for them (`-o {}/`)", output));
  else if (problem.empty() && !metadataPath.empty() && !isFolder(metadataPath))
    problem = describeSeveral(
        source, kernels, formatted("name a folder for metadata (`--metadata {}/`)", metadataPath));
  else if (problem.empty() && emit == "cubin" && output == "-")
    problem = describeSeveral(source, kernels, "name a folder for their cubins (`-o FOLDER/`)");
  if (!problem.empty())
    printError("compile", problem);
  return problem.empty();
}

/// Each constant that was given is a parameter of one of several kernels at least.
std::string CompileCommand::checkConstants(const tile::frontend::SourceFile &source,
                                           const tile::ast::Module &module) {
  std::vector<std::string> parameters;
  for (const KernelEntry &kernel : kernels)
    for (const tile::ast::Parameter &parameter : kernel.def->params)
      parameters.push_back(parameter.name);
  for (auto &[name, value] : compile.constexprs)
    if (!llvm::is_contained(parameters, name)) {
      StringRef near = nearest(name, parameters);
      return formatted("no kernel of `{}` has a parameter `{}`{}", source.name(), name,
                       near.empty() ? "" : formatted("; did you mean `{}`?", near));
    }
  for (KernelEntry &kernel : kernels) { // the tree ends here
    kernel.constants.clear();
    for (const tile::ast::Parameter &parameter : kernel.def->params)
      kernel.constants.push_back(parameter.name);
    kernel.def = nullptr;
  }
  return {};
}

/// All kernels that were chosen, or else the one that the options mean.
int CompileCommand::compileAll(const tile::frontend::SourceFile &source) {
  compile.stopAfter = llvm::StringSwitch<Stage>(emit)
                          .Case("tile", Stage::Tile)
                          .Case("cta", Stage::Cta)
                          .Case("llvm", Stage::Llvm)
                          .Default(Stage::Ptx);
  tile::Compiler compiler;
  if (!checkPassName(compiler))
    return Usage;
  std::vector<CompileResult> results;
  if (kernels.empty())
    if (int status = compileKernel(compiler, source, compile, results.emplace_back()))
      return status;
  int worst = Success;
  for (const KernelEntry &kernel : kernels) {
    CompileOptions options = compile;
    options.kernel = kernel.name;
    llvm::erase_if(options.constexprs,
                   [&](auto &given) { return !llvm::is_contained(kernel.constants, given.first); });
    int status = compileKernel(compiler, source, options, results.emplace_back());
    worst = worst == Failure || status == Success ? worst : status;
  }
  return worst ? worst : writeAll(results);
}

int CompileCommand::compileKernel(tile::Compiler &compiler,
                                  const tile::frontend::SourceFile &source,
                                  const CompileOptions &options, CompileResult &result) {
  CompileOptions chosen = options;
  if (!applyConfiguration(source, chosen))
    return Failure;
  result = compiler.compile(source, chosen);
  llvm::errs() << result.irDump;
  result.diagnostics.print(llvm::errs(), colorMessages());
  if (result.status == CompileResult::Status::Unsupported)
    return Unsupported;
  if (!result.ok())
    return Failure;
  if (emit == "cubin" && !assemble(result))
    return Failure;
  if (compile.timing)
    printTimes(result);
  return Success;
}

/// In a folder, a file a kernel; on standard output one after the other, each with its name.
int CompileCommand::writeAll(std::vector<CompileResult> &results) {
  std::string text, error;
  if (!makeFolder(output, error) || !makeFolder(metadataPath, error)) {
    printError("compile", error);
    return Failure;
  }
  StringRef ending = llvm::StringSwitch<StringRef>(emit)
                         .Cases({"tile", "cta"}, "mlir")
                         .Case("llvm", "ll")
                         .Default(emit);
  OutputFiles out(files[0]);
  for (auto [i, result] : llvm::enumerate(results)) {
    std::string name = compile.kernel.empty() ? result.metadata.entry : compile.kernel;
    if (!kernels.empty())
      name = kernels[i].name;
    if (!kernels.empty() && output == "-")
      text += formatted("{} kernel {}\n{}", emit == "llvm" ? ";" : "//", name, result.output);
    else
      out.add(isFolder(output) ? inFolder(output, name, ending) : output, std::move(result.output));
    if (!metadataPath.empty())
      out.add(isFolder(metadataPath) ? inFolder(metadataPath, name, "json") : metadataPath,
              formatted("{}\n", result.metadata.toJson()));
  }
  if (!text.empty())
    out.add("-", std::move(text));
  if (out.commit(error))
    return Success;
  printError("compile", error);
  return Failure;
}

/// Replaces the PTX in `result` by a cubin.
bool CompileCommand::assemble(CompileResult &result) {
  auto start = std::chrono::steady_clock::now();
  std::string cubin, error;
  if (!assembleCubin(result.output, compile.target, cubin, result.metadata.registers, error)) {
    printError("compile", error);
    return false;
  }
  result.output = std::move(cubin);
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  result.times.push_back({"assemble", spent.count()});
  return true;
}

int CompileCommand::write(std::string text, std::string metadata) {
  OutputFiles out(files[0]);
  out.add(output, std::move(text));
  if (!metadataPath.empty())
    out.add(metadataPath, std::move(metadata));
  std::string error;
  if (out.commit(error))
    return Success;
  printError("compile", error);
  return Failure;
}

void CompileCommand::printTimes(const CompileResult &result) const {
  double total = 0;
  for (const tile::StageTime &time : result.times)
    total += time.milliseconds;
  for (const tile::StageTime &time : result.times)
    llvm::errs() << formatted("{:9.2f} ms  {:5.1f}%  {}\n", time.milliseconds,
                              total > 0 ? 100 * time.milliseconds / total : 0, time.name);
  llvm::errs() << formatted("{:9.2f} ms  100.0%  total\n", total);
}

std::unique_ptr<Command> tilec::createCompileCommand() {
  return std::make_unique<CompileCommand>();
}
