//===- GenerateForms.cpp - how public kernels put operations together -------===//
//
// Dimensions taken apart and put together in another order, tuples that functions return and loops
// carry, scans and reductions of several blocks of different types, branches that load and store,
// tiles that a program takes one after the other, block pointers of every rank.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Generator.h"
#include <numeric>

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }
static std::string range(int64_t size) { return "tl.arange(0, " + text(size) + ")"; }
static bool isInteger(const Type &t) { return !isFloat(t.element) && t.element != Element::I1; }

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Up to five dimensions, in another order; changed there, now and then, along one of them.
void Generator::permuted() {
  int a = pickBlock();
  Type type = typeOf(a);
  std::vector<int64_t> parts;
  int64_t rest = type.count();
  for (size_t d = 1 + below(4); d; --d) {
    int64_t part = oneOf({1, 2, 2, 3, 4, 4, 8, 16});
    parts.push_back(rest % part ? 1 : part);
    rest /= parts.back();
  }
  parts.insert(parts.begin() + below(parts.size() + 1), rest);
  std::vector<int64_t> order(parts.size()), moved;
  std::iota(order.begin(), order.end(), 0);
  for (size_t d = order.size(); d > 1; --d)
    std::swap(order[d - 1], order[below(d)]);
  for (int64_t d : order)
    moved.push_back(parts[d]);
  std::string code =
      "t{r} = tl.permute(tl.reshape({0}, " + listed(parts) + "), " + listed(order) + ")\n";
  if (isInteger(type) && chance(40)) {
    size_t axis = below(moved.size());
    std::string index;
    for (size_t d = 0; d < moved.size(); ++d)
      index += std::string(d ? ", " : "") + (d == axis ? ":" : "None");
    code += "t{r} = t{r} ^ " + range(moved[axis]) + "[" + index + "].to(tl." +
            spelling(type.element) + ")\n";
  }
  type.shape = {1};
  for (int64_t size : moved) {
    if (type.shape.size() < 3 && chance(40))
      type.shape.push_back(1);
    type.shape.back() *= size;
  }
  add(type, code + "{r} = tl.reshape(t{r}, " + listed(type.shape) + ")", {a});
}

