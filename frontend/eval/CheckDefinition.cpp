//===- CheckDefinition.cpp - what Python makes of a kernel's definition ---===//
#include "frontend/eval/CheckDefinition.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;

namespace {
/// What takes keywords in the lines above a kernel, as Triton 3.6 has them, and which more of them
/// other releases have: kernels that were written for those mean nothing by them here.
struct Signature {
  StringRef name;
  std::vector<StringRef> keywords, ofOthers;
};
} // namespace

static const Signature &config() {
  static const Signature signature = {
      "triton.Config",
      {"kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override"},
      {"num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer", "reg_inc_producer",
       "enable_warp_specialization", "enable_persistent", "minRegAutoWS", "maxRegAutoWS"}};
  return signature;
}

/// Null for decorators that take what they like.
static const Signature *signatureOf(StringRef decorator) {
  static const Signature signatures[] = {
      {"triton.jit",
       {"fn", "version", "repr", "launch_metadata", "do_not_specialize",
        "do_not_specialize_on_alignment", "debug", "noinline"},
       {"interpret"}},
      {"triton.autotune",
       {"configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook",
        "post_hook", "warmup", "rep", "use_cuda_graph", "do_bench", "cache_results"},
       {"verbose"}},
      {"triton.heuristics", {"values"}, {}},
  };
  const auto *found =
      llvm::find_if(signatures, [&](const Signature &s) { return s.name == decorator; });
  return found == std::end(signatures) ? nullptr : found;
}

static std::unique_ptr<EvalError> placed(const FunctionObject &function, ast::SourceRange range,
                                         std::string message) {
  std::unique_ptr<EvalError> error = fail(std::move(message));
  error->diagnostic.file = &function.module->source();
  error->diagnostic.range = range;
  return error;
}

static const ast::Keyword *unknownKeyword(const ast::Call &call, const Signature &signature) {
  for (const ast::Keyword &keyword : call.keywords)
    if (!keyword.name.empty() && !llvm::is_contained(signature.keywords, keyword.name) &&
        !llvm::is_contained(signature.ofOthers, keyword.name))
      return &keyword;
  return nullptr;
}

static std::unique_ptr<EvalError> refuse(const FunctionObject &function,
                                         const ast::Keyword &keyword, const Signature &signature) {
  StringRef near = frontend::nearestName(keyword.name, signature.keywords);
  return placed(function, keyword.nameRange,
                formatted("`{}` has no parameter `{}`{}", signature.name, keyword.name,
                          near.empty() ? "" : formatted("; did you mean `{}`?", near)));
}

namespace {
/// Looks for configurations in what is written for a decorator: a list, or what makes one.
class ConfigSearch {
public:
  ConfigSearch(Evaluator &evaluator, const FunctionObject &function, ast::SourceRange decorator)
      : evaluator(evaluator), function(function), decorator(decorator) {}
  std::unique_ptr<EvalError> in(const ast::Expr &expr) {
    std::unique_ptr<EvalError> error;
    auto next = [&](const ast::ExprPtr &part) {
      if (!error && part)
        error = in(*part);
    };
    if (auto *several = llvm::dyn_cast<ast::Sequence>(&expr)) {
      llvm::for_each(several->elements, next);
    } else if (auto *call = llvm::dyn_cast<ast::Call>(&expr)) {
      llvm::for_each(call->args, next);
      for (const ast::Keyword &keyword : call->keywords)
        next(keyword.value);
      return error ? std::move(error) : check(*call);
    } else if (auto *comprehension = llvm::dyn_cast<ast::Comprehension>(&expr)) {
      next(comprehension->element);
    } else if (auto *sum = llvm::dyn_cast<ast::Binary>(&expr)) {
      next(sum->lhs);
      next(sum->rhs);
    } else if (auto *starred = llvm::dyn_cast<ast::Starred>(&expr)) {
      next(starred->value);
    }
    return error;
  }

private:
  std::unique_ptr<EvalError> check(const ast::Call &call) {
    const ast::Keyword *unknown = unknownKeyword(call, config());
    if (!unknown || !llvm::isa<ast::Name, ast::Attribute>(*call.callee))
      return nullptr;
    Result callee =
        evaluator.evaluate(*call.callee, StatementRunner::scopeAbove(function, decorator));
    return callee && callee->isSymbol(config().name) ? refuse(function, *unknown, config())
                                                     : nullptr;
  }

  Evaluator &evaluator;
  const FunctionObject &function;
  ast::SourceRange decorator;
};
} // namespace

std::unique_ptr<EvalError> eval::checkDecorator(Evaluator &evaluator,
                                                const FunctionObject &function,
                                                const Decorator &decorator) {
  const Signature *signature = decorator.call ? signatureOf(decorator.name) : nullptr;
  if (!signature)
    return nullptr;
  if (const ast::Keyword *unknown = unknownKeyword(*decorator.call, *signature))
    return refuse(function, *unknown, *signature);
  ConfigSearch configurations(evaluator, function, decorator.range);
  return decorator.name == "triton.autotune" ? configurations.in(*decorator.call) : nullptr;
}

bool eval::isKeywordOfOtherConfigs(StringRef keyword) {
  return llvm::is_contained(config().ofOthers, keyword);
}

std::unique_ptr<EvalError> eval::refuseAsync(const FunctionObject &function) {
  if (!function.def || !function.def->isAsync)
    return nullptr;
  uint32_t begin = function.def->range.begin;
  return placed(function, {begin, begin + uint32_t(StringRef("async").size())},
                formatted("`{}` is a coroutine, which a call does not run: write `def` without "
                          "`async`",
                          function.name()));
}

std::unique_ptr<EvalError> eval::checkDefinition(Evaluator &evaluator,
                                                 const FunctionObject &function) {
  if (auto error = refuseAsync(function))
    return error;
  for (const Decorator &decorator : function.decorators)
    if (auto error = checkDecorator(evaluator, function, decorator))
      return error;
  return nullptr;
}
