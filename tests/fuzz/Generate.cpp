//===- Generate.cpp - random well-typed kernels ------------------------------===//
#include "tests/fuzz/Generator.h"
#include <span>

using namespace tile;
using namespace tile::fuzz;

double fuzz::exactLimit(Element e) {
  switch (e) {
  case Element::F8E5:
    return 8;
  case Element::F8E4:
    return 16;
  case Element::F16:
    return 2048;
  case Element::BF16:
    return 256;
  case Element::F32:
    return 16777216;
  default:
    return 9e15;
  }
}

std::string fuzz::listed(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (int64_t size : shape)
    text += std::to_string(size) + ", ";
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

int Generator::input(Type type) {
  Statement s;
  s.type = std::move(type);
  s.kind = Statement::Kind::Load;
  s.columnMajor = s.type.shape.size() > 1 && chance(30);
  return append(std::move(s));
}

int Generator::buffer(Type type) {
  Statement s;
  s.type = std::move(type);
  s.kind = Statement::Kind::Buffer;
  return append(std::move(s));
}

int Generator::argument(Element element, int64_t value) {
  Statement s;
  s.type.element = element;
  s.kind = Statement::Kind::Argument;
  s.value = value;
  s.hinted = value % 16 == 0 && chance(70);
  return append(std::move(s));
}

int Generator::effect(Type type, std::string text, std::vector<int> operands) {
  Statement s;
  s.type = std::move(type);
  s.text = std::move(text);
  s.operands = std::move(operands);
  s.kind = Statement::Kind::Effect;
  return append(std::move(s));
}

//===----------------------------------------------------------------------===//
// Types and operands
//===----------------------------------------------------------------------===//

Type Generator::bounded(Type type, double bound) {
  type.bound = bound > 0 && bound <= exactLimit(type.element) ? bound : 0;
  return type;
}

/// A literal that the type holds; often the same one.
std::string Generator::constantFor(Element element) {
  static constexpr int64_t some[] = {1, 2, 3, 7, 16, 64, 100, 127, 1000, 4096, 65536, 1000003};
  int64_t value = chance(50) ? favourite : some[below(std::size(some))];
  unsigned bits = bitsOf(element) - isSigned(element);
  if (bits < 31)
    value %= int64_t(1) << bits;
  if (bits > 40 && chance(10))
    value <<= 32;
  return std::to_string(value);
}

std::vector<int64_t> Generator::freshShape() {
  size_t rank = oneOf({1, 1, 2, 2, 2, 3});
  std::vector<int64_t> shape;
  int64_t total = 1;
  for (size_t d = 0; d < rank; ++d) {
    int64_t size = int64_t(1) << below(mostElements > 2048 ? 15
                                       : rank == 1         ? 11
                                       : rank == 2         ? 7
                                                           : 5);
    if (isOdd && chance(60))
      size = std::max<int64_t>(1, size - int64_t(below(size / 2 + 1)));
    if (total * size > mostElements)
      size = 1;
    total *= size;
    shape.push_back(size);
  }
  return shape;
}

Type Generator::freshType() {
  Type type;
  type.shape = freshShape();
  if (chance(45)) {
    type.element = intElement();
  } else if (chance(10)) {
    type.element = Element::I1;
  } else {
    type.element = floatElement();
    type.bound = chance(60) ? 7 : 0;
  }
  return type;
}

/// A recent variable that fits, or a new input.
int Generator::pick(const Predicate &fits, const std::function<Type()> &otherwise) {
  std::vector<int> candidates;
  for (size_t v = 0; v < kernel.statements.size(); ++v)
    if (kernel.statements[v].isValue() && fits(typeOf(int(v))))
      candidates.push_back(int(v));
  if (candidates.empty() || chance(8))
    return input(otherwise());
  // The later a variable, the longer the chain that leads to it.
  size_t a = below(candidates.size()), b = below(candidates.size());
  return candidates[std::max(a, b)];
}

int Generator::pickBlock() {
  return pick([](const Type &t) { return !t.shape.empty(); }, [&] { return freshType(); });
}

int Generator::pickInteger(unsigned maxBits) {
  return pick(
      [&](const Type &t) {
        return !isFloat(t.element) && t.element != Element::I1 && bitsOf(t.element) <= maxBits;
      },
      [&] {
        Element element = intElement();
        while (bitsOf(element) > maxBits)
          element = intElement();
        return Type{element, freshShape(), 0};
      });
}

/// Something to combine with `v`: of its element type, of a shape that
/// broadcasts to it.
int Generator::operandLike(int v) {
  Type type = typeOf(v);
  auto fits = [&](const Type &t) {
    if (t.element != type.element || t.shape.size() > type.shape.size())
      return false;
    size_t skip = type.shape.size() - t.shape.size();
    for (size_t d = 0; d < t.shape.size(); ++d)
      if (t.shape[d] != type.shape[d + skip] && t.shape[d] != 1)
        return false;
    return true;
  };
  return pick(fits, [&] {
    Type other = type;
    other.bound = isFloat(type.element) && type.bound ? 7 : 0;
    for (int64_t &size : other.shape)
      if (chance(20))
        size = 1;
    return other;
  });
}

int Generator::condition(const std::vector<int64_t> &shape) {
  return pick([&](const Type &t) { return t.element == Element::I1 && t.shape == shape; },
              [&] { return Type{Element::I1, shape, 0}; });
}

/// One more statement, of any kind.
void Generator::statement() {
  struct Choice {
    unsigned weight;
    void (Generator::*make)();
  };
  static constexpr Choice choices[] = {{16, &Generator::arithmetic},
                                       {8, &Generator::sums},
                                       {6, &Generator::unary},
                                       {3, &Generator::exactFunction},
                                       {7, &Generator::compare},
                                       {4, &Generator::logic},
                                       {7, &Generator::choose},
                                       {9, &Generator::cast},
                                       {4, &Generator::narrow},
                                       {5, &Generator::division},
                                       {4, &Generator::shift},
                                       {5, &Generator::scalar},
                                       {14, &Generator::shape},
                                       {8, &Generator::pairwise},
                                       {12, &Generator::reduce},
                                       {3, &Generator::reduceTuple},
                                       {7, &Generator::scan},
                                       {6, &Generator::order},
                                       {5, &Generator::gather},
                                       {10, &Generator::loop},
                                       {4, &Generator::floatLoop},
                                       {5, &Generator::branch},
                                       {3, &Generator::map},
                                       {5, &Generator::call},
                                       {4, &Generator::dot},
                                       {5, &Generator::product},
                                       {6, &Generator::masked},
                                       {4, &Generator::masked3},
                                       {4, &Generator::marching},
                                       {4, &Generator::scatterBack},
                                       {5, &Generator::blockPointer},
                                       {5, &Generator::descriptor},
                                       {4, &Generator::atomics},
                                       {3, &Generator::atomicResults},
                                       {4, &Generator::signedZeros},
                                       {4, &Generator::notNumbers},
                                       {4, &Generator::orderedReduce},
                                       {5, &Generator::libdevice},
                                       {2, &Generator::randomNumbers},
                                       {3, &Generator::inlineAsm},
                                       {5, &Generator::anyProduct},
                                       {4, &Generator::normalizedRow},
                                       {3, &Generator::sumOfRows},
                                       {3, &Generator::secondSweep},
                                       {1, &Generator::wideProduct},
                                       {5, &Generator::rankedDescriptor},
                                       {3, &Generator::rowsOfDescriptor},
                                       {4, &Generator::pointers},
                                       {3, &Generator::inPlace},
                                       {3, &Generator::cacheHints},
                                       {3, &Generator::narrowAtomics},
                                       {4, &Generator::dataExit},
                                       {6, &Generator::unpacked},
                                       {6, &Generator::strided},
                                       {3, &Generator::network},
                                       {4, &Generator::joinedProduct},
                                       {3, &Generator::summedProducts},
                                       {3, &Generator::whileSums},
                                       {14, &Generator::attention},
                                       {8, &Generator::attentionBackward},
                                       {8, &Generator::permuted},
                                       {6, &Generator::halves},
                                       {6, &Generator::tuples},
                                       {6, &Generator::tripleScan},
                                       {5, &Generator::extremum},
                                       {8, &Generator::busyBranches},
                                       {8, &Generator::tilesByTurns},
                                       {5, &Generator::rankedBlockPointer},
                                       {5, &Generator::maskedResults}};
  // Kernels of even numbers have none of the last 17, which came later, and those of every other
  // odd number none of the last 11: theirs are what they were.
  std::span<const Choice> offered(choices);
  if (kernel.seed % 4 != 1)
    offered = offered.first(offered.size() - (kernel.seed % 2 ? 11 : 17));
  unsigned total = 0;
  for (const Choice &c : offered)
    total += c.weight;
  unsigned at = unsigned(below(total));
  for (const Choice &c : offered) {
    if (at < c.weight) {
      (this->*c.make)();
      break;
    }
    at -= c.weight;
  }
}

Kernel Generator::run() {
  kernel.programs = int(oneOf({1, 1, 2, 3, 4}));
  kernel.numWarps = int(oneOf({1, 2, 4, 4, 8}));
  if (chance(8))
    kernel.numWarps = int(oneOf({16, 32}));
  kernel.numStages = int(oneOf({1, 2, 3, 3, 4}));
  kernel.persistent = chance(6);
  if (chance(30))
    kernel.gridAxis = unsigned(1 + below(3));
  if (chance(10))
    kernel.numCtas = int(oneOf({2, 4}));
  if (kernel.numCtas > 1 && chance(70)) // where it means something
    kernel.persistent = true;
  kernel.noRoles = chance(10);
  kernel.takesTurns = chance(10);
  isOdd = chance(40);
  if (chance(6))
    mostElements = 16384;
  favourite = oneOf<int64_t>({2, 3, 8, 16, 60, 64, 100, 1024});
  input(freshType());
  size_t length = 4 + below(10);
  for (unsigned tries = 0; kernel.statements.size() < length && tries < 60; ++tries)
    statement();
  // What nothing else uses is stored; so is, now and then, something on the way.
  std::vector<bool> used(kernel.statements.size());
  for (const Statement &s : kernel.statements)
    for (int v : s.operands)
      used[v] = true;
  for (size_t v = 0; v < used.size(); ++v)
    if (kernel.statements[v].kind == Statement::Kind::Effect ||
        (kernel.statements[v].kind == Statement::Kind::Computed && (!used[v] || chance(15))))
      kernel.outputs.push_back(int(v));
  if (kernel.outputs.empty())
    kernel.outputs.push_back(0);
  if (chance(8)) {
    kernel.leaves = int(below(uint64_t(kernel.programs) + 1));
    kernel.leavesAt = int(below(kernel.statements.size()));
  }
  return std::move(kernel);
}

tile::fuzz::Kernel fuzz::generate(uint64_t seed) { return Generator(seed).run(); }
