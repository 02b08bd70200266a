//===- FormulaExpressions.cpp - expressions of formulas --------------------===//
#include "runtime/jit/FormulaImpl.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::jit;
using namespace tile::jit::formula;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

ErrorPtr FormulaCompiler::expression(const ast::Expr &expr, const Variables &variables,
                                     Piece &out) {
  if (++depth > kDeepest)
    return tooLarge();
  ErrorPtr error = dispatchOn(expr, variables, out);
  --depth;
  return error ? Result(std::move(error)).at(*text, expr.range).takeError() : nullptr;
}

Result FormulaCompiler::evaluate(const ast::Expr &expr) {
  Result value = evaluator.evaluate(expr, eval::Evaluator::makeScope(*module));
  if (value || text == &module->source())
    return value;
  // The evaluator takes every place for one in the module's file.
  ErrorPtr error = value.takeError();
  error->diagnostic.file = text;
  return error;
}

static std::optional<Step::Op> stepOf(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return Step::Add;
  case ast::BinaryOp::Sub:
    return Step::Sub;
  case ast::BinaryOp::Mul:
    return Step::Mul;
  case ast::BinaryOp::FloorDiv:
    return Step::FloorDiv;
  case ast::BinaryOp::Mod:
    return Step::Mod;
  case ast::BinaryOp::Pow:
    return Step::Pow;
  case ast::BinaryOp::LShift:
    return Step::ShiftLeft;
  case ast::BinaryOp::RShift:
    return Step::ShiftRight;
  case ast::BinaryOp::And:
    return Step::And;
  case ast::BinaryOp::Or:
    return Step::Or;
  case ast::BinaryOp::Xor:
    return Step::Xor;
  default:
    return std::nullopt;
  }
}

ErrorPtr FormulaCompiler::dispatchOn(const ast::Expr &expr, const Variables &variables,
                                     Piece &out) {
  if (auto *node = llvm::dyn_cast<ast::Name>(&expr))
    return name(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::Subscript>(&expr))
    return subscript(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::Call>(&expr))
    return call(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::Compare>(&expr))
    return compare(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::Conditional>(&expr))
    return conditional(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::BoolOp>(&expr))
    return decided(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::Binary>(&expr))
    return binary(*node, variables, out);
  if (auto *node = llvm::dyn_cast<ast::Unary>(&expr))
    return unary(*node, variables, out);
  Result value = evaluate(expr);
  if (!value)
    return value.takeError();
  out = known(value.take());
  return nullptr;
}

ErrorPtr FormulaCompiler::conditional(const ast::Conditional &node, const Variables &variables,
                                      Piece &out) {
  Piece condition, then, otherwise;
  if (ErrorPtr error = expression(*node.condition, variables, condition))
    return error;
  if (ErrorPtr error = expression(*node.then, variables, then))
    return error;
  if (ErrorPtr error = expression(*node.otherwise, variables, otherwise))
    return error;
  return choose(std::move(condition), std::move(then), std::move(otherwise), out);
}

/// Python's `and` and `or`: the value that decided, which is one of the operands.
ErrorPtr FormulaCompiler::decided(const ast::BoolOp &node, const Variables &variables, Piece &out) {
  if (ErrorPtr error = expression(*node.values.back(), variables, out))
    return error;
  for (const ast::ExprPtr &value : llvm::reverse(llvm::ArrayRef(node.values).drop_back())) {
    Piece first, last = std::move(out);
    if (ErrorPtr error = expression(*value, variables, first))
      return error;
    if (ErrorPtr error = node.isAnd ? choose(first, std::move(last), first, out)
                                    : choose(first, first, std::move(last), out))
      return error;
  }
  return nullptr;
}

ErrorPtr FormulaCompiler::binary(const ast::Binary &node, const Variables &variables, Piece &out) {
  Piece a, b;
  if (ErrorPtr error = expression(*node.lhs, variables, a))
    return error;
  if (ErrorPtr error = expression(*node.rhs, variables, b))
    return error;
  if (a.form == Piece::Form::Known && b.form == Piece::Form::Known) {
    Result value = eval::binary(node.op, a.known, b.known);
    if (!value)
      return value.takeError();
    out = known(value.take());
    return nullptr;
  }
  std::optional<Step::Op> op = stepOf(node.op);
  if (!op)
    return notSupported(node.op == ast::BinaryOp::Div ? "`/`, which makes floats,"
                                                      : "this operator");
  return combine(*op, std::move(a), std::move(b), out);
}

ErrorPtr FormulaCompiler::unary(const ast::Unary &node, const Variables &variables, Piece &out) {
  Piece operand;
  if (ErrorPtr error = expression(*node.operand, variables, operand))
    return error;
  if (operand.form == Piece::Form::Known) {
    Result value = eval::unary(node.op, operand.known);
    if (!value)
      return value.takeError();
    out = known(value.take());
    return nullptr;
  }
  if (node.op == ast::UnaryOp::Pos) {
    out = std::move(operand);
    return materialise(out);
  }
  return apply(node.op == ast::UnaryOp::Neg   ? Step::Negate
               : node.op == ast::UnaryOp::Not ? Step::Not
                                              : Step::Invert,
               std::move(operand), out);
}

