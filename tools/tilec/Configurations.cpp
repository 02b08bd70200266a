//===- Configurations.cpp - what a file's decorators say of a compilation -===//
#include "tools/tilec/Configurations.h"
#include "frontend/Parser.h"
#include "frontend/eval/Helpers.h"
#include "runtime/jit/Choices.h"
#include "llvm/ADT/StringMap.h"

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

void tilec::applyConfiguration(const tile::frontend::SourceFile &source, CompileOptions &compile) {
  tile::frontend::DiagnosticEngine ignored;
  tile::ast::Module module = tile::frontend::parse(source, ignored);
  if (ignored.hasErrors())
    return;
  tile::eval::Program program(compile.includePaths);
  tile::eval::ModuleEnv &file = program.add(source, module);
  if (const tile::Target *target = tile::findTarget(compile.target))
    program.evaluator().capability = target->capability;
  auto kernel = find(file, compile.kernel);
  tile::jit::Choices choices;
  if (!kernel ||
      tile::jit::readChoices(program.evaluator(), *kernel, choices, compile.constexprs) ||
      !choices.isTuned)
    return;
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
