//===- ParserTest.cpp - every kind of node, and exact ranges --------------===//
#include "ParseHelpers.h"

using namespace tile::ast;
using tile::frontend::Parsed;

namespace {

/// The tree of one expression on one line: kinds and data, in parentheses.
std::string flat(const std::string &text) {
  Parsed parsed(text + "\n");
  EXPECT_EQ(parsed.diagnostics.str(), "");
  std::string out;
  unsigned depth = 0;
  std::string tree = parsed.tree();
  llvm::StringRef rest = llvm::StringRef(tree).split('\n').second; // after "Module"
  bool first = true;
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    rest = after;
    unsigned indent = (line.size() - line.ltrim(' ').size()) / 2;
    if (!first && indent > depth)
      out += "(";
    for (unsigned i = indent; i < depth; ++i)
      out += ")";
    if (!first && indent <= depth)
      out += " ";
    out += line.ltrim(' ');
    depth = indent;
    first = false;
  }
  for (; depth > 1; --depth)
    out += ")";
  // Expression statements: only the expression.
  llvm::StringRef result = out;
  if (result.consume_front("Expr("))
    result.consume_back(")");
  return result.str();
}

TEST(ParseExpr, Constants) {
  EXPECT_EQ(flat("None"), "None");
  EXPECT_EQ(flat("True, False, ..."), "Tuple(True False ...)");
  EXPECT_EQ(flat("0x_ff"), "Int 255");
  EXPECT_EQ(flat("0b101, 0o17, 1_000"), "Tuple(Int 5 Int 15 Int 1000)");
  EXPECT_EQ(flat("340282366920938463463374607431768211456"),
            "Int 340282366920938463463374607431768211456");
  EXPECT_EQ(flat("1.5, .5e1, 1e400"), "Tuple(Float 1.5 Float 5 Float inf)");
  EXPECT_EQ(flat("2j"), "Imaginary 2");
  Parsed parsed("0xffffffffffffffff");
  const auto &big = parsed.expr<Constant>();
  EXPECT_TRUE(big.integer.isNonNegative()) << "an unsigned value must not look negative";
}

TEST(ParseExpr, Strings) {
  EXPECT_EQ(Parsed("'a' \"b\" '''c'''").expr<Constant>().text, "abc");
  EXPECT_EQ(Parsed(R"('\n\t\\\'\x41\101\u00e9\U0001F600\N{EM DASH}\q')").expr<Constant>().text,
            "\n\t\\'AA\u00e9\U0001F600\u2014\\q");
  EXPECT_EQ(Parsed(R"(r'\n\'')").expr<Constant>().text, "\\n\\'");
  EXPECT_EQ(Parsed("'a\\\nb'").expr<Constant>().text, "ab");
  EXPECT_EQ(Parsed("'''a\r\nb'''").expr<Constant>().text, "a\nb");
  Parsed parsed(R"(b'\xff\0' rb'\x')");
  const auto &bytes = parsed.expr<Constant>();
  EXPECT_EQ(bytes.type, Constant::Type::Bytes);
  EXPECT_EQ(bytes.text, std::string("\xff\0\\x", 4));
}

TEST(ParseExpr, FStrings) {
  EXPECT_EQ(flat("f'a{{{x!r:>{w}}}}'"),
            "FString(literal \"a{\" field !r(Name x format: FString(literal \">\" "
            "field(Name w))) literal \"}\")");
  EXPECT_EQ(flat("'a' f'{x = }' 'b'"),
            "FString(literal \"a\" field \"x = \"(Name x) literal \"b\")");
  EXPECT_EQ(flat("f'{a, b}{(lambda: 1)()}'"),
            "FString(field(Tuple(Name a Name b)) field(Call(callee: Lambda(body: Int 1))))");
  EXPECT_EQ(flat("f''"), "FString");
  EXPECT_EQ(flat("f'\\x41{{'"), "FString(literal \"A{\")");
}

