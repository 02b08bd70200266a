//===- Kernel.h - a generated kernel, as a list of statements -------------===//
//
// Each statement defines one variable from earlier ones, so a kernel can be
// printed with any subset of its variables stored, and a failing one shrinks by
// leaving statements out or by replacing one by a load of fresh data.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_FUZZ_KERNEL_H
#define TILE_TESTS_FUZZ_KERNEL_H

#include <cstdint>
#include <string>
#include <vector>

namespace tile::fuzz {

enum class Element { I1, I8, U8, I16, U16, I32, U32, I64, F16, BF16, F32, F64 };

bool isFloat(Element element);
bool isSigned(Element element);
unsigned bitsOf(Element element);
const char *spelling(Element element);    ///< "float16", as in `tl.float16`
const char *pointerType(Element element); ///< "*fp16", as in a signature

struct Type {
  Element element = Element::I32;
  std::vector<int64_t> shape; ///< empty: a scalar
  /// Floats that hold whole numbers of at most this magnitude, so that any
  /// order of summation is exact; 0: anything.
  double bound = 0;

  int64_t count() const;
  bool sameShape(const Type &other) const { return shape == other.shape; }
};

struct Statement {
  Type type;
  /// Lines of code; `{r}` is the variable, `{0}`, `{1}` ... the operands.
  std::string text;
  std::vector<int> operands;
  bool isInput = false;
  bool columnMajor = false; ///< inputs: strides in memory
};

struct Kernel {
  std::vector<Statement> statements;
  std::vector<int> outputs; ///< variables that are stored
  int programs = 1, numWarps = 4;
  uint64_t seed = 0;

  /// The source of `kernel`, whose parameters are the inputs and the outputs.
  std::string source() const;
  std::string signature() const;
  std::vector<int> inputs() const;
};

/// A random kernel; the same for the same seed, everywhere.
Kernel generate(uint64_t seed);

/// The elements of one input for all programs, as bytes.
std::vector<uint8_t> inputData(const Kernel &kernel, int variable);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_KERNEL_H
