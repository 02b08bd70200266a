//===- InterpTest.h - running MLIR text in tests --------------------------===//
#ifndef TILE_TESTS_UNIT_INTERP_INTERPTEST_H
#define TILE_TESTS_UNIT_INTERP_INTERPTEST_H

#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/interp/Interpreter.h"
#include "runtime/interp/Numeric.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tile::interp::test {

inline mlir::MLIRContext &context() {
  static auto *instance = [] {
    auto *c = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    c->loadDialect<TileDialect, cta::CtaDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                   mlir::scf::SCFDialect, mlir::func::FuncDialect, mlir::cf::ControlFlowDialect,
                   mlir::ub::UBDialect>();
    return c;
  }();
  return *instance;
}

/// Compiles `text`; fails the test and returns null if that does not work.
inline std::unique_ptr<Program> compile(const std::string &text, bool check = false) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context(), "test.mlir");
  if (!module) {
    ADD_FAILURE() << "does not parse:\n" << text;
    return nullptr;
  }
  std::string error;
  LoadOptions options;
  options.check = check;
  auto program = Program::load(*module, options, error);
  if (!program)
    ADD_FAILURE() << error << "\n" << text;
  return program;
}

inline Argument toArgument(const Argument &a) { return a; }
inline Argument toArgument(int v) { return Argument::integer(v); }
inline Argument toArgument(int64_t v) { return Argument::integer(v); }
inline Argument toArgument(uint32_t v) { return Argument::integer(v); }
inline Argument toArgument(double v) { return Argument::real(v); }
template <class T> Argument toArgument(std::vector<T> &v) { return Argument::pointer(v.data()); }
template <class T> Argument toArgument(T *p) { return Argument::pointer(p); }

/// Compiles and runs; arguments are vectors (passed as pointers) and numbers.
template <class... Args> Report runText(const std::string &text, Grid grid, Args &&...args) {
  auto program = compile(text);
  if (!program)
    return {};
  std::vector<Argument> list = {toArgument(args)...};
  return program->run(grid, list);
}
template <class... Args> void expectRuns(const std::string &text, Args &&...args) {
  Report report = runText(text, Grid(), args...);
  EXPECT_TRUE(report.ok()) << report.str();
}

/// A kernel over one block of N elements: `%x0`, `%x1`, ... are loaded from the
/// first arguments, `%r` is stored through the last. `body` defines %r.
inline std::string blockKernel(size_t n, const std::vector<std::string> &in, const std::string &out,
                               const std::string &body) {
  std::string N = std::to_string(n), text = "func.func @k(";
  for (size_t k = 0; k < in.size(); ++k)
    text += "%p" + std::to_string(k) + ": !tile.ptr<" + in[k] + ">, ";
  text += "%q: !tile.ptr<" + out + ">) {\n%range = tile.make_range 0 to " + N + " : tensor<" + N +
          "xi32>\n";
  auto pointers = [&](const std::string &name, const std::string &base, const std::string &type) {
    std::string block = "tensor<" + N + "x!tile.ptr<" + type + ">>";
    text += name + "_s = tile.splat " + base + " : !tile.ptr<" + type + "> -> " + block + "\n" +
            name + "_a = tile.addptr " + name + "_s, %range : " + block + ", tensor<" + N +
            "xi32>\n";
  };
  for (size_t k = 0; k < in.size(); ++k) {
    std::string x = "%x" + std::to_string(k);
    pointers(x, "%p" + std::to_string(k), in[k]);
    text += x + " = tile.load " + x + "_a : tensor<" + N + "x!tile.ptr<" + in[k] + ">>\n";
  }
  text += body + "\n";
  pointers("%out", "%q", out);
  text += "tile.store %out_a, %r : tensor<" + N + "x!tile.ptr<" + out + ">>\nreturn\n}\n";
  return text;
}

/// Replaces every occurrence of `key`.
inline std::string replace(std::string text, const std::string &key, const std::string &value) {
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += value.size())
    text.replace(at, key.size(), value);
  return text;
}
inline std::string block(size_t n, const std::string &type) {
  return "tensor<" + std::to_string(n) + "x" + type + ">";
}

} // namespace tile::interp::test

#endif // TILE_TESTS_UNIT_INTERP_INTERPTEST_H
