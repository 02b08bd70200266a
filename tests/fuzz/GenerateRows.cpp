//===- GenerateRows.cpp - rows as normalisations and sums of rows read them --===//
//
// What passes look for in kernels that reduce rows: a mean that is taken away and cleared behind
// the row's end, weights that all programs read, rows that a loop adds up; and products of columns
// that are no power of two. Means are sums of whole numbers times a power of two, so that any order
// gives the same.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }

void Generator::normalizedRow() {
  Element element = oneOf({Element::F16, Element::BF16, Element::F32, Element::F32});
  int64_t block = oneOf({64, 256, 1024}), length = chance(50) ? block : between(1, block);
  std::vector<int> operands{buffer({element, {length}, 7}), buffer({element, {length}, 7})};
  std::string n = number(length, operands);
  bool isWhole = length == block && chance(60);
  std::string masked = std::string(isWhole ? "" : ", mask=m{r}, other=0") + ").to(tl.float32)\n";
  std::string code = "i{r} = tl.arange(0, " + text(block) + ")\nm{r} = i{r} < " + n +
                     "\nx{r} = tl.load({0} + pid * " + text(length) + " + i{r}" + masked +
                     "d{r} = tl.where(m{r}, x{r} - tl.sum(x{r}, 0) * 0.125, 0.0)\n" +
                     "s{r} = " + oneOf({"tl.max(tl.abs(d{r}), 0)", "tl.sum(d{r}, 0)"}) +
                     "\nw{r} = tl.load({1} + i{r}" + masked + "{r} = d{r} * w{r} + s{r}";
  add({Element::F32, {block}, 0}, code, operands);
}

void Generator::sumOfRows() {
  Element element = oneOf({Element::F32, Element::I32, Element::F16});
  int64_t columns = oneOf({256, 512, 1024}), turns = between(1, 8);
  bool isReal = isFloat(element);
  Type row{element, {columns}, isReal ? 7.0 : 0};
  std::vector<int> operands{buffer({element, {columns * turns}, row.bound})};
  std::string size = text(columns), stages = oneOf({"2", "3", "4"});
  std::string code =
      "{r} = tl.zeros((" + size + ",), tl." + spelling(element) + ")\ni{r} = tl.arange(0, " + size +
      ")\nfor t{r} in tl.range(0, " + number(turns, operands) + ", num_stages=" + stages +
      "):\n    {r} += tl.load({0} + (pid * " + text(turns) + " + t{r}) * " + size + " + i{r})";
  add(bounded(row, isReal ? 7.0 * double(turns) : 0), code, operands);
}

/// Rows that are gone over twice or three times in pieces: summed up, then written, perhaps where
/// they were read, or one place further on, where the order of turns tells.
void Generator::secondSweep() {
  Element element = oneOf({Element::I32, Element::F32, Element::I16, Element::F16});
  bool real = isFloat(element);
  int64_t block = oneOf({16, 64, 128}), rows = oneOf({1, 1, 2, 4}), length = between(1, 5 * block);
  Type held{real ? Element::F32 : Element::I32, {rows, length}, real ? 7.0 : 0};
  std::vector<int> operands{buffer({element, {rows, length}, real ? 7.0 : 0})};
  std::string n = number(length, operands), b = text(block),
              wide = ").to(tl." + std::string(spelling(held.element)) + ")",
              stages = oneOf({"", ", num_stages=2"});
  bool counts = chance(40), inPlace = chance(40);
  int64_t shift = chance(25) ? oneOf({1, 3}) : 0;
  std::string loop =
      counts ? "for k{r} in tl.range(0, tl.cdiv(" + n + ", " + b + ")" + stages +
                   "):\n    i{r} = k{r} * " + b + " + j{r}\n"
             : "for k{r} in tl.range(0, " + n + ", " + b + stages + "):\n    i{r} = k{r} + j{r}\n";
  std::string at = " + pid * " + text(rows * length) + " + q{r} * " +
                   (chance(50) ? n : text(length)) + " + i{r}",
              mask = ", mask=i{r} < " + n, first = inPlace ? "{r}" : "{0}";
  std::string further = shift ? " + " + text(shift) : "",
              barrier = shift && inPlace ? "    tl.debug_barrier()\n" : "";
  std::string code = "j{r} = tl.arange(0, " + b + ")[None, :]\nq{r} = tl.arange(0, " + text(rows) +
                     ")[:, None]\ns{r} = tl.zeros((" + text(rows) + ", " + b + "), tl." +
                     spelling(held.element) + ")\n" + loop + "    s{r} += tl.load(" + first + at +
                     mask + ", other=0" + wide + "\nt{r} = tl.sum(s{r}, 1)[:, None]\n" + loop +
                     "    v{r} = tl.load(" + first + at + mask + ", other=0" + wide + "\n" +
                     barrier + "    tl.store({r}" + at + further + ", v{r} + t{r}, mask=i{r}" +
                     further + " < " + n + ")\n" + barrier + (shift ? "tl.debug_barrier()\n" : "");
  if (chance(40))
    code += loop + "    w{r} = tl.load({r}" + at + mask + ", other=0)\n    tl.store({r}" + at +
            ", w{r} * 2" + mask + ")\n";
  effect(held, code, operands); // begins with whole numbers
}

/// Columns that become several products.
void Generator::wideProduct() {
  Element element = oneOf({Element::F16, Element::BF16});
  int64_t m = oneOf({64, 128}), n = oneOf({192, 320}), k = oneOf({32, 64});
  productOf(factor(element, {m, k}, 7), factor(element, {k, n}, 7), double(k));
}
