//===- Lint.cpp - tilec lint -----------------------------------------------===//
#include "compiler/Lint.h"
#include "frontend/Parser.h"
#include "frontend/eval/Evaluator.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/KernelOptions.h"
#include "tools/tilec/SourcePaths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <utility>

using namespace tilec;
using llvm::StringRef;
using tile::formatted;

static constexpr StringRef detailsText =
    R"(Remarks on the kernels of FILE, or of all files below a folder, each at its line:
  - loads whose value is never used
  - masks that are always, or never, true
  - accesses whose neighbouring elements are apart in memory
  - 32-bit products in addresses that may pass 2^31
  - shifts by the width or more, division by zero, indices outside of a gather or histogram
  - writes to constant memory, and of every program to one place
  - accesses without the mask that others of the same offsets have, or beside a bound that is passed
    and bounds nothing
  - masked-off lanes that are no zeros when they are added up, as in the variance of a padded row

Types come from annotations, or from --signature for one --kernel; without either they are guessed
from the names of parameters and from how they are used, with addresses of fp32 or, where that does
not compile, of i32; constexprs without a default are 64. A kernel that does not compile with any of
these is passed over with a note; where it does without the --constexpr that were given, those are
the error.

Exit codes: 0 nothing to remark, 1 remarks or errors, 2 wrong usage.
)";

namespace {
class LintCommand : public Command {
public:
  LintCommand();
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  bool lintOne(tile::Linter &linter, const tile::GuessedTypes &types);
  int lintFile(const SourcePath &path);
  void findParameters(const tile::frontend::SourceFile &source);
  std::string findUnknown(StringRef noneHas) const;
  std::vector<std::pair<std::string, std::string>> constantsOf(const tile::GuessedTypes &types,
                                                               bool areGiven) const;

  std::vector<std::string> files;
  tile::CompileOptions compile;
  struct Counts {
    unsigned files = 0, kernels = 0, remarks = 0;
  } all, file;
  bool isAlone = true;
  bool areAllRead = true; ///< all files, without errors
  /// Of the kernels of a file by name, where --constexpr speaks of some; of all files together.
  std::map<std::string, std::vector<std::string>> parameters;
  std::vector<std::string> known;
};
} // namespace

LintCommand::LintCommand() {
  compile.target = tile::fallbackTarget().name.str();
  options.positional("FILE|FOLDER...", files, 1, 100000)
      .text("kernel", "NAME", "look at this kernel only", compile.kernel)
      .text("signature", "SIG", "types of its parameters, as in `tilec compile`", compile.signature)
      .orNothing()
      .custom("constexpr", "NAME=VALUE", "a compile-time parameter; may be repeated",
              [this](StringRef text) { return acceptConstexpr(compile, text); })
      .list("include", "DIR", "look for imported files here too; may be repeated",
            compile.includePaths, ValueKind::Directory, 'I');
}

/// Those that a kernel is looked at with: the given ones that are its own, and guesses.
std::vector<std::pair<std::string, std::string>>
LintCommand::constantsOf(const tile::GuessedTypes &types, bool areGiven) const {
  std::vector<std::pair<std::string, std::string>> out;
  if (areGiven)
    out = compile.constexprs;
  if (auto own = parameters.find(types.kernel); own != parameters.end())
    llvm::erase_if(out, [&](auto &one) { return !llvm::is_contained(own->second, one.first); });
  for (auto &guess : types.constexprs)
    if (llvm::none_of(out, [&](auto &one) { return one.first == guess.first; }))
      out.push_back(guess);
  return out;
}

/// False if the kernel has errors that are the user's.
bool LintCommand::lintOne(tile::Linter &linter, const tile::GuessedTypes &types) {
  tile::CompileOptions options = compile;
  options.kernel = types.kernel;
  options.print = printStatically;
  bool told = !compile.signature.empty() || types.annotated;
  options.constexprs = constantsOf(types, /*areGiven=*/true);
  tile::frontend::DiagnosticEngine diagnostics, ofConstants;
  bool compiles = false, areConstantsWrong = false;
  for (const std::string &signature : told ? std::vector{compile.signature} : types.signatures) {
    options.signature = signature;
    diagnostics = {};
    if ((compiles = linter.lint(options, told, diagnostics)))
      break;
    tile::CompileOptions without = options;
    without.constexprs = constantsOf(types, /*areGiven=*/false);
    tile::frontend::DiagnosticEngine ignored;
    if (!told && !areConstantsWrong && without.constexprs != options.constexprs &&
        (areConstantsWrong = linter.lint(without, told, ignored)))
      ofConstants = diagnostics;
  }
  if (!compiles) {
    if (told || areConstantsWrong) {
      (told ? diagnostics : ofConstants).print(llvm::errs(), colorMessages());
      return false;
    }
    llvm::errs() << formatted(
        "note: `{}` is passed over: its types are not known; give --kernel and --signature\n",
        types.kernel);
    return true;
  }
  diagnostics.print(llvm::outs(), llvm::outs().is_displayed() && colorMessages());
  file.remarks += diagnostics.all().size();
  return true;
}

