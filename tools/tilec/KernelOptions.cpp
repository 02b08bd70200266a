//===- KernelOptions.cpp - options that say which kernel, and how ---------===//
#include "tools/tilec/KernelOptions.h"
#include "runtime/TargetName.h"
#include "target/Devices.h"
#include "target/RegisterLimit.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using llvm::StringRef;
using tile::CompileOptions;
using tile::formatted;

std::string tilec::acceptConstexpr(CompileOptions &compile, StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return "expected NAME=VALUE";
  for (auto &[other, ignored] : compile.constexprs)
    if (other == name)
      return formatted("`{}` was given twice", name);
  compile.constexprs.emplace_back(name.str(), value.str());
  return {};
}

static std::string acceptStages(CompileOptions &compile, StringRef text) {
  if (text == "auto")
    compile.numStages = 0;
  else if (text.getAsInteger(10, compile.numStages) || compile.numStages < 0 ||
           compile.numStages > 32)
    return "expected a number from 0 to 32 or `auto`";
  return {};
}

static std::string acceptRoles(CompileOptions &compile, StringRef text) {
  if (tile::readWarpRoles(text, compile.warpRoles))
    return {};
  return "expected `auto`, `cooperative`, `pingpong`, `none`, `shared` or `apart`";
}

static std::string acceptPrograms(CompileOptions &compile, StringRef text) {
  if (text == "few")
    compile.programs = tile::GridPrograms::Few;
  else if (text == "many" || text == "any")
    compile.programs = text == "any" ? tile::GridPrograms::Any : tile::GridPrograms::Many;
  else
    return "expected `any`, `few` or `many`";
  return {};
}

void tilec::printStatically(StringRef text) { llvm::errs() << text; }

void tilec::addSelectionOptions(OptionTable &options, CompileOptions &compile) {
  compile.print = printStatically;
  options.group("What to compile")
      .text("kernel", "NAME", "the kernel (all whose types are known)", compile.kernel)
      .text("signature", "SIG", "types of its parameters, see below", compile.signature)
      .orNothing() // of a kernel whose parameters are all constexprs
      .custom("constexpr", "NAME=VALUE", "a compile-time parameter; may be repeated",
              [&compile](StringRef v) { return acceptConstexpr(compile, v); })
      .list("include", "DIR", "look for imported files here too; may be repeated",
            compile.includePaths, ValueKind::Directory, 'I');
}

void tilec::addCompilationOptions(OptionTable &options, CompileOptions &compile) {
  compile.target.clear();
  options.group("How to compile")
      .integer("num-warps", "N", "warps that run one program, a power of two (4)", compile.numWarps,
               1, 32)
      .custom("num-stages", "N", "pipeline stages of loops over memory (3); `auto`: as many as fit",
              [&compile](StringRef v) { return acceptStages(compile, v); })
      .custom(
          "target", "TARGET",
          formatted("{}: this machine's GPU, else sm_90a (native); `list` shows all", targetHelp()),
          [&compile](StringRef v) {
            compile.target = v.str();
            return std::string();
          },
          [] {
            std::vector<std::string> names = targetChoices();
            names.insert(names.begin(), "list");
            return names;
          }())
      .flag("persistent",
            "blocks run several programs of the grid in turn, where that helps (sm_90a)",
            compile.persistent)
      .flag(
          "checked-launch",
          "as the library compiles: who launches looks whether arrays suit TMA, and for those that "
          "do not has the kernel of --no-tensor-maps, so strides and ends may be taken to suit",
          compile.checkedLaunch)
      .flag("no-tensor-maps",
            "no copies by TMA: the kernel's parameters are those of its signature",
            compile.tensorMaps, false)
      .integer("num-ctas", "N",
               "thread blocks of a cluster, which load once what their programs have in common "
               "(1: two where that is known to pay); only with --persistent",
               compile.numCtas, 1, 8)
      .custom("warp-roles", "ROLES",
              "`cooperative`: a warp copies, the others share every block; `pingpong`: two groups "
              "of theirs take blocks by turns, with --persistent and 8 warps, where the kernel "
              "allows it; `none`: all warps do everything; `shared`: neighbouring programs of 4 "
              "warps run in one thread block, which copies what they have in common, where the "
              "kernel allows it; `apart`: they never do; `auto` (sm_90a)",
              [&compile](StringRef v) { return acceptRoles(compile, v); },
              {"auto", "cooperative", "pingpong", "none", "shared", "apart"})
      .custom("programs", "MANY",
              "`few`: for grids that leave a multiprocessor few programs (`few_programs` of the "
              "metadata says how many), loops load turns ahead; `many`: they do not; `any`: what "
              "launches kernels chooses by the grid",
              [&compile](StringRef v) { return acceptPrograms(compile, v); },
              {"any", "few", "many"})
      .flag("each-lane-arrives",
            "every lane of a warp reports to the warp that copies, not one for all: slower, for "
            "tools that check races and do not follow the barriers of warps (racecheck)",
            compile.eachLaneArrives)
      .integer("max-registers", "N", "registers a thread may use", compile.maxRegisters,
               tile::kLeastRegisterLimit, tile::kMostRegisterLimit)
      .text("libdevice", "FILE", "NVIDIA's libdevice bitcode, for its versions of math functions",
            compile.libdevicePath, ValueKind::File)
      .flag("no-fp-fusion", "do not contract a*b+c into one rounding", compile.enableFpFusion,
            false)
      .flag("debug", "keep device asserts", compile.debug)
      .flag("no-line-info", "leave source lines out of the PTX", compile.lineInfo, false);
}