/// Halves of a block, of elements in turn or one behind the other, put together otherwise.
void Generator::halves() {
  int a = pick([](const Type &t) { return t.count() % 2 == 0; },
               [&] { return Type{intElement(), {64}, 0}; });
  Type type = typeOf(a);
  int64_t n = type.count() / 2;
  std::string size = text(n);
  std::string code = "t{r}, u{r} = tl.split(" +
                     (chance(50) ? "tl.reshape({0}, (" + size + ", 2))"
                                 : "tl.permute(tl.reshape({0}, (2, " + size + ")), (1, 0))") +
                     ")\n";
  if (isInteger(type) && chance(50))
    code += oneOf({"t{r} = t{r} & 15\n", "u{r} = u{r} ^ t{r}\n",
                   "t{r}, u{r} = sum_and_difference(t{r}, u{r})\n"});
  switch (below(5)) {
  case 0:
    type.shape = {n, 2};
    code += "{r} = tl.join(u{r}, t{r})";
    break;
  case 1:
    type.shape = {2 * n};
    code += "{r} = tl.interleave(u{r}, t{r})";
    break;
  case 2:
    type.shape = {2 * n};
    code += "{r} = tl.cat(u{r}, t{r}, dim=0)";
    break;
  case 3:
    type.shape = {2, n};
    code += "{r} = tl.permute(tl.join(t{r}, u{r}), (1, 0))";
    break;
  default:
    type.shape = {n};
    code += "{r} = tl.where(" + range(n) + " % 3 == 0, t{r}, u{r})";
  }
  add(type, code, {a});
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

/// Tuples that a loop carries, or that a function returns out of one.
void Generator::tuples() {
  int a = pickInteger(), b = operandLike(a);
  if (!typeOf(a).sameShape(typeOf(b)))
    return;
  std::vector<int> operands{a, b};
  std::string code;
  switch (below(4)) {
  case 0:
    code = "t{r} = ({0}, {1})\n" + longHead("i", operands) +
           "    t{r} = (t{r}[1], t{r}[0] ^ (t{r}[1] + 1))\n{r} = t{r}[" + text(int64_t(below(2))) +
           "]";
    break;
  case 1:
    code =
        "{r} = {0}\nu{r} = {1}\nfor i in tl.static_range(" + text(between(0, 4)) +
        "):\n    if i % 2 == 0:\n        {r}, u{r} = u{r}, {r} + i\n    else:\n        {r} = {r} "
        "* 3 - u{r}";
    break;
  case 2:
    code = "t{r} = extremes({0}, {1}, " + number(between(0, 7), operands) +
           ")\n{r} = t{r}[0] - t{r}[1]";
    break;
  default:
    code =
        "{r}, u{r} = {1}, {0}\n" + longHead("i", operands) +
        "    if i % 3 == 1:\n        {r}, u{r} = extremes(u{r}, {r}, 2)\n    else:\n        u{r} "
        "= u{r} + {r}\n{r} = {r} ^ u{r}";
  }
  add(typeOf(a), code, operands);
}

/// Scans and reductions of three blocks of different types at once.
void Generator::tripleScan() {
  int a = pick([](const Type &t) { return t.element == Element::I32 && !t.shape.empty(); },
               [&] { return Type{Element::I32, freshShape(), 0}; });
  std::vector<int64_t> shape = typeOf(a).shape;
  auto block = [&](Element element) {
    return pick([&](const Type &t) { return t.element == element && t.shape == shape; },
                [&] { return Type{element, shape, 0}; });
  };
  Type second{oneOf({Element::I32, Element::I64, Element::U32}), shape, 0},
      third{oneOf({Element::I32, Element::I64, Element::F32}), shape, 0};
  int b = block(second.element), c = block(third.element);
  size_t axis = below(shape.size());
  bool scans = chance(60);
  std::string call = scans ? "tl.associative_scan(({0} & 3, {1}, {2}), " + text(int64_t(axis)) +
                                 ", segmented" + (chance(40) ? ", reverse=True)" : ")")
                           : "tl.reduce(({0}, {1}, {2}), " + text(int64_t(axis)) + ", gathered)";
  Type result = oneOf({typeOf(a), second, third});
  result.bound = 0;
  std::string names = result.element == third.element    ? "_, _, {r}"
                      : result.element == second.element ? "_, {r}, _"
                                                         : "{r}, _, _";
  if (!scans)
    result.shape.erase(result.shape.begin() + axis);
  add(result, names + " = " + call, {a, b, c});
}

/// The largest or smallest, and where the first of them is.
void Generator::extremum() {
  int a = pick(
      [](const Type &t) {
        return !t.shape.empty() && t.element != Element::I1 && bitsOf(t.element) >= 32 &&
               (!isFloat(t.element) || t.bound);
      },
      [&] { return Type{oneOf({Element::I32, Element::I64, Element::F32}), freshShape(), 7}; });
  Type type = typeOf(a);
  size_t axis = below(type.shape.size());
  type.shape.erase(type.shape.begin() + axis);
  bool index = chance(60);
  std::string how = std::string(chance(50) ? "tl.max" : "tl.min") + "({0}, " + text(int64_t(axis)) +
                    ", return_indices=True" + oneOf({")", ", return_indices_tie_break_left=True)"});
  if (index)
    type = {Element::I32, type.shape, 0};
  add(type, std::string(index ? "_, {r} = " : "{r}, _ = ") + how, {a});
}

//===----------------------------------------------------------------------===//
// Branches and tiles
//===----------------------------------------------------------------------===//

/// A loop whose branches load, store and add to memory.
void Generator::busyBranches() {
  Element element = oneOf({Element::I32, Element::I64, Element::F32, Element::I16});
  int64_t n = int64_t(1) << (2 + below(8)), turns = between(1, 6);
  double bound = isFloat(element) ? 7 : 0;
  Type row{element, {n}, bound};
  std::vector<int> operands{buffer({element, {n * turns}, bound}),
                            effect({element, {n * turns}, bound}, "", {}),
                            buffer({Element::I32, {turns}, 0})};
  std::string at = "pid * " + text(n * turns) + " + i * " + text(n) + " + j{r}";
  std::string test = oneOf({"(i + pid) % 2 == 0", "(w{r} & 3) != 1", "i > 1", "tl.max(x{r}) > 3"});
  std::string first = oneOf({"y{r} = tl.load({0} + " + at + ")", std::string("y{r} = x{r} * 2")});
  auto deed = [&] {
    return oneOf<std::string>({"tl.store({1} + " + at + ", y{r} + {r})", "{r} += y{r}",
                               "{r} = tl.maximum({r}, y{r})",
                               "tl.store({1} + " + at + ", y{r}, mask=j{r} % 3 != 1)",
                               "{r} = {r} - y{r}\n        tl.store({1} + " + at + ", {r})"});
  };
  std::string code = "j{r} = " + range(n) + "\n{r} = tl.zeros((" + text(n) + ",), tl." +
                     spelling(element) + ")\nfor i in tl.range(0, " + number(turns, operands) +
                     oneOf({"", ", num_stages=2", ", num_stages=3"}) +
                     "):\n    w{r} = tl.load({2} + pid * " + text(turns) +
                     " + i)\n    x{r} = " + "tl.load({0} + " + at + ")\n    if " + test +
                     ":\n        " + first + "\n        " + deed() + "\n";
  if (chance(60))
    code += "    " + oneOf<std::string>({"else:", "elif i != 2:"}) +
            "\n        y{r} = x{r} + 1\n        " + deed() + "\n";
  add(bounded(row, bound * double(turns) * 3), code + "    {r} = {r} + x{r}", operands);
}

/// Products of tiles that a program takes one after the other, in the order of rows of tiles or of
/// groups of them.
void Generator::tilesByTurns() {
  Element element = oneOf({Element::F16, Element::BF16, Element::I8, Element::F16});
  bool real = isFloat(element);
  int64_t m = oneOf({16, 64, 128}), n = oneOf({16, 32, 64, 128}), k = oneOf({32, 64}),
          rows = between(1, 3), columns = between(1, 3), turns = between(0, 3),
          held = std::max<int64_t>(turns, 1) * k;
  std::vector<int> operands{buffer({element, {rows * m * held}, real ? 3.0 : 0}),
                            buffer({element, {columns * n * held}, real ? 3.0 : 0})};
  Type sum{real ? Element::F32 : Element::I32, {rows * m, columns * n}, real ? 7.0 : 0};
  std::string size = text(held), wide = text(columns * n), all = number(rows * columns, operands),
              depth = number(turns * k, operands), across = text(columns),
              acc = std::string("tl.") + spelling(sum.element), programs = text(kernel.programs);
  std::string place = chance(40) ? "a{r}, b{r} = tl.swizzle2d(t{r} // " + across + ", t{r} % " +
                                       across + ", " + text(rows) + ", " + across + ", 2)"
                                 : "a{r} = t{r} // " + across + "\n    b{r} = t{r} % " + across;
  bool loops = chance(60);
  std::string head = loops ? "for t{r} in tl.range(pid, " + all + ", " + programs +
                                 oneOf({"", ", flatten=True", ", warp_specialize=True"}) + "):\n"
                           : "t{r} = pid\nwhile t{r} < " + all + ":\n";
  std::string code =
      head + "    " + place + "\n    i{r} = a{r} * " + text(m) + " + " + range(m) +
      "\n    j{r} = b{r} * " + text(n) + " + " + range(n) + "\n    k{r} = " + range(k) +
      "\n    s{r} = tl.zeros((" + text(m) + ", " + text(n) + "), " + acc +
      ")\n    for e in tl.range(0, " + depth + ", " + text(k) +
      oneOf({"", ", num_stages=2", ", num_stages=4"}) +
      "):\n        x{r} = tl.load({0} + i{r}[:, None] * " + size +
      " + (e + k{r})[None, :])\n        y{r} = tl.load({1} + j{r}[None, :] * " + size +
      " + (e + k{r})[:, None])\n        s{r} = tl.dot(x{r}, y{r}, s{r})\n    tl.store({r} + "
      "i{r}[:, "
      "None] * " +
      wide + " + j{r}[None, :], " + oneOf({"s{r}", "s{r} + 1", "tl.maximum(s{r}, 0)"}) + ")";
  effect(sum, code + (loops ? "" : "\n    t{r} += " + programs), operands);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Of one dimension or three; only those that may end within the block are checked.
void Generator::rankedBlockPointer() {
  Element element = oneOf({Element::I32, Element::F16, Element::F32, Element::I8, Element::I64});
  size_t rank = oneOf({1, 3});
  Type block{element, {}, isFloat(element) ? 7.0 : 0};
  std::vector<int64_t> sizes, strides(rank), order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (size_t d = rank; d > 1; --d)
    std::swap(order[d - 1], order[below(d)]);
  std::string checked;
  std::vector<bool> isWhole;
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = int64_t(1) << (rank == 1 ? below(10) : below(4));
    isWhole.push_back(chance(40));
    block.shape.push_back(extent);
    sizes.push_back(isWhole[d] ? extent * 2 : between(1, 2 * extent));
    checked += isWhole[d] ? "" : text(int64_t(d)) + ", ";
  }
  int64_t total = 1;
  for (int64_t d : order)
    strides[d] = total, total *= sizes[d];
  std::vector<int> operands{buffer({element, {total}, block.bound})};
  auto list = [&](const std::vector<int64_t> &values) {
    std::string all = "(";
    for (int64_t v : values)
      all += number(v, operands) + ", ";
    return all + ")";
  };
  std::string offsets = "(";
  for (size_t d = 0; d < rank; ++d)
    offsets += isWhole[d] ? number(int64_t(below(uint64_t(block.shape[d] + 1))), operands) + ", "
                          : oneOf<std::string>({"0, ", "-1, ", "pid, ", "3, "});
  // Fastest dimension first.
  std::string code = "t{r} = tl.make_block_ptr({0} + pid * " + text(total) + ", " + list(sizes) +
                     ", " + list(strides) + ", " + offsets + "), " + listed(block.shape) + ", " +
                     listed(order) + ")\n{r} = tl.load(t{r}";
  add(block,
      code +
          (checked.empty() ? ")" : ", boundary_check=(" + checked + "), padding_option=\"zero\")"),
      operands);
}

/// What atomic operations behind a mask return, where the mask is on.
void Generator::maskedResults() {
  int v = pick(
      [](const Type &t) {
        return t.element == Element::I32 || t.element == Element::I64 || t.element == Element::U32;
      },
      [&] { return Type{Element::I32, freshShape(), 0}; });
  Type type = typeOf(v);
  if (type.shape.empty())
    return;
  int test = condition(type.shape), memory = effect({type.element, type.shape, 0}, "", {});
  std::string at = "{1} + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  std::string op = oneOf({"xchg", "add", "max", "min", "and", "or", "xor"});
  add(type,
      "t{r} = tl.atomic_" + op + "(" + at + ", {0}, mask={2}" +
          oneOf({")", ", sem=\"acquire\")", ", sem=\"relaxed\", scope=\"cta\")"}) +
          "\n{r} = tl.where({2}, t{r}, 5)",
      {v, memory, test});
}
