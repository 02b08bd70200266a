//===- Generator.h - what random kernels are put together from -------------===//
//
// Only operations whose result is defined to the bit are used: float sums and
// products whose terms are small whole numbers, so that any order and any
// contraction gives the same; elementwise float arithmetic that is rounded once;
// shifts and divisions within their domains; addresses within their buffers. Any
// difference is then a fault.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_FUZZ_GENERATOR_H
#define TILE_TESTS_FUZZ_GENERATOR_H

#include "tests/fuzz/Kernel.h"
#include <algorithm>
#include <functional>
#include <random>

namespace tile::fuzz {

using Predicate = std::function<bool(const Type &)>;

/// The largest whole numbers that a float type holds without a gap.
double exactLimit(Element element);

/// "(4, 8, )", as Python writes it.
std::string listed(const std::vector<int64_t> &shape);

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) { kernel.seed = seed; }
  Kernel run();

private:
  uint64_t below(uint64_t n) { return random() % n; }
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(below(uint64_t(high - low + 1)));
  }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T> T oneOf(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }

  // Statements (Generate.cpp).
  void statement();
  int append(Statement statement) {
    kernel.statements.push_back(std::move(statement));
    return int(kernel.statements.size()) - 1;
  }
  int add(Type type, std::string text, std::vector<int> operands) {
    return append({std::move(type), std::move(text), std::move(operands)});
  }
  const Type &typeOf(int v) const { return kernel.statements[v].type; }
  int input(Type type);
  int buffer(Type type);
  int argument(Element element, int64_t value);
  int effect(Type type, std::string text, std::vector<int> operands);
  int pick(const Predicate &fits, const std::function<Type()> &otherwise);
  int pickBlock();
  int pickInteger(unsigned maxBits = 64);
  int operandLike(int v);
  int condition(const std::vector<int64_t> &shape);

  // Types and constants.
  Type freshType();
  std::vector<int64_t> freshShape();
  Element intElement() {
    return oneOf({Element::I8, Element::U8, Element::I16, Element::U16, Element::I32, Element::I32,
                  Element::U32, Element::I64, Element::I64, Element::U64});
  }
  Element floatElement() {
    return oneOf({Element::F16, Element::BF16, Element::F32, Element::F32, Element::F64});
  }
  Type bounded(Type type, double bound);
  std::string constantFor(Element element);

  // Elementwise (GenerateElements.cpp).
  void arithmetic();
  void sums();
  void unary();
  void exactFunction();
  void compare();
  void logic();
  void choose();
  void cast();
  void narrow();
  void division();
  void shift();
  void scalar();

  // Across elements (GenerateBlocks.cpp).
  void shape();
  void pairwise();
  void reduce();
  void reduceTuple();
  void scan();
  void order();
  void gather();
  void dot();

  // Edges of types, functions to the bit (GenerateNumbers.cpp).
  void signedZeros();
  void notNumbers();
  void orderedReduce();
  void libdevice();
  void randomNumbers();
  void inlineAsm();

  // Products (GenerateProducts.cpp).
  int factor(Element element, std::vector<int64_t> shape, double most);
  int productOf(int a, int b, double length);
  void anyProduct();
  void widenedProduct();
  void scaledProduct();

  // Rows and wide products (GenerateRows.cpp).
  void normalizedRow();
  void sumOfRows();
  void secondSweep();
  void wideProduct();

  // Shared words, strides, networks (GenerateStrides.cpp).
  void unpacked();
  void strided();
  void used(Type type, const std::string &head, const std::string &load,
            const std::vector<int> &operands);
  void network();

  // What products and loops add up (GenerateSums.cpp).
  void joinedProduct();
  void summedProducts();
  void whileSums();

  // Attention (GenerateChains.cpp).
  struct Attention;
  Attention someAttention();
  std::string blockOfTurn(Attention &a, const std::string &name, bool asColumns);
  std::string scores(Attention &a);
  std::string softmaxOf(const Attention &a);
  std::string loopsOf(const Attention &a);
  void attention();
  void attentionBackward();

  // How public kernels put operations together (GenerateForms.cpp).
  void permuted();
  void halves();
  void tuples();
  void tripleScan();
  void extremum();
  void busyBranches();
  void tilesByTurns();
  void rankedBlockPointer();
  void maskedResults();

  // Control flow (GenerateControl.cpp).
  void loop();
  void floatLoop();
  void branch();
  void map();
  void call();
  std::string loopHead(const std::string &variable, std::vector<int> &operands);
  std::string longHead(const std::string &variable, std::vector<int> &operands);
  std::string rangeAtAnEnd(std::vector<int> &operands);
  void dataExit();

  // Memory (GenerateMemory.cpp).
  struct Matrix {
    int buffer;               ///< or an effect
    Type block;               ///< what one access moves
    std::string base;         ///< where this program's part begins
    std::string m, n, sm, sn; ///< sizes and strides, as source
    int64_t rows, columns;    ///< what the sizes are
  };
  std::string number(int64_t value, std::vector<int> &operands);
  Matrix matrix(bool isWritten, const Type &block, std::vector<int> &operands, bool forDescriptor);
  void masked();
  void masked3();
  void marching();
  void scatterBack();
  void blockPointer();
  void descriptor();
  void atomics();
  void atomicResults();
  void product();

  // Descriptors of every rank, pointers from anywhere (GenerateAccess.cpp).
  void rankedDescriptor();
  void rowsOfDescriptor();
  void pointers();
  void inPlace();
  void cacheHints();
  void narrowAtomics();

  std::mt19937_64 random;
  Kernel kernel;
  bool isOdd = false; ///< dimensions need not be powers of two
  int64_t mostElements = 2048;
  int64_t favourite; ///< a constant that turns up again and again
};

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_GENERATOR_H