TEST(ParseExpr, OperatorsBindAsInPython) {
  EXPECT_EQ(flat("a + b * c - d"), "Binary -(Binary +(Name a Binary *(Name b Name c)) Name d)");
  EXPECT_EQ(flat("a | b ^ c & d << e"),
            "Binary |(Name a Binary ^(Name b Binary &(Name c Binary <<(Name d Name e))))");
  EXPECT_EQ(flat("-a ** -b ** c"), "Unary -(Binary **(Name a Unary -(Binary **(Name b Name c))))");
  EXPECT_EQ(flat("a // b % c @ d / e"), "Binary /(Binary @(Binary %(Binary //(Name a Name b) "
                                        "Name c) Name d) Name e)");
  EXPECT_EQ(flat("not a == b and c or d"),
            "BoolOp or(BoolOp and(Unary not(Compare(Name a ==: Name b)) Name c) Name d)");
  EXPECT_EQ(flat("a and b and c"), "BoolOp and(Name a Name b Name c)");
  EXPECT_EQ(flat("a < b <= c is not d not in e"),
            "Compare(Name a <: Name b <=: Name c is not: Name d not in: Name e)");
  EXPECT_EQ(flat("~+a >> 1"), "Binary >>(Unary ~(Unary +(Name a)) Int 1)");
  EXPECT_EQ(flat("a if b else c if d else e"),
            "Conditional(condition: Name b then: Name a else: Conditional(condition: Name d "
            "then: Name c else: Name e))");
}

TEST(ParseExpr, CallsSubscriptsAttributes) {
  EXPECT_EQ(flat("f(a, *b, k=1, **c)"),
            "Call(callee: Name f Name a Starred(Name b) k=: Int 1 **: Name c)");
  EXPECT_EQ(flat("f[g](x)[0].y"), "Attribute y(Subscript(Call(callee: Subscript(Name f index: "
                                  "Name g) Name x) index: Int 0))");
  EXPECT_EQ(flat("x[:, None, 1:2:3, ...]"),
            "Subscript(Name x index: Tuple(Slice None Slice(lower: Int 1 upper: Int 2 step: "
            "Int 3) ...))");
  EXPECT_EQ(flat("x[::2]"), "Subscript(Name x index: Slice(step: Int 2))");
  EXPECT_EQ(flat("x[a,]"), "Subscript(Name x index: Tuple(Name a))");
  EXPECT_EQ(flat("x[*a]"), "Subscript(Name x index: Tuple(Starred(Name a)))");
  EXPECT_EQ(flat("f(y := 1)"), "Call(callee: Name f NamedExpr y(Int 1))");
  EXPECT_EQ(flat("f(x for x in y)"),
            "Call(callee: Name f GeneratorComprehension(element: Name x for(target: Name x in: "
            "Name y)))");
}

TEST(ParseExpr, Displays) {
  EXPECT_EQ(flat("(), (a,), (a), [a, *b], {a, b}"),
            "Tuple(Tuple Tuple(Name a) Name a List(Name a Starred(Name b)) Set(Name a Name b))");
  EXPECT_EQ(flat("{}, {1: 2, **d,}"), "Tuple(Dict Dict(key: Int 1 value: Int 2 **: Name d))");
  EXPECT_EQ(flat("[a for a, b in c if d if e for f in g]"),
            "ListComprehension(element: Name a for(target: Tuple(Name a Name b) in: Name c if: "
            "Name d if: Name e) for(target: Name f in: Name g))");
  EXPECT_EQ(flat("{k: v for k in x}"),
            "DictComprehension(key: Name k value: Name v for(target: Name k in: Name x))");
  EXPECT_EQ(flat("{k async for k in x}"),
            "SetComprehension(element: Name k async for(target: Name k in: Name x))");
}

TEST(ParseExpr, LambdaAwaitYield) {
  EXPECT_EQ(flat("lambda x, *a, k=1, **kw: x"),
            "Lambda(parameter x parameter *a parameter keyword-only k(default: Int 1) "
            "parameter **kw body: Name x)");
  EXPECT_EQ(flat("await f() ** 2"), "Binary **(Await(Call(callee: Name f)) Int 2)");
  EXPECT_EQ(flat("(yield)"), "Yield");
  EXPECT_EQ(flat("x = yield a, b"), "Assign(target: Name x value: Yield(Tuple(Name a Name b)))");
  EXPECT_EQ(flat("yield from x"), "Yield from(Name x)");
}

