//===- EvalTest.h - evaluates a text and compares what comes out ----------===//
#ifndef TILE_TESTS_UNIT_FRONTEND_EVAL_EVALTEST_H
#define TILE_TESTS_UNIT_FRONTEND_EVAL_EVALTEST_H

#include "frontend/Parser.h"
#include "frontend/eval/Eval.h"
#include "gtest/gtest.h"

namespace tile::eval {

/// A file in memory whose names can be asked for.
class TestFile {
public:
  explicit TestFile(std::string text)
      : file("test.tile", std::move(text)), module(frontend::parse(file, diagnostics)) {
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.str();
    env = &program.add(file, module);
  }

  /// repr of a global, or "Type: message" of the error.
  std::string get(llvm::StringRef name) { return show(env->lookup(name)); }
  std::string call(llvm::StringRef name, std::vector<PyValue> args = {}) {
    Result function = env->lookup(name);
    return function ? show(program.evaluator().call(*function, CallArgs{std::move(args), {}}))
                    : show(function);
  }
  /// The diagnostic as a user sees it.
  std::string diagnose(llvm::StringRef name) {
    Result result = env->lookup(name);
    if (result && result->is(PyValue::Kind::Function))
      result = program.evaluator().call(*result, {});
    if (result)
      return "no error: " + repr(*result);
    frontend::DiagnosticEngine engine;
    report(result.error(), engine);
    return engine.str();
  }
  static std::string show(const Result &result) {
    return result ? repr(*result) : result.error().type + ": " + result.error().diagnostic.message;
  }

  frontend::DiagnosticEngine diagnostics;
  frontend::SourceFile file;
  ast::Module module;
  Program program;
  ModuleEnv *env;
};

/// repr of one expression, or its error.
inline std::string eval(const std::string &expr) {
  TestFile file("import math, triton\nimport triton.language as tl\nx = " + expr + "\n");
  Result value = file.env->lookup("x");
  std::string text = TestFile::show(value);
  // The message says that `x` is unknown first; tests care about the reason.
  constexpr llvm::StringRef prefix = "`x` is not known at compile time: ";
  if (size_t at = text.find(prefix); at != std::string::npos)
    text.erase(at, prefix.size());
  return text;
}

} // namespace tile::eval

#endif // TILE_TESTS_UNIT_FRONTEND_EVAL_EVALTEST_H
