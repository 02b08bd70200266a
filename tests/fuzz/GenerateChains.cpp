//===- GenerateChains.cpp - products of what products give: attention --------===//
//
// Online softmax whose every step is exact. Scores are whole numbers of a few values, so that their
// powers of two, the sums of those and what scales them when the maximum grows fit a float without
// rounding: in whatever order they are added, and whatever they are relative to, the bits are the
// same.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }
static std::string range(int64_t size) { return "tl.arange(0, " + text(size) + ")"; }

/// The loop of one, whose lines turn up in several places.
struct Generator::Attention {
  Element element;
  int64_t rows, keys, depth; ///< of the program's block, of that of a turn, of both
  int64_t length, held;      ///< of all turns, and in memory
  bool isTurned, isCausal;
  std::string test;        ///< which turns there are; empty: all
  int64_t least, most;     ///< scores
  std::string size, first; ///< how many keys there are, and how many the first query sees
  std::vector<int> operands;
  std::string index, head;                   ///< before the loops
  std::string loads, scores, softmax, moves; ///< of a turn

  std::string row() const { return isTurned ? "[None, :]" : "[:, None]"; }
  std::string column() const { return isTurned ? "[:, None]" : "[None, :]"; }
  std::string turn(bool masked) const;
};

//===----------------------------------------------------------------------===//
// What is drawn
//===----------------------------------------------------------------------===//

Generator::Attention Generator::someAttention() {
  Attention a;
  a.element = oneOf(
      {Element::F16, Element::F16, Element::BF16, Element::F32, Element::F8E5, Element::F8E4});
  bool narrow = isNarrowFloat(a.element);
  a.rows = oneOf({16, 32, 64, 64, 128, 128});
  a.keys = narrow ? 32 : oneOf({16, 32, 64, 64, 128});
  a.depth = narrow ? oneOf({32, 64}) : oneOf({16, 32, 64, 64, 128});
  int64_t turns = between(0, narrow ? 3 : 4);
  a.length = turns * a.keys;
  if (turns && chance(50))
    a.length -= int64_t(below(uint64_t(a.keys)));
  a.held = std::max<int64_t>(a.length, 1);
  a.isTurned = chance(20);
  a.isCausal = chance(40);
  a.size = number(a.length, a.operands);
  a.first = number(between(0, a.held), a.operands);
  if (chance(15))
    a.test = oneOf<std::string>(
        {"(t{r} // " + text(a.keys) + " + pid) % 3 != 1", "pid % 2 == 0", a.first + " > 3"});
  a.most = narrow ? 1 : 2;
  a.least = narrow ? -1 : -3;
  a.index =
      "i{r} = " + range(a.rows) + "\nj{r} = " + range(a.keys) + "\nc{r} = " + range(a.depth) + "\n";
  return a;
}

/// What brings the keys or the values of a turn, with `@` in the place of a mask: as rows, or each
/// as a column. They lie row by row.
std::string Generator::blockOfTurn(Attention &a, const std::string &name, bool asColumns) {
  int memory = buffer({a.element, {a.held * a.depth}, 1});
  a.operands.push_back(memory);
  std::string d = text(a.depth), n = text(a.keys);
  std::string base = "{" + text(int64_t(a.operands.size()) - 1) + "} + " +
                     oneOf({"pid", "pid // 2", "0"}) + " * " + text(a.held * a.depth);
  bool straight = asColumns && chance(50);
  auto turned = [&](const std::string &block) {
    return asColumns && !straight ? "tl.trans(" + block + ")" : block;
  };
  switch (below(4)) {
  case 0: { // a descriptor
    a.head += name + " = tl.make_tensor_descriptor(" + base + ", [" + a.size + ", " + d + "], [" +
              d + ", 1], [" + n + ", " + d + "])\n";
    straight = false;
    return turned(name + ".load([t{r}, 0])");
  }
  case 1: { // a block pointer
    a.head += name + " = tl.make_block_ptr(" + base + ", " +
              (straight ? "(" + d + ", " + a.size + "), (1, " + d + "), (0, 0), (" + d + ", " + n +
                              "), (0, 1))\n"
                        : "(" + a.size + ", " + d + "), (" + d + ", 1), (0, 0), (" + n + ", " + d +
                              "), (1, 0))\n");
    a.moves += name + " = tl.advance(" + name + ", " +
               (straight ? "(0, " + n + ")" : "(" + n + ", 0)") + ")\n";
    return turned("tl.load(" + name + ", boundary_check=(" + (straight ? "1" : "0") +
                  ",), padding_option=\"zero\")");
  }
  default: {
    std::string row = straight ? "[None, :]" : "[:, None]",
                column = straight ? "[:, None]" : "[None, :]";
    std::string mask = "@(t{r} + j{r} < " + a.size + ")" + row + ", other=0)";
    if (chance(50)) { // pointers that move on
      a.head += name + " = " + base + " + j{r}" + row + " * " + d + " + c{r}" + column + "\n";
      a.moves += name + " += " + text(a.keys * a.depth) + "\n";
      return turned("tl.load(" + name + mask);
    }
    return turned("tl.load(" + base + " + (t{r} + j{r})" + row + " * " + d + " + c{r}" + column +
                  mask);
  }
  }
}

