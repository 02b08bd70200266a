//===- GenerateStrides.cpp - elements that share bytes, lie apart, change places ===//
//
// What chooses layouts and shares loads: words of which several elements of a row take their part,
// behind masks and with other values that these have in common or not; rows of which memory has one
// element in a few, rows that overlap; networks that sort.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }
static std::string range(int64_t size) { return "tl.arange(0, " + text(size) + ")"; }

/// Blocks of bits out of words; twice with other masks, now and then.
void Generator::unpacked() {
  Element element = oneOf({Element::U8, Element::I8, Element::I16, Element::I32, Element::I64});
  int64_t parts = oneOf({2, 4, 8}), rows = int64_t(1) << below(6),
          columns = int64_t(16) << below(5);
  while (rows * columns > std::max<int64_t>(mostElements, 4096))
    rows /= 2;
  int64_t words = columns / parts, pitch = words + (chance(30) ? between(1, 9) : 0);
  std::vector<int> operands{buffer({element, {rows * pitch}, 0})};
  std::string p = text(parts), m = number(between(0, rows), operands),
              n = number(between(0, columns), operands), sp = number(pitch, operands);
  std::string word =
      oneOf<std::string>({"j{r} // " + p, "j{r} // " + p, "j{r} % " + text(words),
                          "(j{r} // " + text(2 * parts) + ") * 2 + j{r} % 2", "j{r} * 0"});
  auto load = [&] {
    std::string mask = oneOf<std::string>(
        {"", "i{r} < " + m, "j{r} < " + n, "j{r} // " + p + " * " + p + " < " + n,
         "(i{r} < " + m + ") & (j{r} < " + n + ")", "(i{r} + j{r}) % 3 != 0", "j{r} % 2 == 0",
         "(j{r} + pid) % " + p + " != 1"});
    std::string other =
        oneOf<std::string>({"", "0", "5", "j{r} % 7", "i{r} % 5", "j{r} // " + p + " % 9",
                            "tl.where(j{r} % " + p + " == 0, 0, 3)"});
    return "tl.load({0} + pid * " + text(rows * pitch) + " + i{r} * " + sp + " + " + word +
           (mask.empty() ? "" : ", mask=" + mask) +
           (mask.empty() || other.empty() ? "" : ", other=" + other) + ")";
  };
  std::string head = "i{r} = " + range(rows) + "[:, None]\nj{r} = " + range(columns) +
                     "[None, :]\nw{r} = " + load() + ".to(tl.int32)\n";
  int64_t bits = std::min<int64_t>(bitsOf(element), 32) / parts;
  std::string part =
      "((w{r} >> (j{r} % " + p + ") * " + text(bits) + ") & " + text((1 << bits) - 1) + ")";
  std::string value = oneOf<std::string>(
      {"w{r}", part, part + " - 8", part + " + " + load() + ".to(tl.int32) * 3"});
  add({Element::I32, {rows, columns}, 0}, head + "{r} = " + value, operands);
}

