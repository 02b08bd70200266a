//===- BuildMistakes.cpp - what `tilec build` was probably to build -------===//
#include "tools/tilec/BuildMistakes.h"
#include "text/Format.h"
#include "tools/tilec/Configurations.h"
#include "tools/tilec/Options.h"

using namespace tilec;
using namespace tile;
using llvm::StringRef;

std::string tilec::describeUntyped(const frontend::SourceFile &source, const ast::Module &module,
                                   const std::vector<std::string> &includePaths,
                                   Functions functions) {
  constexpr size_t most = 8;
  std::vector<KernelEntry> kernels = listKernels(module, source);
  forgetDecided(source, module, includePaths, kernels);
  if (!functions.empty())
    return formatted(
        "`{}` has no kernel and no function of whole tensors that says the types of all "
        "its parameters: name one with `--kernel`, such as `{}`, and `--argument` for "
        "each",
        source.name(), functions.front()->name());
  if (kernels.empty())
    return formatted("no function of `{}` is decorated with `@triton.jit` or `@tile.function`",
                     source.name());
  std::string text =
      formatted("`{}` has no kernel that says the types of all its parameters: name one with "
                "`--kernel`, and `--argument` for each",
                source.name());
  for (const KernelEntry &kernel : llvm::ArrayRef(kernels).take_front(most)) {
    std::vector<std::string> names = kernel.untyped;
    llvm::append_range(names, kernel.constants);
    text += formatted("; `{}` needs {}", kernel.name, enumerate(names));
  }
  return text;
}

std::string tilec::describeMissing(StringRef wanted, const frontend::SourceFile &source,
                                   const ast::Module &module, Functions functions) {
  std::vector<std::string> names;
  for (const std::shared_ptr<eval::FunctionObject> &function : functions)
    names.push_back(function->name());
  for (const KernelEntry &kernel : listKernels(module, source))
    names.push_back(kernel.name);
  std::string text = formatted("`{}` has no kernel `{}`", source.name(), wanted);
  if (StringRef near = nearest(wanted, names); !near.empty())
    return formatted("{}; did you mean `{}`?", text, near);
  return names.empty() ? text : formatted("{}; it has {}", text, enumerate(names));
}
