//===- GenerateMemory.cpp - parts of arrays, atomics, products --------------===//
//
// Sizes and strides are run-time values or literals; masks and bounds keep every
// access within its array.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }

/// A literal, or an argument of the launch.
std::string Generator::number(int64_t value, std::vector<int> &operands) {
  if (chance(40))
    return text(value);
  operands.push_back(argument(chance(25) ? Element::I64 : Element::I32, value));
  return "{" + text(int64_t(operands.size()) - 1) + "}";
}

/// Memory for an array that is at least as large as most of `block`, and the source
/// of its sizes and strides. It becomes operand 0, or `{r}` if it is written.
Generator::Matrix Generator::matrix(bool isWritten, const Type &block, std::vector<int> &operands,
                                    bool forDescriptor) {
  Matrix result;
  result.block = block;
  int64_t unit = forDescriptor ? std::max<int64_t>(1, 128 / bitsOf(block.element)) : 1;
  auto sizeFor = [&](int64_t extent) {
    int64_t size = chance(40) ? extent : between(std::max<int64_t>(1, extent / 2), extent * 2);
    return std::max<int64_t>(size, 1);
  };
  result.rows = sizeFor(block.shape[0]);
  result.columns = sizeFor(block.shape[1]);
  int64_t stride = (result.columns + unit - 1) / unit * unit;
  if (chance(30))
    stride += unit * int64_t(below(3));
  bool transposed = !forDescriptor && chance(25);
  int64_t total = transposed ? result.columns * result.rows : result.rows * stride;
  total = (total + unit - 1) / unit * unit;
  Type memory{block.element, {total}, block.bound};
  if (isWritten) {
    result.base = "{r} + pid * " + text(total);
  } else {
    result.buffer = buffer(memory);
    operands.push_back(result.buffer);
    result.base = "{0} + pid * " + text(total);
  }
  result.block = memory;
  result.m = number(result.rows, operands), result.n = number(result.columns, operands);
  result.sm = transposed ? "1" : number(stride, operands);
  result.sn = transposed ? number(result.rows, operands) : "1";
  return result;
}

static std::string range(int64_t size) { return "tl.arange(0, " + text(size) + ")"; }

/// A number that the element type holds, for lanes that are off.
static std::string otherwise(Element element, uint64_t random) {
  if (element == Element::I1)
    return "False";
  return isFloat(element) ? (random % 2 ? "0.0" : "3.0") : text(int64_t(random % 2) * 5);
}

/// A block of an array, whose edge it may cross.
void Generator::masked() {
  Type block = freshType();
  block.shape = {int64_t(1) << below(6), int64_t(1) << below(6)};
  if (isOdd && chance(50))
    block.shape[1] = between(1, 40);
  std::vector<int> operands;
  Matrix a = matrix(false, block, operands, false);
  std::string first = oneOf<std::string>({"0", "1", "pid", number(2, operands)});
  std::string i = "(" + first + " + " + range(block.shape[0]) + ")[:, None]";
  std::string j = range(block.shape[1]) + "[None, :]", c = text(favourite);
  std::string at = oneOf<std::string>(
      {"(" + a.base + ") + i{r} * " + a.sm + " + j{r} * " + a.sn,
       "(" + a.base + ") + (i{r} * " + a.sm + " + j{r} * " + a.sn + ")",
       "((" + a.base + ") + i{r} * " + a.sm + ") + j{r} * " + a.sn,
       "(" + a.base + ") + (i{r} + " + c + ") * " + a.sm + " + (j{r} * " + a.sn + " - " + c +
           " * " + a.sm + ")",
       "(" + a.base + ") + i{r}.to(tl.int64) * " + a.sm + " + j{r}.to(tl.int64) * " + a.sn});
  std::string mask = "(i{r} < " + a.m + ") & (j{r} < " + a.n + ")";
  std::string other = chance(50) ? ", other=" + otherwise(block.element, below(4)) : "";
  add(block,
      "i{r} = " + i + "\nj{r} = " + j + "\n{r} = tl.load(" + at + ", mask=" + mask + other + ")",
      operands);
}

