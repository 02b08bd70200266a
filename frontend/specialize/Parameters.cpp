//===- Parameters.cpp - what each parameter of a kernel is ----------------===//
//
// Types come from the signature or, without one, from annotations; values of
// constexpr parameters from the options or from defaults.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Parameters.h"
#include "frontend/Counted.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"

using llvm::StringRef;

namespace tile::specialize {

using frontend::nearestName;

void Parameters::classify() {
  int index = 0;
  for (const ast::Parameter &parameter : kernel.params()) {
    bool isConstexpr = isConstexprAnnotation(parameter.annotation.get(), kernel.module);
    slots.push_back({&parameter, isConstexpr, isConstexpr ? -1 : index++, {}, {}, false});
  }
}

std::string Parameters::runtimeNames() const {
  std::string names;
  for (const Slot &slot : slots)
    if (!slot.isConstexpr)
      names += (names.empty() ? "" : ", ") + slot.parameter->name;
  return names;
}

bool Parameters::readSignature() {
  std::vector<std::string> entries;
  std::string problem;
  if (!splitSignature(options.signature, entries, problem)) {
    diagnostics.error(nullptr, {}, formatted("signature: {}", problem));
    return false;
  }
  size_t expected = llvm::count_if(slots, [](const Slot &slot) { return !slot.isConstexpr; });
  if (entries.size() != expected) {
    diagnostics.error(
        file, kernel.range(),
        formatted("the signature has {} {}, but `{}` has {} not constexpr ({})", entries.size(),
                  entries.size() == 1 ? "entry" : "entries", kernel.name(),
                  counted(expected, "parameter") + (expected == 1 ? " that is" : " that are"),
                  runtimeNames()));
    return false;
  }
  bool valid = true;
  for (Slot &slot : slots) {
    if (slot.isConstexpr)
      continue;
    std::optional<ArgumentType> type = parseArgumentType(entries[slot.index], problem);
    if (!type) {
      diagnostics.error(file, slot.parameter->range,
                        formatted("signature entry {}: {}", slot.index, problem));
      valid = false;
      continue;
    }
    slot.type = std::move(*type);
  }
  return valid;
}

/// The type that an annotation states: a string in signature spelling, a
/// dtype, or Python's int, float and bool. Other annotations say nothing.
std::optional<ArgumentType> Parameters::annotated(const ast::Parameter &parameter) {
  if (!parameter.annotation)
    return std::nullopt;
  auto scope = eval::StatementRunner::scopeAbove(kernel, parameter.annotation->range);
  Result value = program.evaluator().evaluate(*parameter.annotation, scope);
  if (!value)
    return std::nullopt;
  ArgumentType type;
  if (value->is(PyValue::Kind::DType))
    type.type = value->asDType();
  else if (value->isSymbol("int"))
    type.type = DType(Kind::Int32);
  else if (value->isSymbol("float"))
    type.type = DType(Kind::Float32);
  else if (value->isSymbol("bool"))
    type.type = DType(Kind::Int1);
  else if (value->isStr()) {
    std::string problem;
    std::optional<ArgumentType> parsed = parseArgumentType(value->asStr(), problem);
    if (!parsed)
      diagnostics.error(file, parameter.annotation->range, problem);
    return parsed;
  } else {
    return std::nullopt;
  }
  return type;
}

bool Parameters::readAnnotations() {
  bool valid = true;
  llvm::SmallVector<const ast::Parameter *> unknown;
  for (Slot &slot : slots) {
    if (slot.isConstexpr)
      continue;
    unsigned errors = diagnostics.numErrors();
    std::optional<ArgumentType> type = annotated(*slot.parameter);
    if (type) {
      slot.type = std::move(*type);
      continue;
    }
    valid = false;
    if (diagnostics.numErrors() == errors)
      unknown.push_back(slot.parameter);
  }
  if (!unknown.empty())
    refuseUntyped(unknown);
  return valid;
}

/// One error for all of them: whoever writes types forgets few, and others give a signature.
void Parameters::refuseUntyped(llvm::ArrayRef<const ast::Parameter *> unknown) {
  std::string names;
  for (auto [i, parameter] : llvm::enumerate(unknown))
    names += formatted("{}`{}`",
                       i == 0                    ? ""
                       : i + 1 == unknown.size() ? " and "
                                                 : ", ",
                       parameter->name);
  bool isOne = unknown.size() == 1;
  diagnostics.error(file, unknown.front()->range,
                    formatted("the {} of {} {} not known: annotate {}, as in `{}: \"*fp32\"` or "
                              "`{}: \"i32\"`, or give a signature (`--signature`) for ({})",
                              isOne ? "type" : "types",
                              (isOne ? "parameter " : "parameters ") + names, isOne ? "is" : "are",
                              isOne ? "it" : "them", unknown.front()->name, unknown.back()->name,
                              runtimeNames()));
}

/// Where nothing gives a constexpr its value: reports why configurations cannot be read that were
/// to give it, and what would do instead.
bool Parameters::refuseConfigurations(const std::string &instead, SourceRange range) {
  const eval::Decorator *decorator = kernel.findDecorator("triton.autotune");
  eval::CallArgs ignored;
  if (!decorator)
    return false;
  Result read = program.evaluator().decoratorArguments(kernel, *decorator, ignored);
  if (read)
    return false;
  std::unique_ptr<eval::EvalError> error = read.takeError();
  error->diagnostic.notes.push_back({frontend::Severity::Note, file, range, instead, {}});
  eval::report(*error, diagnostics);
  return true;
}

bool Parameters::readConstexprs() {
  bool valid = true;
  std::vector<StringRef> names;
  for (Slot &slot : slots)
    if (slot.isConstexpr)
      names.push_back(slot.parameter->name);
  for (auto &[name, text] : options.constexprs) {
    auto slot = llvm::find_if(slots, [&](const Slot &s) { return s.parameter->name == name; });
    std::string problem;
    if (slot == slots.end()) {
      StringRef near = nearestName(name, names);
      problem = formatted("`{}` has no parameter `{}`{}", kernel.name(), name,
                          near.empty() ? "" : formatted("; did you mean `{}`?", near));
    } else if (!slot->isConstexpr) {
      problem = formatted("parameter `{}` is not annotated `tl.constexpr`: write `const={}` at its "
                          "place in the signature",
                          name, text);
    } else if (std::optional<PyValue> value = parseConstant(text, *kernel.module, problem)) {
      slot->value = std::move(*value);
      slot->hasValue = true;
      continue;
    } else {
      problem = formatted("value of `{}`: {}", name, problem);
    }
    diagnostics.error(file, kernel.range(), problem);
    valid = false;
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    if (!slot.isConstexpr || slot.hasValue)
      continue;
    if (slot.parameter->defaultValue) {
      Result value = program.evaluator().defaultValue(kernel, i);
      if (value) {
        slot.value = value.take();
        continue;
      }
      eval::report(value.error(), diagnostics);
    } else if (valid) {
      std::string missing =
          formatted("constexpr parameter `{0}` has no value: give one with `--constexpr {0}=VALUE`",
                    slot.parameter->name);
      if (!refuseConfigurations(missing, slot.parameter->range))
        diagnostics.error(file, slot.parameter->range, missing);
    }
    valid = false;
  }
  return valid;
}

bool Parameters::resolve() {
  classify();
  bool typed = options.signature.empty() ? readAnnotations() : readSignature();
  bool valued = readConstexprs();
  return typed && valued;
}

} // namespace tile::specialize
