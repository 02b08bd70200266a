//===- CompilerPool.cpp - compilers lent to one thread at a time ----------===//
#include "compiler/Estimate.h"
#include "runtime/CompileService.h"

using namespace tile;
using namespace tile::runtime;

namespace {
/// Grows to as many compilers as ever ran at once.
class CompilerPool {
public:
  template <typename Use> auto with(Use use) {
    std::unique_ptr<Compiler> compiler = take();
    auto result = use(*compiler);
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(compiler));
    return result;
  }

private:
  std::unique_ptr<Compiler> take() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<Compiler> compiler = std::move(idle.back());
        idle.pop_back();
        return compiler;
      }
    }
    return std::make_unique<Compiler>();
  }
  std::mutex mutex;
  std::vector<std::unique_ptr<Compiler>> idle;
};
} // namespace

PooledCompiler runtime::pooledCompiler() {
  auto pool = std::make_shared<CompilerPool>();
  PooledCompiler out;
  out.compile = [pool](const frontend::SourceFile &file, const CompileOptions &options) {
    return pool->with([&](Compiler &compiler) { return compiler.compile(file, options); });
  };
  out.estimate = [pool](const frontend::SourceFile &file, const CompileOptions &options,
                        const LaunchOutline &outline) -> std::optional<double> {
    ExplainOptions wanted;
    wanted.compile = options;
    wanted.values = outline.values;
    if (findDevice(outline.device)) // else one that stands for the target
      wanted.device = outline.device;
    auto estimate = pool->with(
        [&](Compiler &compiler) { return estimateLaunch(compiler, file, wanted, outline.grid); });
    return estimate ? std::optional(estimate->seconds * 1e3) : std::nullopt;
  };
  return out;
}