void Generator::masked3() {
  Type block = freshType();
  block.shape = {int64_t(1) << below(4), int64_t(1) << below(4), int64_t(1) << below(4)};
  int64_t d0 = between(1, 10), d1 = between(1, 12), d2 = between(1, 12);
  int64_t order = int64_t(below(3));
  int64_t s0 = order == 0 ? d1 * d2 : order == 1 ? d2 : 1;
  int64_t s1 = order == 0 ? d2 : d0 * d2;
  int64_t s2 = order == 2 ? d0 : 1;
  std::vector<int> operands{buffer({block.element, {d0 * d1 * d2}, block.bound})};
  auto size = [&](int64_t value) { return number(value, operands); };
  std::string n0 = size(d0), n1 = size(d1), n2 = size(d2);
  std::string at = "{0} + pid * " + text(d0 * d1 * d2) + " + i{r} * " + size(s0) + " + j{r} * " +
                   size(s1) + " + k{r} * " + size(s2);
  std::string other = chance(50) ? ", other=" + otherwise(block.element, below(4)) : "";
  add(block,
      "i{r} = " + range(block.shape[0]) + "[:, None, None]\nj{r} = " + range(block.shape[1]) +
          "[None, :, None]\nk{r} = " + range(block.shape[2]) + "[None, None, :]\n{r} = tl.load(" +
          at + ", mask=(i{r} < " + n0 + ") & (j{r} < " + n1 + ") & (k{r} < " + n2 + ")" + other +
          ")",
      operands);
}

/// The sum of blocks that a pointer goes over, row by row of blocks.
void Generator::marching() {
  Type block;
  block.element = oneOf({Element::I32, Element::I64, Element::F32, Element::F16, Element::I16});
  block.bound = isFloat(block.element) ? 7 : 0;
  int64_t rows = int64_t(1) << below(4), columns = int64_t(1) << below(7);
  block.shape = {rows, columns};
  std::vector<int> operands;
  Type all = block;
  all.shape[0] = rows * int64_t(1 + below(5));
  Matrix a = matrix(false, all, operands, false);
  std::string stages = oneOf({"", ", num_stages=2", ", num_stages=3"});
  std::string mask = "mask=(k + i{r} < " + a.m + ") & (j{r} < " + a.n + "), other=0";
  std::string loop = "for k in tl.range(0, " + a.m + ", " + text(rows) + stages + "):\n    ";
  std::string start = "i{r} = " + range(rows) + "[:, None]\nj{r} = " + range(columns) +
                      "[None, :]\n{r} = tl.zeros(" + listed(block.shape) + ", tl." +
                      spelling(block.element) + ")\n";
  std::string first = "(" + a.base + ") + i{r} * " + a.sm + " + j{r} * " + a.sn;
  std::string body = chance(50)
                         ? start + "t{r} = " + first + "\n" + loop + "{r} += tl.load(t{r}, " +
                               mask + ")\n    t{r} += " + text(rows) + " * " + a.sm
                         : start + loop + "{r} += tl.load((" + a.base + ") + (k + i{r}) * " + a.sm +
                               " + j{r} * " + a.sn + ", " + mask + ")";
  add(bounded(block, block.bound ? 7.0 * 20 : 0), body, operands);
}

/// A two-dimensional block back into an array.
void Generator::scatterBack() {
  int v = pick([](const Type &t) { return t.shape.size() == 2; },
               [&] { return Type{Element::F32, {8, 32}, 0}; });
  std::vector<int> operands{v};
  Matrix a = matrix(true, typeOf(v), operands, false);
  std::string mask = "(i{r} < " + a.m + ") & (j{r} < " + a.n + ")";
  if (chance(30))
    mask += " & ((i{r} + j{r}) % 3 != 1)";
  effect(a.block,
         "i{r} = " + range(typeOf(v).shape[0]) + "[:, None]\nj{r} = " + range(typeOf(v).shape[1]) +
             "[None, :]\ntl.store(" + a.base + " + i{r} * " + a.sm + " + j{r} * " + a.sn +
             ", {0}, mask=" + mask + ")",
         operands);
}