static std::string counted(unsigned number, StringRef what) {
  return formatted("{} {}{}", number, what, number == 1 ? "" : "s");
}

/// Of which kernels `--constexpr` may speak.
void LintCommand::findParameters(const tile::frontend::SourceFile &source) {
  parameters.clear();
  if (compile.constexprs.empty())
    return;
  tile::frontend::DiagnosticEngine ignored;
  tile::ast::Module module = tile::frontend::parse(source, ignored);
  tile::eval::Program program(compile.includePaths);
  for (const auto &kernel : program.add(source, module).kernels()) {
    if (!compile.kernel.empty() && kernel->name() != compile.kernel)
      continue;
    std::vector<std::string> &own = parameters[kernel->name()];
    own.clear(); // a name means what it is bound to last
    for (const tile::ast::Parameter &parameter : kernel->params())
      own.push_back(parameter.name);
    llvm::append_range(known, own);
  }
}

/// What is wrong with the names of `--constexpr`, empty if nothing is.
std::string LintCommand::findUnknown(StringRef noneHas) const {
  for (auto &[name, value] : compile.constexprs) {
    if (llvm::is_contained(known, name))
      continue;
    StringRef near = nearest(name, known);
    return formatted("option `--constexpr`: {} parameter `{}`{}", noneHas, name,
                     near.empty() ? "" : formatted("; did you mean `{}`?", near));
  }
  return {};
}

/// An ExitCode; remarks are counted.
int LintCommand::lintFile(const SourcePath &path) {
  file = {};
  bool wereAllRead = std::exchange(areAllRead, false);
  std::string error;
  auto source = tile::frontend::SourceFile::open(path.path, error);
  if (!source) {
    printError("lint", error);
    return Failure;
  }
  tile::frontend::DiagnosticEngine diagnostics;
  tile::Linter linter(*source, compile.includePaths, diagnostics);
  auto kernels = linter.kernels();
  diagnostics.print(llvm::errs(), colorMessages());
  if (diagnostics.hasErrors())
    return Failure;
  areAllRead = wereAllRead;
  if (!compile.signature.empty() && compile.kernel.empty() && kernels.size() > 1) {
    printError("lint", "--signature is of one kernel: name it with --kernel");
    return Usage;
  }
  findParameters(*source);
  std::string problem;
  if (isAlone && !parameters.empty())
    problem = findUnknown(compile.kernel.empty() ? formatted("no kernel of `{}` has a", path.path)
                                                 : formatted("`{}` has no", compile.kernel));
  if (!problem.empty()) {
    printError("lint", problem);
    return Usage;
  }
  bool ok = true;
  for (const tile::GuessedTypes &types : kernels)
    if (compile.kernel.empty() || types.kernel == compile.kernel) {
      ++file.kernels;
      ok &= lintOne(linter, types);
    }
  if (!file.kernels) { // of several files, one may have none
    if (isAlone || (!path.isFound && compile.kernel.empty()))
      printError("lint", compile.kernel.empty()
                             ? formatted("`{}` has no kernels", path.path)
                             : formatted("`{}` has no kernel `{}` that is not a helper of others",
                                         path.path, compile.kernel));
    return !isAlone && (path.isFound || !compile.kernel.empty()) ? Success : Failure;
  }
  ++all.files;
  all.kernels += file.kernels;
  all.remarks += file.remarks;
  llvm::outs() << (isAlone ? "" : formatted("{}: ", path.path)) << counted(file.kernels, "kernel")
               << ", " << counted(file.remarks, "remark") << '\n';
  return ok ? Success : Failure;
}

int LintCommand::run() {
  std::string error;
  std::vector<SourcePath> sources;
  if (!findSources(files, sources, error)) {
    printError("lint", error);
    return Failure;
  }
  isAlone = sources.size() == 1;
  if (!isAlone && !compile.signature.empty()) {
    printError("lint", "--signature is of one kernel: name one file, and the kernel with --kernel");
    return Usage;
  }
  int worst = Success;
  for (const SourcePath &path : sources)
    worst = std::max(worst, lintFile(path));
  if (isAlone)
    return worst ? worst : all.remarks ? Failure : Success;
  if (!all.kernels) {
    printError("lint", compile.kernel.empty()
                           ? formatted("none of {} files has kernels", sources.size())
                           : formatted("none of {} files has a kernel `{}`", sources.size(),
                                       compile.kernel));
    return Failure;
  }
  // A kernel of a file with errors may have it.
  if (std::string problem = areAllRead ? findUnknown("no kernel has a") : ""; !problem.empty()) {
    printError("lint", problem);
    return Usage;
  }
  llvm::outs() << counted(all.files, "file") << ", " << counted(all.kernels, "kernel") << ", "
               << counted(all.remarks, "remark") << '\n';
  return worst || all.remarks ? Failure : Success;
}

std::unique_ptr<Command> tilec::createLintCommand() { return std::make_unique<LintCommand>(); }