std::string tilec::targetHelp() {
  return "`sm_75` to `sm_121a`, a board (`h100`, `a100`, `l40s`, `rtx4090`, ...) or `native`";
}

std::vector<std::string> tilec::targetChoices() {
  std::vector<std::string> names{"native"};
  for (const tile::Target &target : tile::allTargets())
    names.push_back(target.name.str());
  for (StringRef board : tile::boardNames())
    names.push_back(board.str());
  return names;
}

std::string tilec::resolveTargetOption(std::string &target) {
  if (target == "native") {
    auto native = tile::runtime::nativeTarget();
    target = native ? std::move(*native) : tile::fallbackTarget().name.str();
    if (!native) // as without `--target`, but whoever asked is told
      llvm::errs() << formatted("tilec: note: target `native` is this machine's GPU, and there is "
                                "none: {}; compiling for `{}`\n",
                                llvm::toString(native.takeError()), target);
    return {};
  }
  auto resolved = tile::runtime::resolveTarget(target);
  if (!resolved)
    return llvm::toString(resolved.takeError());
  target = std::move(*resolved);
  return {};
}

std::string tilec::checkKernelOptions(CompileOptions &compile) {
  if (std::string problem = resolveTargetOption(compile.target); !problem.empty())
    return problem;
  if (!llvm::isPowerOf2_32(compile.numWarps))
    return formatted("option `--num-warps`: expected a power of two, got `{}`{}",
                     llvm::itostr(compile.numWarps), tile::insteadOfWarps(compile.numWarps));
  if (!llvm::isPowerOf2_32(compile.numCtas))
    return formatted("option `--num-ctas`: expected a power of two, got `{}`",
                     llvm::itostr(compile.numCtas));
  return {};
}

std::unique_ptr<tile::frontend::SourceFile> tilec::openSource(StringRef command,
                                                              const std::string &file) {
  std::string error;
  std::unique_ptr<tile::frontend::SourceFile> source =
      tile::frontend::SourceFile::open(file, error);
  if (!source)
    printError(command, error);
  return source;
}

void tilec::printTargets() {
  for (const tile::Target &target : tile::allTargets())
    llvm::outs() << formatted("{:<10}{}\n", target.name, target.example);
  llvm::outs() << formatted("{:<10}{}\n", "native", "this machine's GPU, else sm_90a");
  for (StringRef board : tile::boardNames())
    llvm::outs() << formatted("{:<10}{}\n", board, *tile::targetOfBoard(board));
}
