//===- Kernel.h - a generated kernel, as a list of statements -------------===//
//
// Each statement defines one variable from earlier ones, so a kernel can be
// printed with any subset of its variables stored, and a failing one shrinks by
// leaving statements out or by replacing one by a load of fresh data.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_FUZZ_KERNEL_H
#define TILE_TESTS_FUZZ_KERNEL_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
struct fltSemantics;
}

namespace tile::fuzz {

enum class Element { I1, I8, U8, I16, U16, I32, U32, I64, U64, F8E5, F8E4, F16, BF16, F32, F64 };

bool isFloat(Element element);
bool isSigned(Element element);
bool isNarrowFloat(Element element); ///< of 8 bits: only converted and moved
unsigned bitsOf(Element element);
const char *spelling(Element element); ///< "float16", as in `tl.float16`
const char *typeName(Element element); ///< "fp16", as in a signature
const llvm::fltSemantics &formatOf(Element element);

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
  enum class Kind {
    Computed,  ///< by `text`
    Load,      ///< of an input, whole
    Buffer,    ///< a pointer to an input, which other statements read from
    Argument,  ///< an integer that the launch passes: `value`
    Effect,    ///< memory that `text`, or a statement with it as operand, changes
    Descriptor ///< of a tensor that the launch passes
  };
  Type type;
  /// Lines of code; `{r}` is the variable, `{0}`, `{1}` ... the operands.
  std::string text;
  std::vector<int> operands;
  Kind kind = Kind::Computed;
  bool columnMajor = false;        ///< loads: strides in memory
  int64_t value = 0;               ///< arguments
  bool hinted = false;             ///< arguments: the signature says that 16 divides it
  std::string plain = {};          ///< what `text` means, for a machine that runs no inline PTX
  int aliasOf = -1;                ///< buffers: whose memory this is
  std::vector<int64_t> block = {}; ///< descriptors: what one access moves
  bool padNan = false;             ///< descriptors: what lies outside reads as NaN

  bool isValue() const {
    return kind != Kind::Buffer && kind != Kind::Effect && kind != Kind::Descriptor;
  }
};

struct Kernel {
  std::vector<Statement> statements;
  std::vector<int> outputs; ///< variables that are stored, and effects
  int programs = 1, numWarps = 4, numStages = 3;
  bool persistent = false;
  unsigned gridAxis = 0; ///< along which the programs are; 3: along two of them
  int numCtas = 1;
  int leaves = -1, leavesAt = 0; ///< a program that returns early, and before which statement
  bool noRoles = false;          ///< all warps copy and compute
  bool takesTurns = false;       ///< groups of warps take blocks by turns, where they can
  bool algebraic = false;        ///< numbers of a ring for floats: data are any bits
  uint64_t seed = 0;

  /// The source of `kernel`, whose parameters are the inputs, the arguments and
  /// the results.
  std::string source(bool runsPtx = true) const;
  std::array<uint32_t, 3> grid() const;
  std::string signature() const;
  std::vector<int> inputs() const;
  std::vector<int> arguments() const;
  std::vector<int> results() const; ///< memory that both machines write
};

/// A random kernel; the same for the same seed, everywhere.
Kernel generate(uint64_t seed);

/// The elements of one buffer for all programs, as bytes.
std::vector<uint8_t> initialData(const Kernel &kernel, int variable);

/// Positions of all elements of a block in memory that holds nothing else.
std::string positions(const Type &type, bool columnMajor = false);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_KERNEL_H
