//===- Kernel.cpp - printing generated kernels, and their data ------------===//
#include "tests/fuzz/Kernel.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <random>
#include <set>

using namespace tile;
using namespace tile::fuzz;

namespace {
struct ElementInfo {
  unsigned bits;
  const char *spelling, *typeName;
};
} // namespace

static const ElementInfo &info(Element e) {
  static constexpr ElementInfo table[] = {{1, "int1", "i1"},
                                          {8, "int8", "i8"},
                                          {8, "uint8", "u8"},
                                          {16, "int16", "i16"},
                                          {16, "uint16", "u16"},
                                          {32, "int32", "i32"},
                                          {32, "uint32", "u32"},
                                          {64, "int64", "i64"},
                                          {64, "uint64", "u64"},
                                          {8, "float8e5", "fp8e5"},
                                          {8, "float8e4nv", "fp8e4nv"},
                                          {16, "float16", "fp16"},
                                          {16, "bfloat16", "bf16"},
                                          {32, "float32", "fp32"},
                                          {64, "float64", "fp64"}};
  return table[int(e)];
}

bool fuzz::isFloat(Element e) { return e >= Element::F8E5; }
bool fuzz::isNarrowFloat(Element e) { return e == Element::F8E5 || e == Element::F8E4; }
bool fuzz::isSigned(Element e) {
  return e == Element::I8 || e == Element::I16 || e == Element::I32 || e == Element::I64;
}
unsigned fuzz::bitsOf(Element e) { return info(e).bits; }
const char *fuzz::spelling(Element e) { return info(e).spelling; }
const char *fuzz::typeName(Element e) { return info(e).typeName; }