TEST(ParseStmt, Simple) {
  EXPECT_EQ(flat("a = b[0], *c = d"), "Assign(target: Name a target: Tuple(Subscript(Name b "
                                      "index: Int 0) Starred(Name c)) value: Name d)");
  EXPECT_EQ(flat("*a, b = c"), "Assign(target: Tuple(Starred(Name a) Name b) value: Name c)");
  EXPECT_EQ(flat("a.b //= 2"), "AugAssign //=(target: Attribute b(Name a) value: Int 2)");
  EXPECT_EQ(flat("x: tl.constexpr = 1"),
            "AnnAssign(target: Name x annotation: Attribute constexpr(Name tl) value: Int 1)");
  EXPECT_EQ(flat("x: int"), "AnnAssign(target: Name x annotation: Name int)");
  EXPECT_EQ(flat("assert a, 'm'"), "Assert(condition: Name a message: String \"m\")");
  EXPECT_EQ(flat("raise A from b"), "Raise(value: Name A from: Name b)");
  EXPECT_EQ(flat("del a, b[0]"), "Delete(Name a Subscript(Name b index: Int 0))");
  EXPECT_EQ(flat("global a, b"), "Global a, b");
  EXPECT_EQ(flat("pass; pass;"), "Pass Pass");
  EXPECT_EQ(flat("while a: break; continue;"), "While(condition: Name a body(Break Continue))");
  EXPECT_EQ(flat("import a.b as c, d"), "Import(a.b as c d)");
  EXPECT_EQ(flat("from ...a.b import (c as d, e,)"), "ImportFrom ...a.b(c as d e)");
  EXPECT_EQ(flat("from . import *"), "ImportFrom .(*)");
  EXPECT_EQ(flat("type X[T] = list[T]"), "TypeAlias");
  EXPECT_EQ(flat("type = match = case = 1"),
            "Assign(target: Name type target: Name match target: Name case value: Int 1)");
}

TEST(ParseStmt, ControlFlow) {
  EXPECT_EQ(flat("if a: b\nelif c:\n  d\nelse:\n  pass"),
            "If(condition: Name a then(Expr(Name b)) else(If(condition: Name c then(Expr(Name d)) "
            "else(Pass))))");
  EXPECT_EQ(flat("for i, j in a, b:\n  pass\nelse:\n  pass"),
            "For(target: Tuple(Name i Name j) in: Tuple(Name a Name b) body(Pass) else(Pass))");
  EXPECT_EQ(flat("while x := f():\n  continue"),
            "While(condition: NamedExpr x(Call(callee: Name f)) body(Continue))");
  EXPECT_EQ(flat("try:\n  a\nexcept (B, C) as e:\n  d\nexcept:\n  e\nelse:\n  f\nfinally:\n  g"),
            "Try(body(Expr(Name a)) except: e(type: Tuple(Name B Name C) body(Expr(Name d))) "
            "except(body(Expr(Name e))) else(Expr(Name f)) finally(Expr(Name g)))");
  EXPECT_EQ(flat("with a as b, c: pass"), "With(item: Name a as: Name b item: Name c body(Pass))");
  EXPECT_EQ(flat("with (a as b, c,): pass"),
            "With(item: Name a as: Name b item: Name c body(Pass))");
  EXPECT_EQ(flat("with (a, b) as c: pass"),
            "With(item: Tuple(Name a Name b) as: Name c body(Pass))");
  EXPECT_EQ(flat("match x:\n  case [1, *_]:\n    pass\n  case _:\n    pass\ny"),
            "Match Expr(Name y)");
  EXPECT_EQ(flat("pass\nmatch(x)\nmatch[0] = 1"),
            "Pass Expr(Call(callee: Name match Name x)) Assign(target: Subscript(Name match index: "
            "Int 0) value: Int 1)");
}