void Generator::blockPointer() {
  bool writes = chance(30);
  std::vector<int> operands;
  Type block = freshType();
  block.shape = {int64_t(1) << below(6), int64_t(1) << below(6)};
  if (writes) {
    int v = pick([](const Type &t) { return t.shape.size() == 2; }, [&] { return block; });
    block = typeOf(v);
    operands.push_back(v);
  }
  Matrix a = matrix(writes, block, operands, false);
  std::string o0 = oneOf<std::string>({"0", "-1", "pid", number(3, operands)}),
              o1 = oneOf<std::string>({"0", "2", "-3", number(1, operands)});
  std::string pointer = "tl.make_block_ptr(" + a.base + ", (" + a.m + ", " + a.n + "), (" + a.sm +
                        ", " + a.sn + "), (" + o0 + ", " + o1 + "), " + listed(block.shape) +
                        ", (1, 0))";
  if (writes) {
    effect(a.block, "tl.store(" + pointer + ", {0}, boundary_check=(0, 1))", operands);
    return;
  }
  // NaN is something that only arithmetic knows.
  bool nan = isFloat(block.element) && !block.bound && chance(20);
  std::string how = std::string(", boundary_check=(0, 1)") +
                    (nan ? ", padding_option=\"nan\"" : ", padding_option=\"zero\"");
  if (block.element == Element::I1 || isNarrowFloat(block.element) ||
      (isFloat(block.element) && !block.bound) || chance(50)) {
    add(block, "{r} = tl.load(" + pointer + how + ")", operands);
    return;
  }
  double bound = block.bound * 4;
  add(bounded(block, bound),
      "t{r} = " + pointer + "\n{r} = tl.zeros(" + listed(block.shape) + ", tl." +
          spelling(block.element) + ")\nfor k in range(0, 3):\n    {r} += tl.load(t{r}" + how +
          ")\n    t{r} = tl.advance(t{r}, (" + text(block.shape[0] / 2) + ", 1))",
      operands);
}

