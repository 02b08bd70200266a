//===- FormulaCompiler.cpp - functions of a file that run at every launch -===//
#include "runtime/jit/FormulaImpl.h"
#include "text/Format.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace tile;
using namespace tile::jit;
using namespace tile::jit::formula;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

ErrorPtr FormulaCompiler::materialise(Piece &piece) {
  switch (piece.form) {
  case Piece::Form::Steps:
    return nullptr;
  case Piece::Form::Arguments:
    return eval::fail("the arguments themselves are no number");
  case Piece::Form::Argument:
    piece.steps = {{Step::Argument, piece.argument}};
    break;
  case Piece::Form::Known: {
    std::optional<int64_t> number = piece.known.toInt64();
    if (!number)
      return eval::fail(formatted("an integer is needed here, got {}", eval::repr(piece.known)));
    piece.isTruth = piece.known.is(Kind::Bool);
    piece.steps = {{Step::Constant, *number}};
    break;
  }
  }
  piece.form = Piece::Form::Steps;
  piece.depth = 1;
  return nullptr;
}

ErrorPtr FormulaCompiler::combine(Step::Op op, Piece a, Piece b, Piece &out) {
  if (ErrorPtr error = materialise(a))
    return error;
  if (ErrorPtr error = materialise(b))
    return error;
  out = std::move(a);
  out.depth = std::max(out.depth, b.depth + 1);
  out.steps.insert(out.steps.end(), b.steps.begin(), b.steps.end());
  out.steps.push_back({op, 0});
  out.isTruth =
      op == Step::Equal || op == Step::NotEqual || op == Step::Less || op == Step::LessEqual;
  if (out.steps.size() > kMostSteps || out.depth > dispatch::kFormulaStack)
    return tooLarge();
  return nullptr;
}

ErrorPtr FormulaCompiler::apply(Step::Op op, Piece a, Piece &out) {
  if (ErrorPtr error = materialise(a))
    return error;
  out = std::move(a);
  out.steps.push_back({op, 0});
  out.isTruth = op == Step::Not;
  return nullptr;
}