ErrorPtr FormulaCompiler::name(const ast::Name &name, const Variables &variables, Piece &out) {
  if (auto it = variables.find(name.id); it != variables.end()) {
    out = it->second;
    return nullptr;
  }
  Result value = evaluate(name);
  if (!value)
    return value.takeError();
  out = known(value.take());
  return nullptr;
}

ErrorPtr FormulaCompiler::subscript(const ast::Subscript &access, const Variables &variables,
                                    Piece &out) {
  Piece object, index;
  if (ErrorPtr error = expression(*access.value, variables, object))
    return error;
  if (ErrorPtr error = expression(*access.index, variables, index))
    return error;
  if (index.form != Piece::Form::Known)
    return notSupported("an index that depends on an argument");
  if (object.form == Piece::Form::Known) {
    Result value = eval::subscript(object.known, index.known, &evaluator);
    if (!value)
      return value.takeError();
    out = known(value.take());
    return nullptr;
  }
  if (object.form != Piece::Form::Arguments)
    return notSupported("a part of an argument");
  std::string wanted = index.known.isStr() ? index.known.asStr() : eval::repr(index.known);
  if (auto it = names.constants.find(wanted); it != names.constants.end()) {
    out = known(it->second);
    return nullptr;
  }
  if (auto it = names.arguments.find(wanted); it != names.arguments.end()) {
    out = Piece();
    out.form = Piece::Form::Argument;
    out.argument = it->second;
    return nullptr;
  }
  if (auto it = names.others.find(wanted); it != names.others.end())
    return eval::fail(
        formatted("`{}` is fixed to `{}`, which is nothing to compute with", wanted, it->second),
        "TypeError");
  std::vector<llvm::StringRef> candidates;
  for (const auto &entry : names.arguments)
    candidates.push_back(entry.first());
  for (const auto &entry : names.constants)
    candidates.push_back(entry.first());
  std::string message = formatted("there is no argument `{}`", wanted);
  if (llvm::StringRef near = frontend::nearestName(wanted, candidates); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  return eval::fail(message, "KeyError");
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

ErrorPtr FormulaCompiler::comparison(ast::CompareOp op, Piece a, Piece b, Piece &out) {
  if (a.form == Piece::Form::Known && b.form == Piece::Form::Known) {
    Result value = eval::compare(op, a.known, b.known);
    if (!value)
      return value.takeError();
    out = known(value.take());
    return nullptr;
  }
  bool isNone = b.form == Piece::Form::Known && b.known.isNone();
  if (isNone && (op == ast::CompareOp::Is || op == ast::CompareOp::IsNot ||
                 op == ast::CompareOp::Eq || op == ast::CompareOp::Ne)) {
    bool isNegated = op == ast::CompareOp::IsNot || op == ast::CompareOp::Ne;
    if (a.form != Piece::Form::Argument) { // a number is not None
      out = known(PyValue::boolean(isNegated));
      return nullptr;
    }
    out = Piece();
    out.form = Piece::Form::Steps;
    out.steps = {{Step::IsNone, a.argument}};
    out.isTruth = true;
    return isNegated ? apply(Step::Not, std::move(out), out) : nullptr;
  }
  switch (op) {
  case ast::CompareOp::Eq:
  case ast::CompareOp::Is:
    return combine(Step::Equal, std::move(a), std::move(b), out);
  case ast::CompareOp::Ne:
  case ast::CompareOp::IsNot:
    return combine(Step::NotEqual, std::move(a), std::move(b), out);
  case ast::CompareOp::Lt:
    return combine(Step::Less, std::move(a), std::move(b), out);
  case ast::CompareOp::Le:
    return combine(Step::LessEqual, std::move(a), std::move(b), out);
  case ast::CompareOp::Gt:
    return combine(Step::Less, std::move(b), std::move(a), out);
  case ast::CompareOp::Ge:
    return combine(Step::LessEqual, std::move(b), std::move(a), out);
  default:
    return notSupported("`in`");
  }
}

ErrorPtr FormulaCompiler::compare(const ast::Compare &compare, const Variables &variables,
                                  Piece &out) {
  Piece left;
  if (ErrorPtr error = expression(*compare.first, variables, left))
    return error;
  bool isFirst = true;
  for (auto [op, operand] : llvm::zip(compare.ops, compare.rest)) {
    Piece right, holds;
    if (ErrorPtr error = expression(*operand, variables, right))
      return error;
    if (ErrorPtr error = comparison(op, left, right, holds))
      return error;
    if (isFirst) {
      out = std::move(holds);
    } else {
      Piece before = std::move(out);
      if (ErrorPtr error = choose(before, std::move(holds), before, out))
        return error;
    }
    isFirst = false;
    left = std::move(right);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ErrorPtr FormulaCompiler::builtin(llvm::StringRef name, const ast::Call &call,
                                  std::vector<Piece> args, Piece &out) {
  llvm::StringRef last = name.rsplit('.').second.empty() ? name : name.rsplit('.').second;
  if (last == "cdiv" && args.size() == 2)
    return combine(Step::CeilDiv, std::move(args[0]), std::move(args[1]), out);
  if (last == "next_power_of_2" && args.size() == 1)
    return apply(Step::NextPowerOf2, std::move(args[0]), out);
  if (name == "abs" && args.size() == 1)
    return apply(Step::Absolute, std::move(args[0]), out);
  if (name == "int" && args.size() == 1) {
    out = std::move(args[0]);
    ErrorPtr error = materialise(out);
    out.isTruth = false;
    return error;
  }
  if (name == "bool" && args.size() == 1)
    return combine(Step::NotEqual, std::move(args[0]), known(PyValue::integer(0)), out);
  if ((name == "min" || name == "max") && args.size() >= 2) {
    out = std::move(args[0]);
    for (Piece &piece : llvm::MutableArrayRef(args).drop_front()) {
      Piece before = std::move(out);
      if (ErrorPtr error = combine(name == "min" ? Step::Minimum : Step::Maximum, std::move(before),
                                   std::move(piece), out))
        return error;
    }
    return nullptr;
  }
  return notSupported(formatted("`{}` of arguments", name).c_str());
}

/// `math.ceil(a / b)`: exact, where a division of floats might not be.
ErrorPtr FormulaCompiler::ceiling(const ast::Call &call, const Variables &variables, Piece &out) {
  auto *quotient = llvm::cast<ast::Binary>(call.args[0].get());
  Piece a, b;
  if (ErrorPtr error = expression(*quotient->lhs, variables, a))
    return error;
  if (ErrorPtr error = expression(*quotient->rhs, variables, b))
    return error;
  return combine(Step::CeilDiv, std::move(a), std::move(b), out);
}

ErrorPtr FormulaCompiler::call(const ast::Call &call, const Variables &variables, Piece &out) {
  // `x.data_ptr()` of an argument is its address.
  if (auto *method = llvm::dyn_cast<ast::Attribute>(call.callee.get())) {
    auto *base = llvm::dyn_cast<ast::Name>(method->value.get());
    if (llvm::isa<ast::Subscript>(*method->value) || (base && variables.count(base->id))) {
      Piece object;
      if (ErrorPtr error = expression(*method->value, variables, object))
        return error;
      if (object.form == Piece::Form::Argument && method->name == "data_ptr") {
        out = Piece();
        out.form = Piece::Form::Steps;
        out.steps = {{Step::Address, object.argument}};
        return nullptr;
      }
      if (object.form == Piece::Form::Argument)
        return eval::unsupported(formatted(
            "`{}` of an argument is not known: a launch is given addresses and numbers, no tensors",
            method->name));
    }
  }
  Result callee = evaluate(*call.callee);
  if (!callee)
    return callee.takeError();
  if (!call.keywords.empty() ||
      llvm::any_of(call.args, [](auto &arg) { return llvm::isa<ast::Starred>(*arg); }))
    return notSupported("a call with keywords or `*`");
  auto *quotient =
      call.args.size() == 1 ? llvm::dyn_cast<ast::Binary>(call.args[0].get()) : nullptr;
  if (callee->isSymbol("math.ceil") && quotient && quotient->op == ast::BinaryOp::Div)
    return ceiling(call, variables, out);
  std::vector<Piece> args(call.args.size());
  for (auto [piece, arg] : llvm::zip(args, call.args))
    if (ErrorPtr error = expression(*arg, variables, piece))
      return error;
  if (callee->is(Kind::Function) && !callee->asFunction().isJit) {
    std::vector<Piece> results;
    if (ErrorPtr error = function(callee->asFunction(), callee->asFunction().module->source(),
                                  std::move(args), results))
      return error;
    if (results.size() != 1)
      return notSupported("a call that returns several values");
    out = std::move(results[0]);
    return nullptr;
  }
  if (llvm::all_of(args, [](const Piece &p) { return p.form == Piece::Form::Known; })) {
    eval::CallArgs plain;
    for (Piece &piece : args)
      plain.positional.push_back(std::move(piece.known));
    Result value = evaluator.call(*callee, plain);
    if (!value)
      return value.takeError();
    out = known(value.take());
    return nullptr;
  }
  if (!callee->is(Kind::Symbol))
    return notSupported("this call");
  return builtin(callee->asSymbol(), call, std::move(args), out);
}
