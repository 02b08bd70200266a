//===- Kernel.cpp - printing generated kernels, and their data ------------===//
#include "tests/fuzz/Kernel.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>
#include <random>
#include <set>

using namespace tile;
using namespace tile::fuzz;

bool fuzz::isFloat(Element e) { return e >= Element::F16; }
bool fuzz::isSigned(Element e) {
  return e == Element::I8 || e == Element::I16 || e == Element::I32 || e == Element::I64;
}
unsigned fuzz::bitsOf(Element e) {
  static constexpr unsigned bits[] = {1, 8, 8, 16, 16, 32, 32, 64, 16, 16, 32, 64};
  return bits[int(e)];
}
const char *fuzz::spelling(Element e) {
  static constexpr const char *names[] = {"int1",    "int8",     "uint8",   "int16",
                                          "uint16",  "int32",    "uint32",  "int64",
                                          "float16", "bfloat16", "float32", "float64"};
  return names[int(e)];
}
const char *fuzz::pointerType(Element e) {
  static constexpr const char *names[] = {"*i1",  "*i8",  "*u8",   "*i16",  "*u16",  "*i32",
                                          "*u32", "*i64", "*fp16", "*bf16", "*fp32", "*fp64"};
  return names[int(e)];
}

int64_t Type::count() const {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

//===----------------------------------------------------------------------===//
// Source
//===----------------------------------------------------------------------===//

/// Positions of all elements of a block in memory.
static std::string positions(const Type &type, bool columnMajor) {
  std::string text;
  size_t rank = type.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    int64_t stride = 1;
    if (columnMajor)
      for (size_t e = 0; e < d; ++e)
        stride *= type.shape[e];
    else
      for (size_t e = d + 1; e < rank; ++e)
        stride *= type.shape[e];
    std::string line = "tl.arange(0, " + std::to_string(type.shape[d]) + ")";
    if (rank > 1) {
      line += "[";
      for (size_t e = 0; e < rank; ++e)
        line += std::string(e ? ", " : "") + (e == d ? ":" : "None");
      line += "]";
    }
    text += (d ? " + " : "") + line + (stride > 1 ? " * " + std::to_string(stride) : "");
  }
  return text.empty() ? "0" : text;
}

static std::string place(const std::string &buffer, const Type &type, bool columnMajor) {
  return buffer + " + pid * " + std::to_string(type.count()) + " + (" +
         positions(type, columnMajor) + ")";
}

static std::string name(int variable) { return "v" + std::to_string(variable); }

static void addLines(std::string &source, const std::string &text) {
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = text.find('\n', begin);
    source += "    " + text.substr(begin, end - begin) + "\n";
    if (end == std::string::npos)
      return;
    begin = end + 1;
  }
}

static std::string filled(const Statement &s, int variable) {
  std::string text;
  for (size_t i = 0; i < s.text.size(); ++i) {
    size_t close = s.text[i] == '{' ? s.text.find('}', i) : std::string::npos;
    if (close == std::string::npos) {
      text += s.text[i];
      continue;
    }
    std::string key = s.text.substr(i + 1, close - i - 1);
    text += key == "r" ? name(variable) : name(s.operands[std::stoul(key)]);
    i = close;
  }
  return text;
}

std::vector<int> Kernel::inputs() const {
  std::vector<int> result;
  for (size_t i = 0; i < statements.size(); ++i)
    if (statements[i].isInput)
      result.push_back(int(i));
  return result;
}

static constexpr const char *helpers = R"(import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def stepwise(x):
    r = x
    if x > 3:
        r = x - 3
    elif x < -3:
        r = x + 3
    return r


@triton.jit
def kernel()";

std::string Kernel::source() const {
  std::string text = helpers, parameters;
  for (int v : inputs())
    parameters += (parameters.empty() ? "p" : ", p") + std::to_string(v);
  for (int v : outputs)
    parameters += (parameters.empty() ? "o" : ", o") + std::to_string(v);
  text += parameters + "):\n    pid = tl.program_id(0)\n";
  for (size_t i = 0; i < statements.size(); ++i) {
    const Statement &s = statements[i];
    if (s.isInput)
      addLines(text, name(int(i)) + " = tl.load(" +
                         place("p" + std::to_string(i), s.type, s.columnMajor) + ")");
    else
      addLines(text, filled(s, int(i)));
  }
  for (int v : outputs)
    addLines(text, "tl.store(" + place("o" + std::to_string(v), statements[v].type, false) + ", " +
                       name(v) + ")");
  return text;
}

std::string Kernel::signature() const {
  std::string text;
  auto add = [&](int v) {
    text +=
        (text.empty() ? "" : ", ") + std::string(pointerType(statements[v].type.element)) + ":16";
  };
  for (int v : inputs())
    add(v);
  for (int v : outputs)
    add(v);
  return text;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

static uint64_t floatBits(double value, Element element) {
  const llvm::fltSemantics *format = element == Element::F16    ? &llvm::APFloat::IEEEhalf()
                                     : element == Element::BF16 ? &llvm::APFloat::BFloat()
                                     : element == Element::F32  ? &llvm::APFloat::IEEEsingle()
                                                                : &llvm::APFloat::IEEEdouble();
  llvm::APFloat f(value);
  bool lossy;
  f.convert(*format, llvm::APFloat::rmNearestTiesToEven, &lossy);
  return f.bitcastToAPInt().getZExtValue();
}

/// Mostly ordinary numbers, with the ends of the type's range among them.
static uint64_t integerBits(std::mt19937_64 &random, Element element) {
  unsigned bits = bitsOf(element);
  uint64_t any = random();
  switch (random() % 8) {
  case 0:
    return 0;
  case 1:
    return ~uint64_t(0);
  case 2:
    return uint64_t(1) << (bits - 1);
  case 3:
    return (uint64_t(1) << (bits - 1)) - 1;
  case 4:
  case 5:
    return any % 16;
  default:
    return any;
  }
}

std::vector<uint8_t> fuzz::inputData(const Kernel &kernel, int variable) {
  const Type &type = kernel.statements[variable].type;
  std::mt19937_64 random(kernel.seed * 1000003 + uint64_t(variable));
  unsigned bytes = std::max(bitsOf(type.element) / 8, 1u);
  std::vector<uint8_t> data;
  for (int64_t k = 0; k < type.count() * kernel.programs; ++k) {
    uint64_t bits;
    if (type.element == Element::I1)
      bits = random() & 1;
    else if (!isFloat(type.element))
      bits = integerBits(random, type.element);
    else if (type.bound)
      bits = floatBits(double(int64_t(random() % uint64_t(2 * type.bound + 1))) - type.bound,
                       type.element);
    else
      bits = floatBits((double(random() % 2000001) - 1e6) / 65536, type.element);
    for (unsigned b = 0; b < bytes; ++b)
      data.push_back(uint8_t(bits >> (8 * b)));
  }
  return data;
}
