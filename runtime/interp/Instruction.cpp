//===- Instruction.cpp - numbers for instructions -------------------------===//
//
// Each instruction has a number, those that run as part of others too: what is
// known of an access is kept by it.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Instruction.h"
#include <functional>

using namespace tile::interp;

static bool holds(const std::vector<Instruction> &code, const Instruction &i) {
  return std::less_equal<>()(code.data(), &i) && std::less<>()(&i, code.data() + code.size());
}

uint32_t ProgramImpl::numInstructions() const {
  size_t count = code.size();
  for (const std::vector<Instruction> *part : nested)
    count += part->size();
  return uint32_t(count);
}

uint32_t ProgramImpl::indexOf(const Instruction &i) const {
  if (holds(code, i))
    return uint32_t(&i - code.data());
  size_t before = code.size();
  for (const std::vector<Instruction> *part : nested) {
    if (holds(*part, i))
      return uint32_t(before + (&i - part->data()));
    before += part->size();
  }
  return 0; // of another program
}

const Instruction &ProgramImpl::instruction(uint32_t index) const {
  if (index < code.size())
    return code[index];
  index -= uint32_t(code.size());
  for (const std::vector<Instruction> *part : nested) {
    if (index < part->size())
      return (*part)[index];
    index -= uint32_t(part->size());
  }
  return code.front();
}