ErrorPtr FormulaCompiler::choose(Piece condition, Piece then, Piece otherwise, Piece &out) {
  if (condition.form == Piece::Form::Known) {
    Result truth = eval::truth(condition.known);
    if (!truth)
      return truth.takeError();
    out = truth->asBool() ? std::move(then) : std::move(otherwise);
    return nullptr;
  }
  for (Piece *piece : {&condition, &then, &otherwise})
    if (ErrorPtr error = materialise(*piece))
      return error;
  out = std::move(condition);
  out.depth = std::max({out.depth, then.depth, otherwise.depth});
  out.isTruth = then.isTruth && otherwise.isTruth;
  out.steps.push_back({Step::JumpIfZero, int64_t(then.steps.size()) + 1});
  out.steps.insert(out.steps.end(), then.steps.begin(), then.steps.end());
  out.steps.push_back({Step::Jump, int64_t(otherwise.steps.size())});
  out.steps.insert(out.steps.end(), otherwise.steps.begin(), otherwise.steps.end());
  return out.steps.size() > kMostSteps ? tooLarge() : nullptr;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

ErrorPtr FormulaCompiler::function(const eval::FunctionObject &function,
                                   const frontend::SourceFile &source, std::vector<Piece> given,
                                   std::vector<Piece> &out) {
  if (++depth > kDeepest)
    return tooLarge();
  llvm::SaveAndRestore inModule(module, function.module);
  llvm::SaveAndRestore inText(text, &source);
  Variables variables;
  if (given.size() != function.params().size())
    return eval::fail(formatted("`{}` takes {} arguments, got {}", function.name(),
                                function.params().size(), given.size()));
  for (auto [parameter, piece] : llvm::zip(function.params(), given))
    variables[parameter.name] = std::move(piece);
  ErrorPtr error = function.lambda ? results(*function.lambda->body, variables, out)
                                   : body(function.def->body, 0, std::move(variables), out);
  --depth;
  return error;
}

ErrorPtr FormulaCompiler::body(const ast::Body &statements, size_t at, Variables variables,
                               std::vector<Piece> &out) {
  for (; at < statements.size(); ++at) {
    const ast::Stmt &statement = *statements[at];
    auto place = [&](ErrorPtr error) {
      return Result(std::move(error)).at(*text, statement.range).takeError();
    };
    if (auto *value = llvm::dyn_cast<ast::Return>(&statement)) {
      if (!value->value)
        return place(eval::fail("a value has to be returned"));
      return results(*value->value, variables, out);
    }
    if (auto *condition = llvm::dyn_cast<ast::If>(&statement))
      return branch(*condition, statements, at + 1, variables, out);
    auto *text = llvm::dyn_cast<ast::ExprStmt>(&statement);
    if (statement.kind == ast::Stmt::Kind::Pass || (text && llvm::isa<ast::Constant>(*text->value)))
      continue; // a docstring
    auto *assign = llvm::dyn_cast<ast::Assign>(&statement);
    auto *target = assign && assign->targets.size() == 1
                       ? llvm::dyn_cast<ast::Name>(assign->targets[0].get())
                       : nullptr;
    if (!target)
      return place(notSupported("this statement"));
    Piece piece;
    if (ErrorPtr error = expression(*assign->value, variables, piece))
      return error;
    variables[target->id] = std::move(piece);
  }
  return eval::fail("a value has to be returned");
}

/// What stands behind an `if` belongs to both of its branches.
ErrorPtr FormulaCompiler::branch(const ast::If &statement, const ast::Body &rest, size_t at,
                                 const Variables &variables, std::vector<Piece> &out) {
  Piece condition;
  if (ErrorPtr error = expression(*statement.condition, variables, condition))
    return error;
  auto ends = [](const ast::Body &body) {
    return !body.empty() && llvm::isa<ast::Return>(*body.back());
  };
  auto place = [&](ErrorPtr error) {
    return Result(std::move(error)).at(*text, statement.range).takeError();
  };
  if (!ends(statement.then))
    return place(notSupported("an `if` that does not end with `return`"));
  std::vector<Piece> then, otherwise;
  if (ErrorPtr error = body(statement.then, 0, variables, then))
    return error;
  bool fallsThrough = statement.otherwise.empty();
  if (ErrorPtr error = fallsThrough ? body(rest, at, variables, otherwise)
                                    : body(statement.otherwise, 0, variables, otherwise))
    return error;
  if (then.size() != otherwise.size())
    return place(eval::fail("the branches return different numbers of values"));
  for (auto [a, b] : llvm::zip(then, otherwise))
    if (ErrorPtr error = choose(condition, std::move(a), std::move(b), out.emplace_back()))
      return place(std::move(error));
  return nullptr;
}

ErrorPtr FormulaCompiler::results(const ast::Expr &expr, const Variables &variables,
                                  std::vector<Piece> &out) {
  auto *sequence = llvm::dyn_cast<ast::Sequence>(&expr);
  if (!sequence) {
    Piece piece;
    if (ErrorPtr error = expression(expr, variables, piece))
      return error;
    if (piece.form == Piece::Form::Known && piece.known.isSequence())
      for (const PyValue &element : piece.known.elements())
        out.push_back(known(element));
    else
      out.push_back(std::move(piece));
    return nullptr;
  }
  for (const ast::ExprPtr &element : sequence->elements)
    if (ErrorPtr error = expression(*element, variables, out.emplace_back()))
      return error;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The way in
//===----------------------------------------------------------------------===//

ErrorPtr jit::compileFormula(eval::Evaluator &evaluator, const eval::FunctionObject &function,
                             const frontend::SourceFile *text, const FormulaNames &names,
                             Formula &out) {
  const frontend::SourceFile &source = text ? *text : function.module->source();
  FormulaCompiler compiler(evaluator, names);
  Piece arguments;
  arguments.form = Piece::Form::Arguments;
  std::vector<Piece> results;
  auto place = [&](ErrorPtr error) {
    return Result(std::move(error)).at(source, function.range()).takeError();
  };
  if (ErrorPtr error = compiler.function(function, source, {arguments}, results))
    return place(std::move(error));
  out = Formula();
  unsigned below = 0;
  for (Piece &piece : results) {
    if (ErrorPtr error = compiler.materialise(piece))
      return place(std::move(error));
    if (piece.depth + below++ > dispatch::kFormulaStack)
      return place(tooLarge());
    out.isTruth = piece.isTruth;
    llvm::append_range(out.steps, piece.steps);
  }
  out.results = unsigned(results.size());
  return nullptr;
}
