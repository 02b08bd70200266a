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

/// Columns that become several products.
void Generator::wideProduct() {
  Element element = oneOf({Element::F16, Element::BF16});
  int64_t m = oneOf({64, 128}), n = oneOf({192, 320}), k = oneOf({32, 64});
  productOf(factor(element, {m, k}, 7), factor(element, {k, n}, 7), double(k));
}
