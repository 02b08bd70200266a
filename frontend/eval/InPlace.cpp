//===- InPlace.cpp - parameters that `x += y` writes ----------------------===//
#include "frontend/eval/InPlace.h"

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