/// One element of a few, rows that overlap or are the same, and what lies turned: as it is, turned
/// in registers, summed.
void Generator::strided() {
  bool writes = chance(25);
  Element element = oneOf({Element::I8, Element::I16, Element::I32, Element::F16, Element::BF16,
                           Element::F32, Element::I64});
  double bound = isFloat(element) ? 7 : 0;
  int64_t rows = int64_t(1) << below(7), columns = int64_t(1) << below(7);
  if (isOdd && chance(50))
    rows = between(1, 33), columns = between(1, 65);
  int v = -1;
  std::vector<int> operands;
  if (writes) {
    v = pick([](const Type &t) { return t.shape.size() == 2 && t.element != Element::I1; },
             [&] { return Type{element, {rows, columns}, bound}; });
    element = typeOf(v).element, bound = typeOf(v).bound;
    rows = typeOf(v).shape[0], columns = typeOf(v).shape[1];
  }
  int64_t apart = oneOf({2, 2, 3, 4, 8, 16}), sj = apart, si = apart * columns;
  switch (below(writes ? 3 : 6)) {
  case 0: // rows one behind the other
    si += chance(50) ? 0 : between(1, 8);
    break;
  case 1: // columns one behind the other
    si = apart, sj = apart * rows;
    break;
  case 2: // one channel of a few in the rows' direction
    si = 1, sj = rows * apart;
    break;
  case 3: // windows
    si = 1, sj = oneOf({1, 2});
    break;
  case 4: // all rows the same
    si = 0;
    break;
  default: // all columns the same
    si = apart, sj = 0;
  }
  int64_t first = between(0, 3), total = (rows - 1) * si + (columns - 1) * sj + first + 1;
  Type memory{element, {total}, bound};
  operands = {writes ? v : buffer(memory)};
  std::string at = std::string(writes ? "{r}" : "{0}") + " + pid * " + text(total) + " + " +
                   number(first, operands) + " + i{r} * " + number(si, operands) + " + j{r} * " +
                   number(sj, operands);
  std::string head =
      "i{r} = " + range(rows) + "[:, None]\nj{r} = " + range(columns) + "[None, :]\n";
  std::string mask = chance(50) ? ""
                                : ", mask=(i{r} < " + number(between(0, rows), operands) +
                                      ") & (j{r} < " + number(between(0, columns), operands) + ")";
  if (writes) {
    effect(memory, head + "tl.store(" + at + ", {0}" + mask + ")", operands);
    return;
  }
  if (!mask.empty() && chance(60))
    mask += oneOf({", other=0", ", other=2"});
  std::string load = "tl.load(" + at + mask + ")";
  used({element, {rows, columns}, bound}, head, load, operands);
}

/// What `load` gives, behind the lines of `head`: as it is, turned, or summed.
void Generator::used(Type type, const std::string &head, const std::string &load,
                     const std::vector<int> &operands) {
  switch (below(3)) {
  case 0:
    add(type, head + "{r} = " + load, operands);
    return;
  case 1:
    std::swap(type.shape[0], type.shape[1]);
    add(type, head + "{r} = " + load + ".T", operands);
    return;
  default: {
    size_t axis = below(2);
    bool wide = type.element == Element::I64;
    type.element = isFloat(type.element) ? Element::F32 : wide ? Element::I64 : Element::I32;
    type.bound *= double(type.shape[axis]);
    type.shape.erase(type.shape.begin() + axis);
    add(type,
        head + "{r} = tl.sum(" + load + ".to(tl." + spelling(type.element) + "), " +
            text(int64_t(axis)) + ")",
        operands);
  }
  }
}

/// Some steps of a network that sorts rows, each element beside the one that it changes places
/// with.
void Generator::network() {
  auto fits = [](const Type &t) {
    int64_t n = t.shape.size() == 2 ? t.shape[1] : 0;
    return n > 1 && (n & (n - 1)) == 0 && n <= 256 && !isFloat(t.element) &&
           bitsOf(t.element) >= 32;
  };
  int a = pick(fits, [&] {
    return Type{
        oneOf({Element::I32, Element::I64}), {int64_t(1) << below(5), int64_t(2) << below(7)}, 0};
  });
  Type type = typeOf(a);
  int64_t rows = type.shape[0], columns = type.shape[1];
  std::string code = "{r} = {0}";
  for (int64_t step = 0, steps = between(1, 5); step < steps; ++step) {
    int64_t distance = int64_t(1) << below(uint64_t(std::log2(double(columns))));
    std::string pairs =
        "(" + text(rows * columns / (2 * distance)) + ", 2, " + text(distance) + ")";
    std::string descends = chance(50)
                               ? ""
                               : " != ((tl.arange(0, " + text(rows * columns / (2 * distance)) +
                                     ")[:, None, None] & " + oneOf({"1", "2"}) + ") != 0)";
    code += "\nt{r} = tl.reshape({r}, " + pairs +
            ")\nu{r} = t{r} ^ tl.xor_sum(t{r}, 1, keep_dims=True)\nb{r} = (tl.arange(0, 2)[None, "
            ":, None] == 0)" +
            descends + "\n{r} = tl.reshape(tl.where((t{r} > u{r}) == b{r}, u{r}, t{r}), (" +
            text(rows) + ", " + text(columns) + "))";
  }
  add(type, code, {a});
}