/// Loads of a turn whose rows are all there, or not.
static std::string loaded(std::string code, bool masked) {
  const std::string end = ", other=0";
  for (size_t at; (at = code.find('@')) != std::string::npos;)
    if (masked)
      code.replace(at, 1, ", mask=");
    else
      code.erase(at, code.find(end, at) + end.size() - at);
  return code;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Whole numbers of a few values, from the product of queries and keys.
std::string Generator::scores(Attention &a) {
  std::string least = text(a.least) + ".0", most = text(a.most) + ".0";
  std::string code =
      "s{r} = " + std::string(a.isTurned ? "tl.dot(k{r}, q{r})" : "tl.dot(q{r}, k{r})") +
      oneOf({"", " * 0.25"}) + "\n";
  if (chance(20)) {
    a.operands.push_back(buffer({Element::F32, {a.rows * a.held}, 2}));
    std::string bias = "{" + text(int64_t(a.operands.size()) - 1) + "} + pid * " +
                       text(a.rows * a.held) + " + i{r}" + a.row() + " * " + text(a.held) +
                       " + t{r} + j{r}" + a.column();
    code += "s{r} += tl.load(" + bias + ", mask=t{r} + j{r}" + a.column() + " < " + a.size +
            ", other=0)\n";
  }
  return code + "s{r} = " +
         oneOf<std::string>(
             {"tl.clamp(tl.floor(s{r}), " + least + ", " + most + ")",
              "tl.floor(tl.minimum(tl.maximum(s{r}, " + least + "), " + most + "))"}) +
         "\n";
}

/// One turn; `masked` where keys may be missing, or later than the query.
std::string Generator::Attention::turn(bool masked) const {
  const Attention &a = *this;
  bool ragged = a.length % a.keys != 0;
  std::string code = loaded(a.loads + a.scores, masked && ragged), test;
  if (ragged)
    test = "(t{r} + j{r}" + a.column() + " < " + a.size + ")";
  if (a.isCausal)
    test += std::string(test.empty() ? "" : " & ") + "(i{r}" + a.row() + " + " + a.first +
            " >= t{r} + j{r}" + a.column() + ")";
  if (masked && !test.empty())
    code += "s{r} = tl.where(" + test + ", s{r}, float(\"-inf\"))\n";
  code += a.softmax + a.moves;
  if (a.test.empty())
    return code;
  std::string inner;
  for (size_t at = 0, end; (end = code.find('\n', at)) != std::string::npos; at = end + 1) {
    std::string line = code.substr(at, end - at + 1);
    bool moves = a.moves.find(line) != std::string::npos;
    inner += (moves ? "" : "    ") + line;
  }
  return "if " + a.test + ":\n" + inner;
}

/// The maximum, the exponentials, what is added up.
std::string Generator::softmaxOf(const Attention &a) {
  bool ragged = a.length % a.keys != 0, complete = !a.isCausal && !ragged;
  std::string axis = a.isTurned ? "0" : "1", scale;
  if (chance(35) && !isNarrowFloat(a.element))
    scale = " * " + oneOf<std::string>({"2.0", complete ? "-1.0" : "0.5 * 4", "f{r}"});
  bool late = !scale.empty() && chance(60); // only what is exponentiated is scaled
  std::string code = late || scale.empty() ? "" : "s{r} = s{r}" + scale + "\n";
  code += "x{r} = tl.maximum(m{r}, tl.max(s{r}, " + axis + ")" + (late ? scale : "") + ")\n";
  std::string relative = "x{r}";
  if (!a.test.empty() || chance(25)) { // rows of which no key is there yet
    code += "g{r} = tl.where(x{r} == float(\"-inf\"), 0.0, x{r})\n";
    relative = "g{r}";
  }
  code += "p{r} = tl.exp2(s{r}" + std::string(late ? scale : "") + " - " + relative + a.row() +
          ")\na{r} = tl.exp2(m{r} - " + relative + ")\n";
  std::string narrow = std::string(".to(tl.") + spelling(a.element) + ")";
  std::string sum = "l{r} = l{r} * a{r} + tl.sum(p{r}, " + axis + ")\n";
  bool sumsFirst = chance(60);
  code += sumsFirst ? sum : "";
  if (chance(15))
    code += "p{r} = tl.where((i{r}" + a.row() + " + t{r} + j{r}" + a.column() +
            ") % 3 != 0, p{r}, 0.0)\n";
  auto dot = [&](const std::string &acc) {
    std::string p = "p{r}" + narrow;
    return (a.isTurned ? "tl.dot(v{r}, " + p : "tl.dot(" + p + ", v{r}") + acc + ")\n";
  };
  std::string scaled = "o{r} * a{r}" + a.row();
  code += oneOf<std::string>(
      {"o{r} = " + scaled + "\no{r} = " + dot(", o{r}"), "o{r} = " + scaled + " + " + dot(""),
       "o{r} = " + scaled + "\no{r} += " + dot(""), "o{r} = " + dot(", " + scaled)});
  return code + (sumsFirst ? "" : sum) + "m{r} = x{r}\n";
}

static std::string indented(const std::string &code) {
  std::string all;
  for (size_t at = 0, end; (end = code.find('\n', at)) != std::string::npos; at = end + 1)
    all += "    " + code.substr(at, end - at + 1);
  return all;
}

/// Loops over the keys: all at once, or the whole blocks before those that are masked.
std::string Generator::loopsOf(const Attention &a) {
  std::string n = text(a.keys), high = a.size;
  if (a.isCausal && chance(60))
    high = "tl.minimum(" + a.size + ", " + a.first + " + " + text(a.rows) + ")";
  auto loop = [&](const std::string &low, const std::string &end, bool masked) {
    if (chance(15))
      return "t{r} = " + low + "\nwhile t{r} < " + end + ":\n" +
             indented(a.turn(masked) + "t{r} += " + n + "\n");
    std::string options = oneOf(
        {"", "", ", num_stages=2", ", num_stages=3", ", num_stages=4", ", warp_specialize=True"});
    return "for t{r} in tl.range(" + low + ", " + end + ", " + n + options + "):\n" +
           indented(a.turn(masked));
  };
  if (chance(60))
    return loop("0", high, true);
  std::string whole = a.size + " // " + n;
  if (a.isCausal)
    whole = "tl.minimum((" + a.first + " + 1) // " + n + ", " + whole + ")";
  return "w{r} = " + whole + " * " + n + "\n" + loop("0", "w{r}", false) + loop("w{r}", high, true);
}

void Generator::attention() {
  Attention a = someAttention();
  std::string d = text(a.depth), size = text(a.rows * a.depth);
  std::string loads = "k{r} = " + blockOfTurn(a, "y{r}", !a.isTurned) + "\n";
  std::string values = "v{r} = " + blockOfTurn(a, "z{r}", a.isTurned) + "\n";
  a.operands.push_back(buffer({a.element, {a.rows * a.depth}, 1}));
  std::string query = "{" + text(int64_t(a.operands.size()) - 1) + "} + pid * " + size + " + i{r}" +
                      a.row() + " * " + d + " + c{r}" + a.column();
  a.head += "f{r} = " + number(2, a.operands) + " * 1.0\nq{r} = tl.load(" + query + ")\n";
  a.scores = scores(a);
  a.softmax = softmaxOf(a);
  a.loads = loads;
  (chance(50) ? a.scores : a.loads) += values;
  std::string shape =
      a.isTurned ? "(" + d + ", " + text(a.rows) + ")" : "(" + text(a.rows) + ", " + d + ")";
  std::string code = a.index + a.head + "m{r} = tl.full((" + text(a.rows) +
                     ",), float(\"-inf\"), tl.float32)\nl{r} = tl.zeros((" + text(a.rows) +
                     ",), tl.float32)" + oneOf({"", " + 1.0"}) + "\no{r} = tl.zeros(" + shape +
                     ", tl.float32)\n" + loopsOf(a);
  std::string m = "tl.where(m{r} == float(\"-inf\"), 0.0, m{r})" + a.row(), l = "l{r}" + a.row();
  code += "{r} = " +
          oneOf<std::string>({"o{r}", "o{r} + " + l, "o{r} * tl.exp2(" + m + ")", "o{r} - " + m,
                              "tl.div_rn(o{r}, tl.where(l{r} > 0.0, l{r}, 1.0)" + a.row() + ")"});
  Type result{Element::F32, {a.rows, a.depth}, 0};
  if (a.isTurned)
    std::swap(result.shape[0], result.shape[1]);
  add(result, code, a.operands);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Of a block of keys, by turns over the queries: four or five products, of which two go into sums
/// and one, perhaps, into memory that all programs add to.
void Generator::attentionBackward() {
  Attention a = someAttention();
  if (isNarrowFloat(a.element))
    a.element = Element::F16;
  std::string d = text(a.depth), own = text(a.rows * a.depth);
  std::string narrow = std::string(".to(tl.") + spelling(a.element) + ")";
  auto ownBlock = [&] {
    a.operands.push_back(buffer({a.element, {a.rows * a.depth}, 1}));
    return "tl.load({" + text(int64_t(a.operands.size()) - 1) + "} + pid * " + own +
           " + i{r}[:, None] * " + d + " + c{r}[None, :])\n";
  };
  auto ofTurn = [&](Element element, double bound) {
    a.operands.push_back(buffer({element, {a.held}, bound}));
    return "tl.load({" + text(int64_t(a.operands.size()) - 1) + "} + pid * " + text(a.held) +
           " + t{r} + j{r}@t{r} + j{r} < " + a.size + ", other=0)";
  };
  a.head = "k{r} = " + ownBlock() + "v{r} = " + ownBlock();
  // Scores of keys by queries (`isTurned`), or of queries by keys.
  std::string across = a.isTurned ? "[None, :]" : "[:, None]";
  auto turned = [](const std::string &x) { return "tl.trans(" + x + ")"; };
  auto product = [&](const std::string &keys, const std::string &queries) {
    return a.isTurned ? "tl.dot(" + keys + ", " + turned(queries) + ")"
                      : "tl.dot(" + queries + ", " + turned(keys) + ")";
  };
  auto ofKeys = [&](const std::string &x) { return a.isTurned ? x : turned(x); };
  auto sum = [&](const std::string &to, const std::string &x, const std::string &y) {
    return chance(50) ? to + " += tl.dot(" + x + ", " + y + ")\n"
                      : to + " = tl.dot(" + x + ", " + y + ", " + to + ")\n";
  };
  std::string query = "q{r} = " + blockOfTurn(a, "y{r}", false) + "\n",
              gradient = "u{r} = " + blockOfTurn(a, "z{r}", false) + "\n";
  bool early = chance(50);
  std::string code = query + (early ? gradient : "") + "s{r} = tl.clamp(" +
                     product("k{r}", "q{r}") + ", -3.0, 2.0)\nm{r} = ((" + ofTurn(Element::I32, 0) +
                     " & 1) + 2).to(tl.float32)\np{r} = tl.exp2(s{r} - m{r}" + across + ")\n";
  bool ragged = a.length % a.keys != 0;
  if (ragged || a.isCausal)
    code += "p{r} = tl.where((t{r} + j{r}" + across + " < " + a.size + ")" +
            (a.isCausal ? " & (t{r} + j{r}" + across + " + " + a.first + " >= i{r}" +
                              (a.isTurned ? "[:, None]" : "[None, :]") + ")"
                        : "") +
            ", p{r}, 0.0)\n";
  code += (early ? "" : gradient) + sum("dv{r}", ofKeys("p{r}" + narrow), "u{r}") +
          "e{r} = " + product("v{r}", "u{r}") + "\ng{r} = (p{r} * (e{r} - " +
          ofTurn(Element::F32, 3) + across + "))" + narrow + "\n" +
          sum("dk{r}", ofKeys("g{r}"), "q{r}");
  if (chance(40)) {
    a.operands.push_back(effect({Element::F32, {a.held * a.depth}, 7}, "", {}));
    code += "tl.atomic_add({" + text(int64_t(a.operands.size()) - 1) +
            "} + (t{r} + j{r})[:, None] * " + d + " + c{r}[None, :], tl.dot(" +
            (a.isTurned ? turned("g{r}") : "g{r}") + ", k{r}), mask=(t{r} + j{r} < " + a.size +
            ")[:, None], sem=\"relaxed\")\n";
  }
  std::string zeros = " = tl.zeros((" + text(a.rows) + ", " + d + "), tl.float32)\n";
  a.head += "dk{r}" + zeros + "dv{r}" + zeros;
  add({Element::F32, {a.rows, a.depth}, 0},
      a.index + a.head + "for t{r} in tl.range(0, " + a.size + ", " + text(a.keys) +
          oneOf({"", "", ", num_stages=2", ", num_stages=3", ", warp_specialize=True"}) + "):\n" +
          indented(loaded(code, ragged) + a.moves) + "{r} = dk{r} + dv{r}",
      a.operands);
}
