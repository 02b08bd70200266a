//===- Configurations.cpp - what a file's decorators say of a compilation -===//
#include "tools/tilec/Configurations.h"
#include "frontend/Parser.h"
#include "frontend/eval/Helpers.h"
#include "runtime/jit/Choices.h"
#include "target/RegisterLimit.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using tile::CompileOptions;

/// The kernel that is meant: by name, or the only one that is no helper of others.
static std::shared_ptr<tile::eval::FunctionObject> find(tile::eval::ModuleEnv &file,
                                                        const std::string &name) {
  auto candidates = file.kernels();
  if (name.empty()) {
    candidates = tile::eval::withoutHelpers(candidates);
    return candidates.size() == 1 ? candidates.front() : nullptr;
  }
  // A name means what it is bound to last; one at the top hides those inside.
  std::shared_ptr<tile::eval::FunctionObject> found;
  for (auto &candidate : candidates)
    if (candidate->name() == name && (!found || !candidate->closure))
      found = candidate;
  return found;
}

std::string tilec::checkConfiguration(const tile::runtime::TuneConfig &configuration) {
  constexpr int mostWarps = 32, mostCtas = 8, mostStages = 32; // as `tilec compile` takes them
  auto isPowerUpTo = [](int number, int most) {
    return number > 0 && number <= most && llvm::isPowerOf2_32(unsigned(number));
  };
  auto isNot = [&](llvm::StringRef name, llvm::StringRef what, int number) {
    return tile::formatted("a configuration of `triton.autotune` has {}={}: `{}` must be {}", name,
                           number, name, what);
  };
  if (!isPowerUpTo(configuration.numWarps, mostWarps))
    return isNot("num_warps", "1, 2, 4, 8, 16 or 32", configuration.numWarps) +
           tile::insteadOfWarps(configuration.numWarps);
  if (!isPowerUpTo(configuration.numCtas, mostCtas))
    return isNot("num_ctas", "1, 2, 4 or 8", configuration.numCtas);
  if (configuration.numStages < 0 || configuration.numStages > mostStages)
    return isNot("num_stages", "from 0 to 32 or \"auto\"", configuration.numStages);
  if (configuration.maxRegisters && (configuration.maxRegisters < tile::kLeastRegisterLimit ||
                                     configuration.maxRegisters > tile::kMostRegisterLimit))
    return isNot(
        "maxnreg",
        tile::formatted("from {} to {}", tile::kLeastRegisterLimit, tile::kMostRegisterLimit),
        configuration.maxRegisters);
  return {};
}

bool tilec::applyConfiguration(const tile::frontend::SourceFile &source, CompileOptions &compile) {
  tile::frontend::DiagnosticEngine ignored;
  tile::ast::Module module = tile::frontend::parse(source, ignored);
  if (ignored.hasErrors())
    return true;
  tile::eval::Program program(compile.includePaths);
  tile::eval::ModuleEnv &file = program.add(source, module);
  if (const tile::Target *target = tile::findTarget(compile.target))
    program.evaluator().capability = target->capability;
  auto kernel = find(file, compile.kernel);
  tile::jit::Choices choices;
  if (!kernel ||
      tile::jit::readChoices(program.evaluator(), *kernel, choices, compile.constexprs) ||
      !choices.isTuned)
    return true;
  const tile::runtime::TuneConfig &first = choices.configurations[0].tune;
  for (const auto &[name, value] : first.constexprs)
    if (llvm::none_of(compile.constexprs, [&](auto &given) { return given.first == name; }))
      compile.constexprs.emplace_back(name, value);
  const CompileOptions defaults;
  auto fill = [](auto &option, const auto &usual, const auto &wanted) {
    if (option == usual)
      option = wanted;
  };
  fill(compile.numWarps, defaults.numWarps, first.numWarps);
  fill(compile.numStages, defaults.numStages, first.numStages);
  fill(compile.numCtas, defaults.numCtas, first.numCtas);
  fill(compile.maxRegisters, defaults.maxRegisters, first.maxRegisters);
  fill(compile.warpRoles, defaults.warpRoles, first.warpRoles);
  tile::runtime::TuneConfig used;
  used.numWarps = compile.numWarps;
  used.numStages = compile.numStages;
  used.numCtas = compile.numCtas;
  used.maxRegisters = compile.maxRegisters;
  std::string problem = checkConfiguration(used);
  if (problem.empty())
    return true;
  tile::frontend::DiagnosticEngine said;
  said.error(&source, kernel->range(), std::move(problem));
  said.print(llvm::errs(), colorMessages());
  return false;
}

void tilec::forgetDecided(const tile::frontend::SourceFile &source, const tile::ast::Module &module,
                          const std::vector<std::string> &includePaths,
                          std::vector<KernelEntry> &kernels) {
  tile::eval::Program program(includePaths);
  tile::eval::ModuleEnv &file = program.add(source, module);
  llvm::StringMap<std::shared_ptr<tile::eval::FunctionObject>> functions;
  for (auto &function : file.functions())
    if (function->isJit) // a name means what it is bound to last
      functions[function->name()] = function;
  for (KernelEntry &kernel : kernels) {
    tile::jit::Choices choices;
    auto function = functions.find(kernel.name);
    // What is wrong with the decorators is said where they count.
    if (kernel.constants.empty() || function == functions.end() ||
        tile::jit::readChoices(program.evaluator(), *function->second, choices))
      continue;
    for (const std::string &name : choices.parameters())
      llvm::erase(kernel.constants, name);
  }
}
