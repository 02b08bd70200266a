//===- Signature.cpp - annotations, and the sizes of a call ---------------===//
#include "frontend/tensors/Signature.h"
#include "frontend/Counted.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;
using eval::DType;
using eval::EvalError;
using eval::fail;
using eval::PyValue;
using eval::Result;
using graph::Size;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

/// `tensor`, `tile.tensor`
static bool namesTensor(const ast::Expr &expr) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&expr))
    return name->id == "tensor";
  auto *attribute = llvm::dyn_cast<ast::Attribute>(&expr);
  return attribute && attribute->name == "tensor";
}

static std::unique_ptr<EvalError> at(std::unique_ptr<EvalError> error,
                                     const eval::FunctionObject &function, ast::SourceRange range) {
  if (!error->diagnostic.file) {
    error->diagnostic.file = &function.module->source();
    error->diagnostic.range = range;
  }
  return error;
}

/// A type by its name in signatures (`fp16`) or as a value (`tl.float16`).
static std::optional<DType> readType(eval::Evaluator &evaluator,
                                     const eval::FunctionObject &function, const ast::Expr &expr) {
  std::optional<DType> type;
  if (auto *name = llvm::dyn_cast<ast::Name>(&expr); name && !function.module->binds(name->id))
    type = DType::parse(name->id == "bool" ? "int1" : name->id);
  if (!type) {
    Result value =
        evaluator.evaluate(expr, eval::StatementRunner::scopeAbove(function, expr.range));
    if (value && value->is(PyValue::Kind::DType))
      type = value->asDType();
    else if (value && value->isStr())
      type = DType::parse(value->asStr());
    else if (value && value->is(eval::PyValue::Kind::Symbol)) // `from tile import fp32`
      type = DType::parse(llvm::StringRef(value->asSymbol()).rsplit('.').second);
  }
  return type && (type->isInt() || type->isFloating()) ? type : std::nullopt;
}

static std::unique_ptr<EvalError> readTensor(eval::Evaluator &evaluator,
                                             const eval::FunctionObject &function,
                                             const ast::Expr &index, Parameter &out) {
  out.kind = Parameter::Kind::Tensor;
  const ast::Expr *sizes = &index, *type = nullptr;
  if (auto *several = llvm::dyn_cast<ast::Sequence>(&index);
      several && index.kind == ast::Expr::Kind::Tuple) {
    if (several->elements.size() != 2)
      return fail("a tensor is `tensor[\"M, N\", fp16]`: its sizes in one string, then the type of "
                  "its elements");
    sizes = several->elements[0].get();
    type = several->elements[1].get();
  }
  auto *text = llvm::dyn_cast<ast::Constant>(sizes);
  if (!text || text->type != ast::Constant::Type::String)
    return fail("sizes are written in one string: `tensor[\"M, N\", fp16]`");
  std::string error;
  std::optional<graph::Sizes> parsed = graph::parseSizes(text->text, error);
  if (!parsed)
    return at(fail(formatted("the sizes \"{}\": {}; sizes are names, numbers and what `+`, `-`, "
                             "`*` and `//` make of them",
                             text->text, error)),
              function, text->range);
  for (const Size &size : *parsed)
    if (size.constant().value_or(0) < 0)
      return at(fail(formatted("the sizes \"{}\": no size is {}; a name stands for any size",
                               text->text, *size.constant())),
                function, text->range);
  out.sizes = *parsed;
  if (!type)
    return nullptr;
  out.element = readType(evaluator, function, *type);
  if (!out.element)
    return at(fail("this is no type of elements; `fp16`, `bf16`, `fp32`, `int32` and `tl.float16` "
                   "are some"),
              function, type->range);
  return nullptr;
}

static std::unique_ptr<EvalError> readParameter(eval::Evaluator &evaluator,
                                                const eval::FunctionObject &function,
                                                const ast::Parameter &parameter, Parameter &out) {
  out.name = parameter.name;
  out.range = parameter.range;
  if (parameter.kind == ast::Parameter::Kind::VarArgs ||
      parameter.kind == ast::Parameter::Kind::KwArgs)
    return fail("a function of whole tensors has no `*` and `**` parameters");
  const ast::Expr *annotation = parameter.annotation.get();
  if (!annotation || eval::isConstexprAnnotation(annotation, function.module))
    return nullptr;
  if (namesTensor(*annotation))
    return fail(formatted("say the sizes of the tensor: `{}: tensor[\"M, N\", fp16]`", out.name));
  if (auto *subscript = llvm::dyn_cast<ast::Subscript>(annotation);
      subscript && namesTensor(*subscript->value))
    return readTensor(evaluator, function, *subscript->index, out);
  if (auto *name = llvm::dyn_cast<ast::Name>(annotation)) {
    if (name->id == "float" || name->id == "int") {
      out.kind = Parameter::Kind::Number;
      out.element = name->id == "float" ? DType::Kind::Float32 : DType::Kind::Int32;
      return nullptr;
    }
    if (name->id == "bool" || name->id == "str")
      return nullptr; // a constant
  }
  out.element = readType(evaluator, function, *annotation);
  if (!out.element)
    return at(fail(formatted("`{}` is neither a tensor (`tensor[\"M, N\", fp16]`), nor a number "
                             "(`float`, `int`, `tl.float32`), nor a constant (`tl.constexpr`)",
                             out.name)),
              function, annotation->range);
  out.kind = Parameter::Kind::Number;
  return nullptr;
}

