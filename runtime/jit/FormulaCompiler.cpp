//===- FormulaCompiler.cpp - functions of a file that run at every launch -===//
#include "runtime/jit/FormulaCompiler.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

using namespace tile;
using namespace tile::jit;
using dispatch::Step;
using eval::EvalError;
using eval::PyValue;
using eval::Result;
using Kind = PyValue::Kind;
using ErrorPtr = std::unique_ptr<EvalError>;

namespace {

/// What an expression came to: a value that is known, an argument, the dict of all of
/// them, or steps that push a number.
struct Piece {
  enum class Form { Known, Argument, Arguments, Steps } form = Form::Known;
  PyValue known;
  unsigned argument = 0;
  std::vector<Step> steps;
  unsigned depth = 1; ///< of the stack while they run
  bool isTruth = false;
};

/// Longer than anything that is meant; names that are used twice are computed twice.
constexpr size_t kMostSteps = 2048;
constexpr unsigned kDeepest = 64;

using Variables = std::map<std::string, Piece>;

class FormulaCompiler {
public:
  FormulaCompiler(eval::Evaluator &evaluator, const FormulaNames &names)
      : evaluator(evaluator), names(names) {}

  ErrorPtr function(const eval::FunctionObject &function, const frontend::SourceFile &source,
                    std::vector<Piece> given, std::vector<Piece> &results);
  /// Makes it push a number.
  ErrorPtr materialise(Piece &piece);

private:
  ErrorPtr body(const ast::Body &statements, size_t at, Variables variables,
                std::vector<Piece> &results);
  ErrorPtr branch(const ast::If &statement, const ast::Body &rest, size_t at,
                  const Variables &variables, std::vector<Piece> &results);
  ErrorPtr results(const ast::Expr &expr, const Variables &variables, std::vector<Piece> &out);
  /// With its place added to errors.
  ErrorPtr expression(const ast::Expr &expr, const Variables &variables, Piece &out);
  ErrorPtr dispatchOn(const ast::Expr &expr, const Variables &variables, Piece &out);
  ErrorPtr name(const ast::Name &name, const Variables &variables, Piece &out);
  ErrorPtr subscript(const ast::Subscript &access, const Variables &variables, Piece &out);
  ErrorPtr call(const ast::Call &call, const Variables &variables, Piece &out);
  ErrorPtr builtin(llvm::StringRef name, const ast::Call &call, std::vector<Piece> args,
                   Piece &out);
  ErrorPtr ceiling(const ast::Call &call, const Variables &variables, Piece &out);
  ErrorPtr compare(const ast::Compare &compare, const Variables &variables, Piece &out);
  ErrorPtr comparison(ast::CompareOp op, Piece a, Piece b, Piece &out);
  ErrorPtr choose(Piece condition, Piece then, Piece otherwise, Piece &out);
  ErrorPtr combine(Step::Op op, Piece a, Piece b, Piece &out);
  ErrorPtr apply(Step::Op op, Piece a, Piece &out);
  Result evaluate(const ast::Expr &expr);

  eval::Evaluator &evaluator;
  const FormulaNames &names;
  eval::ModuleEnv *module = nullptr;
  const frontend::SourceFile *text = nullptr; ///< of what is being compiled
  unsigned depth = 0;
};

} // namespace

static ErrorPtr tooLarge() { return eval::unsupported("this is too large to run at every launch"); }
static ErrorPtr notSupported(const char *what) {
  return eval::unsupported(std::string(what) +
                           " cannot run at every launch: integers, comparisons, `min`, `max`, "
                           "`triton.cdiv`, `triton.next_power_of_2` and calls of functions made "
                           "of these can");
}

static Piece known(PyValue value) {
  Piece piece;
  piece.known = std::move(value);
  return piece;
}

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
      return eval::fail("an integer is needed here, got " + eval::repr(piece.known));
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
    return eval::fail("`" + function.name() + "` takes " +
                      std::to_string(function.params().size()) + " arguments, got " +
                      std::to_string(given.size()));
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
  if (auto *node = llvm::dyn_cast<ast::Conditional>(&expr)) {
    Piece condition, then, otherwise;
    if (ErrorPtr error = expression(*node->condition, variables, condition))
      return error;
    if (ErrorPtr error = expression(*node->then, variables, then))
      return error;
    if (ErrorPtr error = expression(*node->otherwise, variables, otherwise))
      return error;
    return choose(std::move(condition), std::move(then), std::move(otherwise), out);
  }
  if (auto *node = llvm::dyn_cast<ast::BoolOp>(&expr)) {
    // Python's: the value that decided, which is one of the operands.
    if (ErrorPtr error = expression(*node->values.back(), variables, out))
      return error;
    for (const ast::ExprPtr &value : llvm::reverse(llvm::ArrayRef(node->values).drop_back())) {
      Piece first, last = std::move(out);
      if (ErrorPtr error = expression(*value, variables, first))
        return error;
      if (ErrorPtr error = node->isAnd ? choose(first, std::move(last), first, out)
                                       : choose(first, first, std::move(last), out))
        return error;
    }
    return nullptr;
  }
  if (auto *node = llvm::dyn_cast<ast::Binary>(&expr)) {
    Piece a, b;
    if (ErrorPtr error = expression(*node->lhs, variables, a))
      return error;
    if (ErrorPtr error = expression(*node->rhs, variables, b))
      return error;
    if (a.form == Piece::Form::Known && b.form == Piece::Form::Known) {
      Result value = eval::binary(node->op, a.known, b.known);
      if (!value)
        return value.takeError();
      out = known(value.take());
      return nullptr;
    }
    std::optional<Step::Op> op = stepOf(node->op);
    if (!op)
      return notSupported(node->op == ast::BinaryOp::Div ? "`/`, which makes floats,"
                                                         : "this operator");
    return combine(*op, std::move(a), std::move(b), out);
  }
  if (auto *node = llvm::dyn_cast<ast::Unary>(&expr)) {
    Piece operand;
    if (ErrorPtr error = expression(*node->operand, variables, operand))
      return error;
    if (operand.form == Piece::Form::Known) {
      Result value = eval::unary(node->op, operand.known);
      if (!value)
        return value.takeError();
      out = known(value.take());
      return nullptr;
    }
    if (node->op == ast::UnaryOp::Pos) {
      out = std::move(operand);
      return materialise(out);
    }
    return apply(node->op == ast::UnaryOp::Neg   ? Step::Negate
                 : node->op == ast::UnaryOp::Not ? Step::Not
                                                 : Step::Invert,
                 std::move(operand), out);
  }
  Result value = evaluate(expr);
  if (!value)
    return value.takeError();
  out = known(value.take());
  return nullptr;
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
  std::vector<llvm::StringRef> candidates;
  for (const auto &entry : names.arguments)
    candidates.push_back(entry.first());
  for (const auto &entry : names.constants)
    candidates.push_back(entry.first());
  std::string message = "there is no argument `" + wanted + "`";
  if (llvm::StringRef near = frontend::nearestName(wanted, candidates); !near.empty())
    message += "; did you mean `" + near.str() + "`?";
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
  return notSupported(("`" + name.str() + "` of arguments").c_str());
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
        return eval::unsupported("`" + method->name +
                                 "` of an argument is not known: a launch "
                                 "is given addresses and numbers, no tensors");
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
