//===- Annotations.cpp - what a kernel's parameters are said to be --------===//
#include "frontend/eval/Annotations.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::eval;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

ParameterKind eval::annotationOf(Evaluator &evaluator, const FunctionObject &kernel, size_t index) {
  ParameterKind kind;
  const ast::Expr *annotation = kernel.params()[index].annotation.get();
  if (!annotation)
    return kind;
  kind.isConstexpr = isConstexprAnnotation(annotation, kernel.module);
  Result value =
      evaluator.evaluate(*annotation, StatementRunner::scopeAbove(kernel, annotation->range));
  // Triton ignores annotations it has no use for, and so does a launch.
  if (!value)
    return kind;
  if (value->isStr()) {
    auto [name, hint] = llvm::StringRef(value->asStr()).split(':');
    llvm::StringRef text = name.trim();
    kind.folds = !hint.empty();
    if (text == "tl.const" || text == "const")
      kind.isConst = true;
    else if (std::optional<DType> type = DType::parse(text)) {
      kind.isConst = type->isConstPointer();
      kind.scalar = type;
    }
  } else if (value->is(Kind::DType)) {
    kind.scalar = value->asDType();
  } else if (value->is(Kind::Symbol)) {
    const std::string &name = value->asSymbol();
    kind.isConst = name == "tl.const";
    if (name == "int")
      kind.scalar = DType::Kind::Int32;
    else if (name == "float")
      kind.scalar = DType::Kind::Float32;
    else if (name == "bool")
      kind.scalar = DType::Kind::Int1;
  }
  kind.isPointer = kind.isConst || (kind.scalar && kind.scalar->isPointer());
  if (kind.scalar && (kind.scalar->isPointer() || kind.scalar->isVoid()))
    kind.scalar.reset();
  return kind;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<std::string> eval::constantText(const PyValue &value) {
  switch (value.kind()) {
  case Kind::None:
    return "null";
  case Kind::Bool:
    return value.asBool() ? "true" : "false";
  case Kind::Int:
  case Kind::Float:
    return repr(value);
  case Kind::Str: {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(value.asStr());
    return text;
  }
  case Kind::DType:
    if (value.asDType().isPointer() || value.asDType().isBlock())
      return std::nullopt;
    return "tl." + value.asDType().name();
  case Kind::Function:
    if (!value.asFunction().def || value.asFunction().closure)
      return std::nullopt;
    // By name: it must mean this one.
    if (Result named = value.asFunction().module->lookup(value.asFunction().name());
        named && !equal(*named, value))
      return std::nullopt;
    return "@" + value.asFunction().name();
  case Kind::Tuple:
  case Kind::List: {
    std::string text;
    Nesting nesting;
    if (nesting.isTooDeep())
      return std::nullopt;
    for (const PyValue &element : value.elements()) {
      if (!Work::spend(kConstantSteps))
        return std::nullopt;
      std::optional<std::string> part = constantText(element);
      if (!part)
        return std::nullopt;
      text += (text.empty() ? "" : ", ") + *part;
    }
    return formatted("[{}]", text);
  }
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

static void readImports(ModuleEnv &module, llvm::SmallPtrSetImpl<ModuleEnv *> &seen) {
  if (!seen.insert(&module).second)
    return;
  auto follow = [&](llvm::StringRef name, unsigned level) {
    Result imported = module.resolveModule(name, level);
    if (imported && imported->is(Kind::Module) && imported->asModule().env)
      readImports(*imported->asModule().env, seen);
  };
  for (const ast::StmtPtr &statement : module.tree().body) {
    if (auto *import = llvm::dyn_cast<ast::Import>(statement.get()))
      for (const ast::ImportAlias &alias : import->names)
        follow(alias.name, 0);
    if (auto *import = llvm::dyn_cast<ast::ImportFrom>(statement.get()))
      follow(import->module, import->level);
  }
}

void eval::readImports(ModuleEnv &module) {
  llvm::SmallPtrSet<ModuleEnv *, 8> seen;
  ::readImports(module, seen);
}
