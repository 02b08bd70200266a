//===- GenerateAccess.cpp - descriptors of every rank, pointers from anywhere ===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }
static std::string bracketed(const std::vector<int64_t> &numbers) {
  std::string all;
  for (int64_t n : numbers)
    all += (all.empty() ? "" : ", ") + text(n);
  return "[" + all + "]";
}

static int64_t unitOf(Element element) { return 128 / int64_t(bitsOf(element)); }

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// A tensor of any rank whose edges the block may cross, by a descriptor of the device or of
/// the host.
void Generator::rankedDescriptor() {
  Element element = chance(50) ? intElement() : floatElement();
  size_t rank = 1 + below(5);
  Type block{element, {}, 0}, tensor{element, {}, 0};
  std::vector<int64_t> strides(rank, 1);
  int64_t unit = unitOf(element), total = 1;
  for (size_t d = 0; d < rank; ++d) {
    bool isLast = d + 1 == rank;
    int64_t extent = isLast ? unit << below(2) : int64_t(1) << below(rank > 3 ? 2 : 3);
    block.shape.push_back(extent);
    tensor.shape.push_back(isLast ? unit * between(1, 3) : between(1, 2 * extent));
  }
  for (size_t d = rank; d-- > 0; total *= tensor.shape[d])
    strides[d] = total;
  std::string at;
  for (size_t d = 0; d < rank; ++d)
    at += (d ? ", " : "") + oneOf<std::string>({"0", "0", "1", "-1", "pid"});
  at = "[" + at + "]";
  bool nan = isFloat(element) && chance(30);
  if (isFloat(element) && !nan)
    tensor.bound = block.bound = 7;
  bool fromHost = chance(40);
  if (fromHost) {
    int host = append({tensor, "", {}, Statement::Kind::Descriptor});
    kernel.statements[host].block = block.shape;
    kernel.statements[host].padNan = nan;
    add(block, "{r} = {0}.load(" + at + ")", {host});
    return;
  }
  std::string made = "tl.make_tensor_descriptor(" + std::string("{0} + pid * ") + text(total) +
                     ", " + bracketed(tensor.shape) + ", " + bracketed(strides) + ", " +
                     bracketed(block.shape) + (nan ? ", padding_option=\"nan\")" : ")");
  if (chance(60)) {
    int memory = buffer({element, {total}, tensor.bound});
    add(block, "t{r} = " + made + "\n{r} = t{r}.load(" + at + ")", {memory});
    return;
  }
  int v = pick([&](const Type &t) { return t.element == element && t.shape == block.shape; },
               [&] { return block; });
  int memory = effect({element, {total}, tensor.bound}, "", {});
  std::string how = "store";
  if (element == Element::I32 || element == Element::U32 || element == Element::I64)
    how = oneOf({"store", "atomic_add", "atomic_max", "atomic_xor"});
  if (element == Element::I64 && how == "atomic_max")
    how = "atomic_and";
  effect({Element::I32, {1}, 0}, "t{r} = " + made + "\nt{r}." + how + "(" + at + ", {1})",
         {memory, v});
}

