//===- GenerateControl.cpp - loops, branches, calls --------------------------===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

/// `for VARIABLE in ...:`, at most eight times; counters of both widths.
std::string Generator::loopHead(const std::string &variable, std::vector<int> &operands) {
  std::string low, high, step;
  switch (below(7)) {
  case 0:
    low = "0", high = oneOf({"0", "1", "3", "5"});
    break;
  case 1:
    low = "pid", high = "pid + 3", step = oneOf({"", "2"});
    break;
  case 2: // 64 bits
    low = oneOf({"pid.to(tl.int64)", "(pid + 2).to(tl.int64)"}), high = oneOf({"pid + 4", "6"});
    break;
  case 3:
    low = oneOf({"5", "pid + 3"}), high = "-1", step = oneOf({"-1", "-2"});
    break;
  case 4:
    low = "0", high = number(oneOf<int64_t>({0, 1, 4, 6}), operands);
    break;
  case 5:
    low = number(oneOf<int64_t>({-3, 0, 2}), operands), high = oneOf({"3", "7"});
    step = oneOf({"3", "2", "4"});
    break;
  default: { // 64 bits, far out
    int start = argument(Element::I64, (int64_t(1) << 33) + int64_t(below(5)));
    operands.push_back(start);
    low = "{" + std::to_string(operands.size() - 1) + "}";
    high = low + " + 4";
    break;
  }
  }
  std::string arguments = low + ", " + high + (step.empty() ? "" : ", " + step);
  std::string range = oneOf<std::string>({"range(" + arguments + ")", "range(" + arguments + ")",
                                          "tl.range(" + arguments + ")",
                                          "tl.range(" + arguments + ", num_stages=3)",
                                          "tl.range(" + arguments + ", loop_unroll_factor=2)",
                                          "tl.range(" + arguments + ", flatten=True)"});
  return "for " + variable + " in " + range + ":\n";
}

/// A range near an end of its type, or between its ends, of at most eight turns.
std::string Generator::rangeAtAnEnd(std::vector<int> &operands) {
  bool wide = chance(30);
  Element element = wide ? Element::I64 : Element::I32;
  int64_t most = wide ? INT64_MAX : INT32_MAX, least = wide ? INT64_MIN : INT32_MIN;
  auto known = [&](int64_t value) -> std::string {
    if (chance(25) && value != INT64_MIN)
      return std::to_string(value);
    operands.push_back(argument(element, value));
    return "{" + std::to_string(operands.size() - 1) + "}";
  };
  int64_t step = oneOf<int64_t>({1, 2, 3, 7, 64, 1000}), turns = int64_t(below(8));
  bool stepIsKnown = chance(60);
  auto by = [&](int64_t value) {
    if (stepIsKnown)
      return std::to_string(value);
    operands.push_back(argument(element, value));
    return "{" + std::to_string(operands.size() - 1) + "}";
  };
  int64_t rest = int64_t(below(uint64_t(step)));
  switch (below(4)) {
  case 0: // up to the greatest number, or a little less
    return known(most - turns * step - rest) + ", " + known(most - rest / 2) + ", " + by(step);
  case 1:
    return known(least + rest) + ", " + known(least + turns * step) + ", " + by(step);
  case 2: // down; the sign of a step has to be known
    return known(least + turns * step + rest) + ", " + known(least) + ", " + std::to_string(-step);
  default: { // from one end to the other
    int64_t far = most / oneOf<int64_t>({2, 3}) - rest;
    return known(least + rest) + ", " + known(most - rest) + ", " + by(far);
  }
  }
}

/// As `loopHead`; also more turns, and steps that are arguments.
std::string Generator::longHead(const std::string &variable, std::vector<int> &operands) {
  if (chance(60))
    return loopHead(variable, operands);
  std::string arguments;
  if (chance(50)) {
    arguments = rangeAtAnEnd(operands);
  } else {
    arguments = "0, " + number(oneOf<int64_t>({9, 17, 33, 40, 100}), operands) + ", " +
                number(oneOf<int64_t>({1, 2, 3, 5, 16}), operands);
  }
  std::string options =
      oneOf({"", "", ", num_stages=3", ", loop_unroll_factor=2", ", loop_unroll_factor=3"});
  return "for " + variable + " in tl.range(" + arguments + options + "):\n";
}

/// A loop that what it computes ends.
void Generator::dataExit() {
  int a = pick(
      [](const Type &t) {
        return !t.shape.empty() && !isFloat(t.element) && t.element != Element::I1;
      },
      [&] { return Type{intElement(), freshShape(), 0}; });
  int b = operandLike(a);
  std::vector<int> operands{a, b};
  std::string test = oneOf<std::string>(
      {"(tl.max({r}) & 7) == 3", "tl.sum({r} & 1) > " + std::to_string(below(20)),
       "tl.max({r}) > tl.min({r}) + 9", "tl.xor_sum(tl.ravel({r}), 0) % 3 == 1"});
  std::string change = oneOf({"{r} = {r} + {1}", "{r} = {r} * 3 + {1}", "{r} = {r} ^ ({1} + 1)"});
  if (chance(40)) {
    add(typeOf(a),
        "{r} = {0}\nt{r} = 0\nwhile (t{r} < 12) & (" + test + "):\n    " + change +
            "\n    t{r} += 1",
        operands);
    return;
  }
  std::string code = "{r} = {0}\n" + longHead("i", operands);
  std::string leave = "    if " + test + ":\n        " + oneOf({"break", "continue"}) + "\n";
  add(typeOf(a), code + (chance(50) ? leave + "    " + change : "    " + change + "\n" + leave),
      operands);
}

