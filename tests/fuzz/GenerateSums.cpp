//===- GenerateSums.cpp - what is added to products, what while loops add up ===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }
static std::string range(int64_t size) { return "tl.arange(0, " + text(size) + ")"; }

/// Products beside sums that may be joined to them: before, behind, one after the other, narrow.
void Generator::joinedProduct() {
  Element element = oneOf({Element::F16, Element::BF16, Element::F8E5, Element::F8E4, Element::F8E4,
                           Element::I8, Element::F32});
  bool real = isFloat(element);
  int64_t m = oneOf({16, 32, 64, 64, 128}), n = oneOf({16, 32, 64}), k = oneOf({32, 64});
  int a = factor(element, {m, k}, 3), b = factor(element, {k, n}, 3);
  Type type{real ? Element::F32 : Element::I32, {m, n}, real ? 7.0 : 0};
  int x = pick(
      [&](const Type &t) {
        return t.element == type.element && t.shape == type.shape &&
               (!real || (t.bound && t.bound <= 4096));
      },
      [&] { return type; });
  int row = input({type.element, {n}, type.bound});
  double product = 9.0 * double(k), most = std::max(typeOf(x).bound, 7.0);
  std::string dot = "tl.dot({0}, {1})";
  static constexpr const char *forms[] = {"{2} + D",
                                          "D + {2}",
                                          "{2} - D",
                                          "D - {2}",
                                          "D * 2 + {2}",
                                          "D + {3}[None, :]",
                                          "D + {2} + {3}[None, :]",
                                          "D + D + {2}",
                                          "tl.dot({0}, {1}, {2})",
                                          "tl.dot({0}, {1}, {2}) + D",
                                          "tl.dot({0}, {1}, {2} + {3}[None, :])",
                                          "tl.where(D > {2}, D, {2})",
                                          "tl.dot({0}, {1}, tl.dot({0}, {1}, {2})) - {2}"};
  std::string form = forms[below(std::size(forms))];
  for (size_t at; (at = form.find('D')) != std::string::npos;)
    form.replace(at, 1, dot);
  add(bounded(type, real ? 3 * product + 3 * most : 0), "{r} = " + form, {a, b, x, row});
}

/// Products that a loop adds up, the program or the product itself, beside other sums; `while`
/// loops that count as well.
void Generator::summedProducts() {
  Element element = oneOf(
      {Element::F16, Element::BF16, Element::F8E5, Element::F8E4, Element::F8E4, Element::I8});
  bool real = isFloat(element);
  int64_t m = oneOf({16, 32, 64, 64, 128}), n = oneOf({16, 32, 64}), k = oneOf({32, 64}),
          turns = between(0, 4);
  double bound = real ? 3 : 0;
  std::vector<int> operands{buffer({element, {m * k * std::max<int64_t>(turns, 1)}, bound}),
                            buffer({element, {n * k * std::max<int64_t>(turns, 1)}, bound})};
  Type type{real ? Element::F32 : Element::I32, {m, n}, bound * bound * double(12 * k) + 30};
  std::string zeros = "tl.zeros(" + listed(type.shape) + ", tl." + spelling(type.element) + ")";
  std::string count = number(turns, operands);
  bool turned = chance(50);
  std::string right = turned ? range(k) + "[:, None] + " + range(n) + "[None, :] * " + text(k)
                             : range(k) + "[:, None] * " + text(n) + " + " + range(n) + "[None, :]";
  std::string loads = "    x{r} = tl.load({0} + (pid * " + text(std::max<int64_t>(turns, 1)) +
                      " + t{r}) * " + text(m * k) + " + " + range(m) + "[:, None] * " + text(k) +
                      " + " + range(k) + "[None, :])\n    y{r} = tl.load({1} + (pid * " +
                      text(std::max<int64_t>(turns, 1)) + " + t{r}) * " + text(k * n) + " + " +
                      right + ")\n";
  std::string bits = isNarrowFloat(element)
                         ? oneOf<std::string>({"", "", ", max_num_imprecise_acc=" + text(k),
                                               ", max_num_imprecise_acc=0"})
                         : "";
  std::string sum = oneOf<std::string>(
      {"{r} += tl.dot(x{r}, y{r}" + bits + ")", "{r} = tl.dot(x{r}, y{r}, {r}" + bits + ")",
       "{r} = tl.dot(x{r}, y{r}" + bits + ") + {r}", "{r} += tl.dot(x{r}, y{r}" + bits + ") * 2",
       "{r} -= tl.dot(x{r}, y{r}" + bits + ")",
       "s{r} += tl.dot(x{r}, y{r}" + bits + ")\n    {r} += tl.dot(x{r}, y{r}, " + zeros + ")",
       "{r} = {r} + tl.dot(x{r}, y{r}" + bits + ") + t{r}.to(tl.int32)",
       "{r} = tl.dot(x{r}, y{r}, {r}" + bits + ")\n    s{r} += {r} * 0 + 1"});
  std::string head = "{r} = " + zeros + "\ns{r} = " + zeros + "\n";
  if (chance(35))
    head += "t{r} = 0\nwhile t{r} < " + count + ":\n" + loads + "    " + sum + "\n    t{r} += 1";
  else
    head += "for t{r} in tl.range(0, " + count + oneOf({"", ", num_stages=2", ", num_stages=3"}) +
            "):\n" + loads + "    " + sum;
  add(bounded(type, real ? type.bound : 0), head + "\n{r} = {r} + s{r}", operands);
}

