//===- WorkMeter.cpp - what strings and containers cost -------------------===//
#include "frontend/eval/WorkMeter.h"
#include "frontend/eval/Operators.h"
#include "text/Format.h"

using namespace tile::eval;

static thread_local Work *current = nullptr;
static thread_local unsigned nested = 0;

Work::Work(uint64_t &steps, uint64_t limit) : steps(steps), limit(limit), outer(current) {
  current = this;
}

Work::~Work() { current = outer; }

bool Work::spend(uint64_t elements) {
  if (!current)
    return true;
  // Past the limit it stays past it.
  current->steps += std::min(elements, current->limit + 1);
  return current->steps <= current->limit;
}

std::unique_ptr<EvalError> Work::error() {
  return fail(formatted("compile-time evaluation gave up after {} steps; is this loop bounded?",
                        current->limit),
              "LimitError");
}

std::unique_ptr<EvalError> Work::checkLength(uint64_t elements) {
  if (elements <= maxElements)
    return nullptr;
  return fail(
      formatted("strings and containers have at most {} elements at compile time", maxElements),
      "MemoryError");
}

std::unique_ptr<EvalError> Work::append(std::string &text, llvm::StringRef piece) {
  text += piece;
  if (auto error = checkLength(text.size()))
    return error;
  return spendBytes(piece.size()) ? nullptr : error();
}

/// Comparing takes some hundred bytes of stack a level.
constexpr unsigned maxNesting = 1000;

Nesting::Nesting() {
  if (++nested > maxNesting)
    Work::spend(UINT64_MAX);
}

Nesting::~Nesting() { --nested; }

bool Nesting::isTooDeep() const { return nested > maxNesting; }
