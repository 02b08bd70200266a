//===- Formulas.cpp - names for formulas of tensors ---------------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"
#include <array>

using namespace tile;
using namespace tile::eval;
using llvm::ArrayRef;
using llvm::StringRef;

static std::array<ArrayRef<FormulaEntry>, 15> tables() {
  return {activationFormulas(), convolutionFormulas(), elementFormulas(),  lossFormulas(),
          madeFormulas(),       normFormulas(),        orderFormulas(),    partFormulas(),
          pictureFormulas(),    placeFormulas(),       productFormulas(),  sampleFormulas(),
          shapeFormulas(),      specialFormulas(),     statisticFormulas()};
}

ArrayRef<StringRef> eval::formulaNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> all;
    for (ArrayRef<FormulaEntry> table : tables())
      for (const FormulaEntry &entry : table)
        all.push_back(entry.name);
    return all;
  }();
  return names;
}

/// `x.repeat(2, 3)` is `x.repeat((2, 3))`.
static CallArgs gathered(const CallArgs &args, size_t parameter) {
  CallArgs out = args;
  if (parameter == SIZE_MAX || args.positional.size() <= parameter + 1)
    return out;
  auto first = out.positional.begin() + parameter;
  PyValue last = PyValue::tuple(std::vector<PyValue>(first, out.positional.end()));
  out.positional.erase(first, out.positional.end());
  out.positional.push_back(std::move(last));
  out.positionalRanges.clear();
  return out;
}

Result eval::callFormula(FormulaCalls &on, StringRef name, const CallArgs &args) {
  for (ArrayRef<FormulaEntry> table : tables())
    for (const FormulaEntry &entry : table)
      if (entry.name == name) {
        CallArgs given = gathered(args, entry.collects);
        Formula formula(on, entry.name, given, entry.parameters, entry.required);
        Term value = formula.failed() ? formula.none() : entry.fn(formula);
        return formula.result(std::move(value));
      }
  return fail(formatted("there is no formula `{}`", name));
}
