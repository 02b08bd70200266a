//===- Formulas.cpp - formulas that have a name, on the host --------------===//
#include "frontend/eval/Formulas.h"
#include "runtime/host/Functions.h"

using namespace tile;
using namespace tile::host;

namespace {
/// What formulas call here.
struct HostCalls : eval::FormulaCalls {
  explicit HostCalls(const ContextPtr &context) : context(context) {}
  Result call(llvm::StringRef name, const CallArgs &args) override {
    return callFunction(*findFunction(name), context, args);
  }
  bool computes() const override { return true; }
  const ContextPtr &context;
};
} // namespace

static Result formula(const ContextPtr &context, const CallArgs &args) {
  HostCalls calls(context);
  return eval::callFormula(calls, context->function, args);
}

llvm::ArrayRef<FunctionEntry> host::formulaFunctions() {
  static const std::vector<FunctionEntry> table = [] {
    std::vector<FunctionEntry> all;
    for (llvm::StringRef name : eval::formulaNames())
      all.push_back({name, formula, true});
    return all;
  }();
  return table;
}
