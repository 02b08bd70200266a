//===- CompilerPool.cpp - compilers lent to one thread at a time ----------===//
#include "runtime/CompileService.h"

using namespace tile;
using namespace tile::runtime;

namespace {
/// Grows to as many compilers as ever ran at once.
class CompilerPool {
public:
  CompileResult compile(const frontend::SourceFile &file, const CompileOptions &options) {
    std::unique_ptr<Compiler> compiler = take();
    CompileResult result = compiler->compile(file, options);
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

CompileFunction runtime::pooledCompiler() {
  auto pool = std::make_shared<CompilerPool>();
  return [pool](const frontend::SourceFile &file, const CompileOptions &options) {
    return pool->compile(file, options);
  };
}