TEST(ParseStmt, FunctionsAndClasses) {
  EXPECT_EQ(flat("@triton.jit\n@d(1)\ndef f(a, /, b: 'i32' = 1, *c: x, d, **e) -> r:\n  pass"),
            "FunctionDef f(decorator: Attribute jit(Name triton) decorator: Call(callee: Name d "
            "Int 1) parameter positional-only a parameter b(annotation: String \"i32\" default: "
            "Int 1) parameter *c(annotation: Name x) parameter keyword-only d parameter **e "
            "returns: Name r body(Pass))");
  EXPECT_EQ(flat("async def f[T: int, *Ts, **P](): await g()"),
            "AsyncFunctionDef f(body(Expr(Await(Call(callee: Name g)))))");
  EXPECT_EQ(flat("class A[T](B, metaclass=M): x = 1"),
            "ClassDef A(base: Name B metaclass=: Name M body(Assign(target: Name x value: "
            "Int 1)))");
  EXPECT_EQ(flat("async def f():\n async for x in y:\n  pass\n async with z: pass"),
            "AsyncFunctionDef f(body(AsyncFor(target: Name x in: Name y body(Pass)) "
            "AsyncWith(item: Name z body(Pass))))");
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

TEST(Ranges, ExpressionsCoverExactlyTheirText) {
  Parsed sum("  (a + b) * -c.d[1]  # x");
  EXPECT_TRUE(sum.diagnostics.hasErrors()) << "indented without a block";
  Parsed p("(a + b) * -c.d[1, 2:3]  # x\n");
  const auto &product = p.expr<Binary>();
  EXPECT_EQ(p.textOf(product.range), "(a + b) * -c.d[1, 2:3]");
  EXPECT_EQ(p.textOf(product.lhs->range), "a + b") << "grouping leaves no trace";
  EXPECT_EQ(p.textOf(product.rhs->range), "-c.d[1, 2:3]");
  const auto &subscript = llvm::cast<Subscript>(*llvm::cast<Unary>(*product.rhs).operand);
  EXPECT_EQ(p.textOf(subscript.range), "c.d[1, 2:3]");
  EXPECT_EQ(p.textOf(subscript.index->range), "1, 2:3");
  EXPECT_EQ(p.textOf(llvm::cast<Attribute>(*subscript.value).nameRange), "d");
}

TEST(Ranges, CallsAndKeywords) {
  Parsed p("f(a, key = (1), *r)(x for x in y)\n");
  const auto &outer = p.expr<Call>();
  EXPECT_EQ(p.textOf(outer.args.at(0)->range), "x for x in y");
  const auto &inner = llvm::cast<Call>(*outer.callee);
  EXPECT_EQ(p.textOf(inner.range), "f(a, key = (1), *r)");
  EXPECT_EQ(p.textOf(inner.args.at(1)->range), "*r");
  EXPECT_EQ(p.textOf(inner.keywords.at(0).nameRange), "key");
  EXPECT_EQ(p.textOf(inner.keywords.at(0).value->range), "1");
}

TEST(Ranges, StatementsCoverTheirBodies) {
  Parsed p("@jit\ndef f(x: 'a', y=2):\n  if x:\n    y\n  elif z: w\n\n# end\nq = 1\n");
  const auto &function = p.stmt<FunctionDef>();
  EXPECT_EQ(p.textOf(function.range), "def f(x: 'a', y=2):\n  if x:\n    y\n  elif z: w");
  EXPECT_EQ(p.textOf(function.nameRange), "f");
  EXPECT_EQ(p.textOf(function.params.at(1).range), "y");
  const auto &branch = llvm::cast<If>(*function.body.at(0));
  EXPECT_EQ(p.textOf(branch.range), "if x:\n    y\n  elif z: w");
  EXPECT_EQ(p.textOf(branch.otherwise.at(0)->range), "elif z: w");
  EXPECT_EQ(p.textOf(p.module.body.at(1)->range), "q = 1");
}

TEST(Ranges, FStringPartsPointIntoTheFile) {
  Parsed p("f'ab{x.y:>{w}}' 'c'\n");
  const auto &string = p.expr<FString>();
  EXPECT_EQ(p.textOf(string.range), "f'ab{x.y:>{w}}' 'c'");
  EXPECT_EQ(p.textOf(string.parts.at(1).expr->range), "x.y");
  EXPECT_EQ(p.textOf(string.parts.at(1).format->parts.at(1).expr->range), "w");
}

TEST(ParseExpression, TakesOneExpression) {
  auto parseOne = [](std::string text) {
    tile::frontend::SourceFile file("option", std::move(text));
    tile::frontend::DiagnosticEngine diagnostics;
    auto e = tile::frontend::parseExpression(file, diagnostics);
    return e ? "ok" : diagnostics.all().at(0).message;
  };
  EXPECT_EQ(parseOne("[1, 2]"), "ok");
  EXPECT_EQ(parseOne("  1 + 2 \n"), "ok");
  EXPECT_EQ(parseOne(""), "expected an expression, found end of file");
  EXPECT_EQ(parseOne("1 2"), "expected the end of the expression, found `2`");
  EXPECT_EQ(parseOne("x = 1"),
            "expected the end of the expression, found `=`; comparison is written `==`");
}

} // namespace
