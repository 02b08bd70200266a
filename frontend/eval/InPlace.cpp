//===- InPlace.cpp - what writes tensors where they lie -------------------===//
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "text/Format.h"

using namespace tile::eval;

static thread_local std::vector<const Extension *> covered;

InPlace::InPlace(llvm::ArrayRef<PyValue> parameters)
    : isOutermost(covered.empty() && !parameters.empty()) {
  if (isOutermost)
    for (const PyValue &value : parameters)
      covered.push_back(value.is(PyValue::Kind::Extension) ? value.asExtension().get() : nullptr);
}

InPlace::~InPlace() {
  if (isOutermost)
    covered.clear();
}

bool InPlace::covers(const PyValue &value) {
  return value.is(PyValue::Kind::Extension) &&
         llvm::is_contained(covered, value.asExtension().get());
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

/// What there is in place only.
static bool givesValues(llvm::StringRef plain) {
  return plain == "copy" || plain == "fill" || plain == "zero";
}

bool tile::eval::isInPlaceMethod(llvm::StringRef name,
                                 llvm::function_ref<bool(llvm::StringRef)> isMethod) {
  return name.consume_back("_") && !name.ends_with("_") && (givesValues(name) || isMethod(name));
}

Result tile::eval::callInPlace(PyValue self, llvm::StringRef name, const CallArgs &args,
                               llvm::function_ref<Result(llvm::StringRef, const CallArgs &)> call) {
  llvm::StringRef plain = name.drop_back();
  Result value = PyValue::integer(0);
  if (givesValues(plain) && plain != "zero") {
    ArgReader r(name, args, {plain == "copy" ? "src" : "value"}, 1);
    if (!r)
      return r.error();
    value = r[0];
  } else if (plain != "zero") {
    CallArgs all = args;
    all.prepend(self);
    value = call(plain, all);
  }
  if (!value)
    return value;
  Result assigned = self.asExtension()->assignSubscript(PyValue::ellipsis(), *value);
  return assigned ? Result(std::move(self)) : std::move(assigned);
}

std::optional<Result>
tile::eval::callByInPlace(llvm::StringRef name, const CallArgs &args,
                          llvm::function_ref<Result(llvm::StringRef, const CallArgs &)> call) {
  const PyValue *given = args.keyword("inplace");
  if (!given || args.positional.empty() || !args.positional[0].is(PyValue::Kind::Extension))
    return std::nullopt;
  Result is = truth(*given);
  if (!is)
    return is;
  CallArgs rest = args;
  llvm::erase_if(rest.keywords, [](auto &keyword) { return keyword.first == "inplace"; });
  rest.keywordRanges.clear();
  if (!is->asBool())
    return call(name, rest);
  PyValue self = rest.positional[0];
  rest.positional.erase(rest.positional.begin());
  rest.positionalRanges.clear();
  return callInPlace(self, name.str() + "_", rest, call);
}

Result tile::eval::shapeChanges(llvm::StringRef name) {
  return fail(formatted("`{}` would change the tensor's shape: `x = x.{}(...)` makes a new one",
                        name, name.drop_back()),
              "AttributeError");
}