void Generator::descriptor() {
  bool writes = chance(40);
  std::vector<int> operands;
  Type block = freshType();
  if (block.element == Element::I1)
    block.element = Element::I32;
  int64_t least = 128 / int64_t(bitsOf(block.element));
  block.shape = {int64_t(1) << below(6), least << below(3)};
  if (writes) {
    auto fits = [](const Type &t) {
      return t.shape.size() == 2 && t.element != Element::I1 &&
             t.shape[1] * int64_t(bitsOf(t.element)) >= 128;
    };
    int v = pick(fits, [&] { return block; });
    block = typeOf(v);
    operands.push_back(v);
  }
  Matrix a = matrix(writes, block, operands, true);
  std::string o0 = oneOf<std::string>({"0", "-1", "pid", number(3, operands)}),
              o1 = oneOf<std::string>({"0", "8", "-3", number(1, operands)});
  std::string made = "t{r} = tl.make_tensor_descriptor(" + a.base + ", [" + a.m + ", " + a.n +
                     "], [" + a.sm + ", 1], " + listed(block.shape) + ")\n";
  std::string at = "[" + o0 + ", " + o1 + "]";
  bool counts = block.element == Element::I32 || block.element == Element::U32;
  if (writes)
    effect(a.block,
           made + (counts && chance(50) ? "t{r}.atomic_add(" + at + ", {0})"
                                        : "t{r}.store(" + at + ", {0})"),
           operands);
  else
    add(block, made + "{r} = t{r}.load(" + at + ")", operands);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Many to one place; only what any order gives.
void Generator::atomics() {
  int v = pick(
      [](const Type &t) {
        return t.element == Element::I32 || t.element == Element::U32 ||
               t.element == Element::I64 || t.element == Element::U64 ||
               (isFloat(t.element) && t.bound && !isNarrowFloat(t.element));
      },
      [&] { return Type{oneOf({Element::I32, Element::I64, Element::F32}), freshShape(), 7}; });
  Type type = typeOf(v);
  int64_t slots = oneOf<int64_t>({1, 3, 16, 64});
  bool real = isFloat(type.element), wide = bitsOf(type.element) >= 32;
  double sum = 7 + type.bound * double(type.count()) * kernel.programs;
  std::string op = "add";
  if (real && (sum > exactLimit(type.element) || (wide && chance(30)))) {
    if (!wide)
      return;
    op = oneOf({"max", "min"});
  } else if (!real) {
    op = oneOf({"add", "add", "max", "min", "and", "or", "xor"});
  }
  std::vector<int> operands{v};
  std::string index = "0", mask;
  if (!type.shape.empty()) {
    int places =
        pick([&](const Type &t) { return t.element == Element::I32 && t.shape == type.shape; },
             [&] { return Type{Element::I32, type.shape, 0}; });
    int test = condition(type.shape);
    operands = {v, places, test};
    index = "({1} & 1023) % " + text(slots);
    mask = chance(50) ? ", mask={2}" : "";
  }
  std::string base = chance(50) ? "{r} + " : "{r} + pid * " + text(slots) + " + ";
  std::string sem = chance(30) ? ", sem=\"relaxed\"" : "";
  // Which of two zeros is larger is of no interest: none is negative.
  std::string value = real && op != "add" ? "{0} + 0.0" : "{0}";
  effect({type.element, {slots}, real ? 7.0 : 0.0},
         "tl.atomic_" + op + "(" + base + index + ", " + value + mask + sem + ")", operands);
}

/// One to each place, and what was there.
void Generator::atomicResults() {
  int v = pick(
      [](const Type &t) {
        return t.element == Element::I32 || t.element == Element::U32 ||
               t.element == Element::I64 || t.element == Element::F32;
      },
      [&] { return Type{Element::I32, freshShape(), 0}; });
  Type type = typeOf(v);
  double bound = type.bound;
  int memory = effect({type.element, type.shape, bound ? 7.0 : 0.0}, "", {});
  std::string at = "{1} + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  bool real = isFloat(type.element);
  std::string op =
      real ? oneOf({"xchg", "add"}) : oneOf({"xchg", "add", "max", "and", "xor", "cas"});
  Type result = bounded(type, bound ? 7 : 0);
  if (op == "cas")
    add(result, "{r} = tl.atomic_cas(" + at + ", {0} & 15, {0})", {v, memory});
  else
    add(result, "{r} = tl.atomic_" + op + "(" + at + ", {0})", {v, memory});
}

//===----------------------------------------------------------------------===//
// Products in loops
//===----------------------------------------------------------------------===//

/// A matrix product over blocks that cross the edges of their arrays: by pointers,
/// block pointers or descriptors.
void Generator::product() {
  Element element = oneOf({Element::F16, Element::F16, Element::BF16, Element::F32, Element::I8,
                           Element::F8E5, Element::F8E4});
  bool real = isFloat(element);
  int64_t m = oneOf({16, 32, 64, 64, 128}), n = oneOf({16, 32, 64}), k = oneOf({16, 32, 64});
  if (isOdd && chance(40))
    m = oneOf({24, 48}), n = oneOf({24, 40});
  int64_t unit = std::max<int64_t>(1, 128 / bitsOf(element));
  int64_t length = chance(30) ? k * between(0, 3) : between(1, 3 * k);
  int64_t columns = chance(50) ? n : between(1, n);
  bool turned = chance(40); // the right operand lies column by column
  int64_t lengthPitch = (length + unit - 1) / unit * unit,
          pitch = (columns + unit - 1) / unit * unit;
  if (!chance(70))
    lengthPitch += unit, pitch += unit;
  lengthPitch = std::max(lengthPitch, unit);
  double bound = real ? 3 : 0;
  // The programs take rows of one left operand, and share the right one.
  int64_t rows = m * kernel.programs - int64_t(chance(50) ? below(uint64_t(m)) : 0);
  std::vector<int> operands{
      buffer({element, {m * lengthPitch}, bound}),
      buffer({element, {turned ? n * lengthPitch : (3 * k + n) * pitch}, bound})};
  std::string M = number(rows, operands), N = number(columns, operands),
              K = number(length, operands), sa = number(lengthPitch, operands);
  std::string sb = number(turned ? lengthPitch : pitch, operands);
  std::string bk = text(k), bm = text(m), bn = text(n);
  std::string accumulator = real ? "tl.float32" : "tl.int32";
  std::string acc = "{r} = tl.zeros((" + bm + ", " + bn + "), " + accumulator + ")\n";
  std::string loop = "for k in " +
                     oneOf<std::string>({"range(0, " + K + ", " + bk + ")",
                                         "tl.range(0, " + K + ", " + bk + ", num_stages=2)",
                                         "tl.range(0, " + K + ", " + bk + ", num_stages=4)"}) +
                     ":\n";
  std::string precision = element == Element::F32 && chance(40) ? ", input_precision=\"ieee\"" : "";
  auto use = [&](const std::string &x, const std::string &y) {
    return "    x{r} = " + x + "\n    y{r} = " + y + "\n    " +
           oneOf<std::string>({"{r} = tl.dot(x{r}, y{r}, {r}" + precision + ")",
                               "{r} += tl.dot(x{r}, y{r}" + precision + ")"});
  };
  std::string code;
  unsigned way = unsigned(below(4));
  if (way == 0) {
    code = "t{r} = tl.make_tensor_descriptor({0}, [" + M + ", " + K + "], [" + sa + ", 1], (" + bm +
           ", " + bk + "))\nu{r} = tl.make_tensor_descriptor({1}, [" +
           (turned ? N + ", " + K : K + ", " + N) + "], [" + sb + ", 1], (" +
           (turned ? bn + ", " + bk : bk + ", " + bn) + "))\n" + acc + loop +
           use("t{r}.load([pid * " + bm + ", k])",
               turned ? "u{r}.load([0, k]).T" : "u{r}.load([k, 0])");
  } else if (way == 1) {
    code = "t{r} = tl.make_block_ptr({0}, (" + M + ", " + K + "), (" + sa + ", 1), (pid * " + bm +
           ", 0), (" + bm + ", " + bk + "), (1, 0))\nu{r} = tl.make_block_ptr({1}, (" + K + ", " +
           N + "), " + (turned ? "(1, " + sb + ")" : "(" + sb + ", 1)") + ", (0, 0), (" + bk +
           ", " + bn + "), (1, 0))\n" + acc + loop +
           use("tl.load(t{r}, boundary_check=(0, 1), padding_option=\"zero\")",
               "tl.load(u{r}, boundary_check=(0, 1), padding_option=\"zero\")") +
           "\n    t{r} = tl.advance(t{r}, (0, " + bk + "))\n    u{r} = tl.advance(u{r}, (" + bk +
           ", 0))";
  } else {
    code = "i{r} = pid * " + bm + " + " + range(m) + "\nj{r} = " + range(n) +
           "\nk{r} = " + range(k) + "\nt{r} = {0} + i{r}[:, None] * " + sa +
           " + k{r}[None, :]\nu{r} = {1} + " +
           (turned ? "k{r}[:, None] + j{r}[None, :] * " + sb
                   : "k{r}[:, None] * " + sb + " + j{r}[None, :]") +
           "\n" + acc + loop;
    std::string left = "(k + k{r}[None, :] < " + K + ") & (i{r}[:, None] < " + M + ")",
                right = "(k + k{r}[:, None] < " + K + ") & (j{r}[None, :] < " + N + ")";
    std::string ahead = turned ? "k" : "k * " + sb;
    if (way == 2)
      code += use("tl.load(t{r} + k, mask=" + left + ", other=0)",
                  "tl.load(u{r} + " + ahead + ", mask=" + right + ", other=0)");
    else
      code += use("tl.load(t{r}, mask=" + left + ", other=0)",
                  "tl.load(u{r}, mask=" + right + ", other=0)") +
              "\n    t{r} += " + bk + "\n    u{r} += " + (turned ? bk : bk + " * " + sb);
  }
  add(bounded({real ? Element::F32 : Element::I32, {m, n}, 0}, bound * bound * double(3 * k)), code,
      operands);
}