int64_t Type::count() const {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

//===----------------------------------------------------------------------===//
// Source
//===----------------------------------------------------------------------===//

std::string fuzz::positions(const Type &type, bool columnMajor) {
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

static std::string name(const Kernel &kernel, int variable) {
  static constexpr const char *letters[] = {"v", "v", "p", "n", "o", "d"};
  return letters[int(kernel.statements[variable].kind)] + std::to_string(variable);
}

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

static std::string filled(const Kernel &kernel, int variable, bool runsPtx) {
  const Statement &s = kernel.statements[variable];
  const std::string &code = runsPtx || s.plain.empty() ? s.text : s.plain;
  std::string text;
  for (size_t i = 0; i < code.size(); ++i) {
    size_t close = code[i] == '{' ? code.find('}', i) : std::string::npos;
    if (close == std::string::npos) {
      text += code[i];
      continue;
    }
    std::string key = code.substr(i + 1, close - i - 1);
    text += name(kernel, key == "r" ? variable : s.operands[std::stoul(key)]);
    i = close;
  }
  return text;
}

static std::vector<int> variables(const Kernel &kernel,
                                  llvm::function_ref<bool(const Statement &)> fits) {
  std::vector<int> result;
  for (auto [i, statement] : llvm::enumerate(kernel.statements))
    if (fits(statement))
      result.push_back(int(i));
  return result;
}

std::vector<int> Kernel::inputs() const {
  return variables(*this, [](const Statement &s) {
    return s.kind == Statement::Kind::Load || s.kind == Statement::Kind::Buffer ||
           s.kind == Statement::Kind::Descriptor;
  });
}
std::vector<int> Kernel::arguments() const {
  return variables(*this, [](const Statement &s) { return s.kind == Statement::Kind::Argument; });
}
std::vector<int> Kernel::results() const {
  std::vector<int> result =
      variables(*this, [](const Statement &s) { return s.kind == Statement::Kind::Effect; });
  for (int v : outputs)
    if (statements[v].isValue())
      result.push_back(v);
  return result;
}

static constexpr const char *helpers = R"(import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def first(a, b):
    return a


@triton.jit
def last(a, b):
    return b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def largest_and_sum(a, b, c, d):
    return tl.maximum(a, c), b + d


@triton.jit
def stepwise(x):
    r = x
    if x > 3:
        r = x - 3
    elif x < -3:
        r = x + 3
    return r


@triton.jit
def mixed(x, y, times: tl.constexpr):
    if times == 0:
        return x
    return mixed(y - x, x ^ y, times - 1)


@triton.jit
def sum_and_difference(x, y):
    return x + y, x - y


@triton.jit
def chosen(test, x, y):
    if test:
        return x
    return y


@triton.jit
def walked(x, y, n):
    for i in range(n):
        if i > 2:
            return x
        x = x + y
    return x ^ y


@triton.jit
def segmented(f, x, n, g, y, m):
    return f | g, tl.where(g != 0, y, x + y), tl.maximum(n, m)


@triton.jit
def gathered(a, b, c, d, e, f):
    return a ^ d, b + e, tl.minimum(c, f)


@triton.jit
def extremes(x, y, n):
    low = tl.minimum(x, y)
    high = tl.maximum(x, y)
    for i in range(n):
        if i > 3:
            return high, low
        low, high = sum_and_difference(high, low)
    return low, high


@triton.jit
def applied(function, x, y):
    return function(x, y)


@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

    @triton.jit
    def turned(self):
        return Pair(self.second, self.first + self.second)


@triton.jit
def kernel()";

/// The launch's programs, along the axes of the grid.
std::array<uint32_t, 3> Kernel::grid() const {
  std::array<uint32_t, 3> sizes = {1, 1, 1};
  if (gridAxis == 3 && programs % 2 == 0)
    sizes = {uint32_t(programs / 2), 1, 2};
  else
    sizes[gridAxis % 3] = uint32_t(programs);
  return sizes;
}

static constexpr const char *numberOfProgram =
    "    pid = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + "
    "tl.program_id(0)\n";

std::string Kernel::source(bool runsPtx) const {
  std::string text = helpers, parameters;
  auto parameter = [&](const std::string &name) {
    parameters += (parameters.empty() ? "" : ", ") + name;
  };
  for (int v : inputs())
    parameter((statements[v].kind == Statement::Kind::Descriptor ? "d" : "p") + std::to_string(v));
  for (int v : arguments())
    parameter("n" + std::to_string(v));
  for (int v : results())
    parameter("o" + std::to_string(v));
  text += parameters + "):\n";
  text += gridAxis ? numberOfProgram : "    pid = tl.program_id(0)\n";
  for (auto [i, s] : llvm::enumerate(statements)) {
    if (leaves >= 0 && int(i) == leavesAt)
      text += "    if pid == " + std::to_string(leaves) + ":\n        return\n";
    if (s.kind == Statement::Kind::Load)
      addLines(text, name(*this, int(i)) + " = tl.load(" +
                         place("p" + std::to_string(i), s.type, s.columnMajor) + ")");
    else if (!s.text.empty())
      addLines(text, filled(*this, int(i), runsPtx));
  }
  for (int v : results())
    if (statements[v].isValue())
      addLines(text, "tl.store(" + place("o" + std::to_string(v), statements[v].type, false) +
                         ", " + name(*this, v) + ")");
  return text;
}

static std::string descriptorType(const Statement &s) {
  std::string text = std::string("tensordesc<") + typeName(s.type.element) + "[";
  for (auto [d, size] : llvm::enumerate(s.block))
    text += (d ? "," : "") + std::to_string(size);
  return text + (s.padNan ? "],nan>" : "]>");
}

std::string Kernel::signature() const {
  std::string text;
  auto add = [&](const std::string &type) { text += (text.empty() ? "" : ", ") + type; };
  auto pointer = [](const Statement &s) {
    return "*" + std::string(typeName(s.type.element)) + ":16";
  };
  for (int v : inputs())
    add(statements[v].kind == Statement::Kind::Descriptor ? descriptorType(statements[v])
                                                          : pointer(statements[v]));
  for (int v : arguments())
    add(std::string(typeName(statements[v].type.element)) + (statements[v].hinted ? ":16" : ""));
  for (int v : results())
    add(pointer(statements[v]));
  return text;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

const llvm::fltSemantics &fuzz::formatOf(Element element) {
  switch (element) {
  case Element::F8E5:
    return llvm::APFloat::Float8E5M2();
  case Element::F8E4:
    return llvm::APFloat::Float8E4M3FN();
  case Element::F16:
    return llvm::APFloat::IEEEhalf();
  case Element::BF16:
    return llvm::APFloat::BFloat();
  case Element::F32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

static uint64_t floatBits(double value, Element element) {
  llvm::APFloat f(value);
  bool lossy;
  f.convert(formatOf(element), llvm::APFloat::rmNearestTiesToEven, &lossy);
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

std::vector<uint8_t> fuzz::initialData(const Kernel &kernel, int variable) {
  const Type &type = kernel.statements[variable].type;
  std::mt19937_64 random(kernel.seed * 1000003 + uint64_t(variable));
  unsigned bytes = std::max(bitsOf(type.element) / 8, 1u);
  std::vector<uint8_t> data;
  for (int64_t k = 0; k < type.count() * kernel.programs; ++k) {
    uint64_t bits;
    if (kernel.algebraic)
      bits = random();
    else if (type.element == Element::I1)
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