void Generator::loop() {
  int a = pickInteger(), b = operandLike(a);
  Element element = typeOf(a).element;
  std::vector<int> operands{a, b};
  std::string cast = std::string(".to(tl.") + spelling(element) + ")", c = constantFor(element),
              d = std::to_string(favourite);
  auto counted = [&](const std::string &i) {
    return oneOf<std::string>({"((" + i + " + " + d + ") * " + d + ")" + cast,
                               "(" + i + " * " + d + " + 3)" + cast, "(" + i + " + 0)" + cast});
  };
  auto step = [&](const std::string &i) {
    return oneOf<std::string>(
        {"{r} = {r} + {1}", "{r} = {r} * 3 + {1}", "{r} = ({r} + " + c + ") * " + c,
         "{r} = tl.where({r} > {1}, {r} - {1}, {r} + 1)", "{r} = {r} ^ ({1} << 1)",
         "{r} = {r} + " + counted(i), "{r} = {r} ^ ({1} + " + counted(i) + ")"});
  };
  std::string text = "{r} = {0}\n";
  switch (below(6)) {
  case 0: { // while
    std::string start = oneOf({"0", "pid", "pid.to(tl.int64)", "tl.full((), 0, tl.int64)"});
    std::string limit = oneOf({"3", "pid + 3", "1", "0"});
    text += "t{r} = " + start + "\nwhile t{r} < " + limit + ":\n    " + step("t{r}") +
            "\n    t{r} += " + oneOf({"1", "2"});
    break;
  }
  case 1: // nested
    text += loopHead("i", operands) + "    " + step("i") + "\n    " + loopHead("j", operands) +
            "        " + step("j") + "\n    " + step("i");
    break;
  case 2: { // a second carried value, a scalar of 64 bits
    text += "t{r} = pid.to(tl.int64) + " + d + "\n" + longHead("i", operands) + "    " + step("i") +
            "\n    t{r} = (t{r} + " + d + ") * " + d + "\n    {r} = {r} ^ t{r}" + cast;
    break;
  }
  case 3: { // exits
    text += longHead("i", operands) + "    if i == " + oneOf({"1", "2", "pid + 1"}) +
            ":\n        " + oneOf({"break", "continue", "{r} = {r} - 1"}) + "\n    " + step("i");
    break;
  }
  case 4: // values that change places
    if (!typeOf(b).sameShape(typeOf(a)))
      return;
    text += "t{r} = {1}\n" + longHead("i", operands) + "    {r}, t{r} = t{r}, {r} + t{r}";
    break;
  default:
    text += longHead("i", operands) + "    " + step("i");
  }
  add(typeOf(a), text, operands);
}

/// Sums of whole numbers.
void Generator::floatLoop() {
  int a =
      pick([](const Type &t) { return isFloat(t.element) && !isNarrowFloat(t.element) && t.bound; },
           [&] { return Type{floatElement(), freshShape(), 7}; });
  int b = operandLike(a);
  double bound = typeOf(a).bound + 8 * typeOf(b).bound;
  if (!typeOf(b).bound || bound > exactLimit(typeOf(a).element))
    return;
  std::vector<int> operands{a, b};
  std::string text = "{r} = {0}\n" + loopHead("i", operands);
  text +=
      oneOf({"    {r} += {1}", "    {r} = {r} - {1}",
             "    if i % 2 == 0:\n        {r} = {r} + {1}\n    else:\n        {r} = {r} - {1}"});
  add(bounded(typeOf(a), bound), text, operands);
}

void Generator::branch() {
  int a = pickBlock(), b = operandLike(a);
  Type type = typeOf(a);
  if (type.element == Element::I1)
    return;
  if (!typeOf(b).sameShape(type))
    return;
  double x = type.bound, y = typeOf(b).bound;
  std::string test = oneOf({"pid == 0", "pid % 2 == 1", "pid > 5"});
  add(bounded(type, x && y ? std::max(x, y) : 0),
      "if " + test + ":\n    {r} = {0}\nelse:\n    {r} = {1}", {a, b});
}

void Generator::map() {
  int a = pick([](const Type &t) { return t.element == Element::I32 || t.element == Element::F32; },
               [&] { return Type{Element::I32, freshShape(), 0}; });
  add(bounded(typeOf(a), typeOf(a).bound ? typeOf(a).bound + 3 : 0),
      "{r} = tl.map_elementwise(stepwise, {0})", {a});
}

/// Functions of the kernel's file.
void Generator::call() {
  int a = pickInteger(), b = operandLike(a);
  bool same = typeOf(a).sameShape(typeOf(b));
  std::string test = oneOf({"pid == 0", "pid % 2 == 1", "pid > 5"});
  switch (below(6)) {
  case 0:
    add(typeOf(a), "{r} = mixed({0}, {1} + {0} * 0, " + std::to_string(below(4)) + ")", {a, b});
    return;
  case 1:
    add(typeOf(a),
        chance(50) ? "{r}, _ = sum_and_difference({0}, {1})"
                   : "_, {r} = sum_and_difference(y={1}, x={0})",
        {a, b});
    return;
  case 2:
    if (same)
      add(typeOf(a), "{r} = chosen(" + test + ", {0}, {1})", {a, b});
    return;
  case 3:
    add(typeOf(a), std::string("{r} = walked({0}, {1}, ") + oneOf({"2", "pid + 1", "5"}) + ")",
        {a, b});
    return;
  case 4:
    add(typeOf(a), "{r} = applied(larger, {0}, {1})", {a, b});
    return;
  default: {
    if (!same)
      return;
    std::vector<int> operands{a, b};
    add(typeOf(a),
        "t{r} = Pair({0}, {1})\n" + loopHead("i", operands) + "    t{r} = t{r}.turned()\n" +
            "{r} = t{r}." + oneOf({"first", "second"}),
        operands);
  }
  }
}