std::unique_ptr<EvalError> tensors::readSignature(eval::Evaluator &evaluator,
                                                  const eval::FunctionObject &function,
                                                  Signature &out) {
  for (const ast::Parameter &parameter : function.params())
    if (auto error = readParameter(evaluator, function, parameter, out.parameters.emplace_back()))
      return at(std::move(error), function, parameter.range);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The sizes of a call
//===----------------------------------------------------------------------===//

static std::string shapeOf(llvm::ArrayRef<int64_t> shape) {
  return graph::shapeText(graph::Sizes(shape.begin(), shape.end()));
}

namespace {
class Binder {
public:
  Binder(const Signature &signature, llvm::ArrayRef<Argument> arguments, StringRef function,
         graph::Bindings &bindings)
      : signature(signature), arguments(arguments), function(function), bindings(bindings) {}

  std::unique_ptr<EvalError> run() {
    for (auto [i, parameter] : llvm::enumerate(signature.parameters))
      if (auto error = checkRank(i, parameter))
        return error;
    // What is a name alone first: formulas count on them.
    forEachSize([&](size_t i, size_t d, const Size &size) {
      if (std::optional<std::string> name = size.name())
        define(*name, arguments[i].shape[d], i);
    });
    for (bool found = true; found;) {
      found = false;
      forEachSize([&](size_t i, size_t d, const Size &size) {
        std::set<std::string> names;
        size.collectNames(names);
        std::erase_if(names, [&](auto &name) { return bindings.count(name); });
        bool isWhole = true;
        if (names.size() != 1)
          return;
        auto value = size.solveFor(*names.begin(), arguments[i].shape[d], bindings, isWhole);
        if (value && isWhole) {
          define(*names.begin(), *value, i);
          found = true;
        }
      });
    }
    std::unique_ptr<EvalError> error;
    forEachSize([&](size_t i, size_t d, const Size &size) {
      if (!error)
        error = check(i, d, size);
    });
    return error;
  }

private:
  template <typename Fn> void forEachSize(Fn fn) {
    for (auto [i, parameter] : llvm::enumerate(signature.parameters))
      for (auto [d, size] : llvm::enumerate(parameter.sizes))
        fn(i, d, size);
  }
  void define(const std::string &name, int64_t value, size_t parameter) {
    if (bindings.emplace(name, value).second)
      definedBy[name] = parameter;
  }
  std::string describe(size_t i) {
    const Parameter &parameter = signature.parameters[i];
    return formatted("`{}` is {}, and has the shape {}", parameter.name,
                     graph::shapeText(parameter.sizes), shapeOf(arguments[i].shape));
  }
  std::unique_ptr<EvalError> checkRank(size_t i, const Parameter &parameter) {
    if (parameter.kind != Parameter::Kind::Tensor ||
        parameter.sizes.size() == arguments[i].shape.size())
      return nullptr;
    return fail(formatted("`{}` of `{}` has {}, {}, got a tensor of shape {}", parameter.name,
                          function, tile::counted(parameter.sizes.size(), "dimension"),
                          graph::shapeText(parameter.sizes), shapeOf(arguments[i].shape)),
                "ValueError");
  }
  std::unique_ptr<EvalError> check(size_t i, size_t d, const Size &size) {
    std::optional<int64_t> value = size.evaluate(bindings);
    int64_t given = arguments[i].shape[d];
    if (value == given)
      return nullptr;
    std::string message =
        formatted("dimension {} of `{}` is `{}`, ", d, signature.parameters[i].name, size);
    if (!value)
      return fail(formatted("{}which the shapes of this call do not decide", message),
                  "ValueError");
    message += formatted("which is {}, but has size {}: {}", *value, given, describe(i));
    std::set<std::string> names;
    size.collectNames(names);
    std::set<size_t> told = {i};
    for (const std::string &name : names)
      if (auto it = definedBy.find(name); it != definedBy.end() && told.insert(it->second).second)
        message += formatted("; {}", describe(it->second));
    return fail(message, "ValueError");
  }

  const Signature &signature;
  llvm::ArrayRef<Argument> arguments;
  StringRef function;
  graph::Bindings &bindings;
  std::map<std::string, size_t> definedBy;
};
} // namespace

std::unique_ptr<EvalError> tensors::bindSizes(const Signature &signature,
                                              llvm::ArrayRef<Argument> arguments,
                                              StringRef function, graph::Bindings &out) {
  return Binder(signature, arguments, function, out).run();
}