/// Rows by their numbers.
void Generator::rowsOfDescriptor() {
  Element element = oneOf({Element::F16, Element::F32, Element::I8, Element::I32, Element::BF16});
  int64_t unit = unitOf(element), columns = unit << below(3);
  int64_t rows = int64_t(8) << below(2), n = int64_t(8) << below(2);
  double bound = isFloat(element) ? 7 : 0;
  std::string made = "t{r} = tl.make_tensor_descriptor({0} + pid * " + text(rows * columns * 2) +
                     ", [" + text(rows) + ", " + text(columns * 2) + "], [" + text(columns * 2) +
                     ", 1], [1, " + text(columns) + "])\n";
  std::string column = oneOf<std::string>({"0", text(unit), text(columns)});
  Type memory{element, {rows * columns * 2}, bound};
  if (chance(60)) {
    int index = pick(
        [&](const Type &t) {
          return t.element == Element::I32 && t.shape == std::vector<int64_t>{n};
        },
        [&] { return Type{Element::I32, {n}, 0}; });
    add({element, {n, columns}, bound},
        made + "{r} = t{r}.gather(({1} & 65535) % " + text(rows) + ", " + column + ")",
        {buffer(memory), index});
    return;
  }
  // Each row once.
  int v = pick(
      [&](const Type &t) {
        return t.element == element && t.shape == std::vector<int64_t>{rows, columns};
      },
      [&] { return Type{element, {rows, columns}, bound}; });
  int written = effect(memory, "", {});
  effect({Element::I32, {1}, 0},
         made + "t{r}.scatter({1}, (tl.arange(0, " + text(rows) + ") * 5 + 3) % " + text(rows) +
             ", " + column + ")",
         {written, v});
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

/// Pointers that `where` chooses, that lie in memory, or that two arguments share.
void Generator::pointers() {
  Type type = freshType();
  std::string at = " + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  switch (below(3)) {
  case 0: {
    int test = condition(type.shape), a = buffer(type), b = buffer(type);
    add(type, "{r} = tl.load(tl.where({2}, {0}" + at + ", {1}" + at + "))", {a, b, test});
    return;
  }
  case 1: { // what is left there is no address: it differs from one machine to another
    int table = effect({Element::I64, {1}, 0}, "", {});
    int memory = buffer(type);
    add(type,
        "tl.store({0} + pid, ({1} + pid * " + text(type.count()) +
            ").to(tl.int64))\ntl.debug_barrier()\nt{r} = tl.load({0} + "
            "pid).to(tl.pointer_type(tl." +
            spelling(type.element) +
            "))\ntl.debug_barrier()\ntl.store({0} + pid, 0)\n{r} = tl.load(t{r} + (" +
            positions(type) + "))",
        {table, memory});
    return;
  }
  default: {
    int a = buffer(type), b = buffer(type);
    kernel.statements[b].aliasOf = a;
    int test = condition(type.shape);
    add(type, "{r} = tl.where({2}, tl.load({0}" + at + "), tl.load({1}" + at + "))", {a, b, test});
  }
  }
}

/// The same memory, read and then written, element by element.
void Generator::inPlace() {
  int v = pick(
      [](const Type &t) {
        return !t.shape.empty() && !isFloat(t.element) && t.element != Element::I1;
      },
      [&] { return Type{intElement(), freshShape(), 0}; });
  Type type = typeOf(v);
  std::string at = "{r} + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  std::string once = "tl.store(" + at + ", tl.load(" + at + ") * 3 + {0})";
  effect(type, chance(50) ? once : "for k in range(3):\n    " + once + "\n    tl.debug_barrier()",
         {v});
}

/// Loads and stores that say what caches should do, or skip them.
void Generator::cacheHints() {
  Type type = freshType();
  std::string at = " + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  if (chance(60)) {
    std::string how =
        oneOf<std::string>({", cache_modifier=\".ca\"", ", cache_modifier=\".cg\"",
                            ", cache_modifier=\".cv\"", ", eviction_policy=\"evict_first\"",
                            ", eviction_policy=\"evict_last\"", ", volatile=True"});
    add(type, "{r} = tl.load({0}" + at + how + ")", {buffer(type)});
    return;
  }
  int v = pickBlock();
  type = typeOf(v);
  at = " + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  std::string how =
      oneOf<std::string>({", cache_modifier=\".wb\"", ", cache_modifier=\".cg\"",
                          ", cache_modifier=\".cs\"", ", cache_modifier=\".wt\"",
                          ", eviction_policy=\"evict_first\"", ", eviction_policy=\"evict_last\""});
  effect(type, "tl.store({r}" + at + ", {0}" + how + ")", {v});
}

//===----------------------------------------------------------------------===//
// Atomics of 16 bits
//===----------------------------------------------------------------------===//

void Generator::narrowAtomics() {
  int v = pick(
      [](const Type &t) {
        return t.element == Element::I16 || t.element == Element::U16 ||
               ((t.element == Element::F16 || t.element == Element::BF16) && t.bound &&
                t.bound <= 64);
      },
      [&] { return Type{oneOf({Element::I16, Element::F16, Element::BF16}), freshShape(), 7}; });
  Type type = typeOf(v);
  bool real = isFloat(type.element);
  int memory = effect({type.element, type.shape, real ? 7.0 : 0}, "", {});
  std::string at = "{1} + pid * " + text(type.count()) + " + (" + positions(type) + ")";
  Type result = bounded(type, real ? 7 : 0);
  if (real)
    add(result, "{r} = tl.atomic_add(" + at + ", {0})", {v, memory});
  else
    add(result, "{r} = tl.atomic_cas(" + at + ", {0} & 15, {0})", {v, memory});
}