/// Rows of which nobody knows how many there are before, whole blocks first, in `while` loops.
void Generator::whileSums() {
  Element element = oneOf({Element::F16, Element::BF16, Element::F32, Element::I32, Element::I8});
  bool real = isFloat(element);
  int64_t columns = int64_t(8) << below(6), block = int64_t(1) << (1 + below(4)),
          rows = between(0, 20), held = std::max<int64_t>(rows, 1);
  Type sum{real ? Element::F32 : Element::I32, {columns}, real ? 7.0 * 20 : 0};
  std::vector<int> operands{buffer({element, {held * columns}, real ? 7.0 : 0})};
  std::string end = number(rows, operands), b = text(block), c = text(columns),
              wide = std::string(".to(tl.") + spelling(sum.element) + ")",
              base = "{0} + pid * " + text(held * columns) + " + ";
  bool keeps = chance(40); // the sums of each row of the block, summed behind the loop
  std::string code = "j{r} = " + range(columns) + "\nk{r} = " + range(block) +
                     "\n{r} = tl.zeros((" + c + ",), tl." + spelling(sum.element) +
                     ")\nm{r} = {r}\ni{r} = " + oneOf({"0", "pid * 0"}) + "\n";
  if (keeps)
    code += "q{r} = tl.zeros((" + b + ", " + c + "), tl." + spelling(sum.element) + ")\n";
  code += "while i{r} + " + b + " <= " + end + ":\n    x{r} = tl.load(" + base +
          "(i{r} + k{r}[:, None]) * " + c + " + j{r}[None, :])" + wide + "\n    " +
          (keeps ? "q{r} += x{r}" : "{r} += tl.sum(x{r}, 0)") +
          "\n    m{r} = tl.maximum(m{r}, tl.max(x{r}, 0))\n    i{r} += " + b + "\n";
  if (keeps)
    code += "{r} += tl.sum(q{r}, 0)\n";
  code += "while i{r} < " + end + ":\n    y{r} = tl.load(" + base + "i{r} * " + c + " + j{r})" +
          wide + "\n    {r} += y{r}\n    m{r} = tl.maximum(m{r}, y{r})\n    i{r} += 1\n" +
          "{r} = {r} + m{r}";
  add(bounded(sum, real ? sum.bound + 7 : 0), code, operands);
}
