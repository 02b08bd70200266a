//===- Products.cpp - random loops of products that share operands ---------===//
#include "tests/fuzz/Products.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace tile::fuzz;

uint32_t Choices::below(uint32_t n) {
  if (isDrawn) {
    made.push_back(uint32_t(random() % n));
    return made.back();
  }
  return at < made.size() ? made[at++] % n : 0;
}

namespace {

std::string text(int64_t value) { return std::to_string(value); }

/// A block that may be an operand.
struct Block {
  std::string name;
  int rows, columns;
};

class ProductGenerator {
public:
  ProductGenerator(Choices &choices, uint64_t seed) : c(choices) { kernel.seed = seed; }
  Kernel run();

private:
  template <typename T> T oneOf(std::initializer_list<T> list) {
    return *(list.begin() + c.below(uint32_t(list.size())));
  }
  std::string fresh(const char *stem) { return stem + text(counter++); }
  void line(const std::string &code) { body += indent + code + "\n"; }
  std::string input(Element type, int64_t count);
  std::string output(Element type, int64_t count);
  std::string range(int size) { return size == rows ? "i" : "j"; }
  int side() { return c.chance(40) ? columns : rows; }

  void loop();
  void load();
  void compute();
  void product();
  void use(const std::string &name, int m, int n);
  std::string position(int m, int n, const std::string &first, bool turned);
  std::string loadFrom(const std::string &memory, int m, int n);
  Block operand(int m, int n);

  Choices &c;
  Kernel kernel;
  std::vector<std::string> names; ///< of memory, by variable
  Element element = Element::F16, sum = Element::F32;
  int rows = 64, columns = 32; ///< the two sizes that blocks have
  int turns = 2;
  std::string precision, body, indent, before, behind;
  std::vector<Block> pool; ///< what the turn has so far
  std::vector<Block> carried;
  std::vector<std::string> accumulators;
  int counter = 0;
};

} // namespace

/// Memory that the kernel reads: as much for each of its programs.
std::string ProductGenerator::input(Element type, int64_t count) {
  Statement s;
  s.kind = Statement::Kind::Buffer;
  s.type = {type, {count}, 0};
  kernel.statements.push_back(s);
  return "{" + text(int64_t(kernel.statements.size()) - 1) + "}";
}

std::string ProductGenerator::output(Element type, int64_t count) {
  Statement s;
  s.kind = Statement::Kind::Effect;
  s.type = {type, {count}, 0};
  kernel.statements.push_back(s);
  kernel.outputs.push_back(int(kernel.statements.size()) - 1);
  return "{" + text(int64_t(kernel.statements.size()) - 1) + "}";
}

/// Where a block's elements lie from `first` on, row by row or column by column.
std::string ProductGenerator::position(int m, int n, const std::string &first, bool turned) {
  std::string i = range(m) + "[:, None]", j = range(n) + "[None, :]";
  return first + " + " +
         (turned ? i + " + " + j + " * " + text(m) : i + " * " + text(n) + " + " + j);
}

/// What brings a block of m x n in each turn.
std::string ProductGenerator::loadFrom(const std::string &memory, int m, int n) {
  std::string size = text(int64_t(m) * n), all = text(int64_t(m) * n * turns);
  std::string base = memory + " + pid * " + all;
  bool turned = c.chance(40);
  std::string at = position(m, n, base + " + turn * " + size, turned);
  switch (c.below(7)) {
  case 1: { // rows from anywhere
    std::string index = input(Element::I32, int64_t(m) * turns), row = fresh("row");
    line(row + " = (tl.load(" + index + " + pid * " + text(m * turns) + " + turn * " + text(m) +
         " + " + range(m) + ") & 65535) % " + text(m * turns));
    return "tl.load(" + base + " + " + row + "[:, None] * " + text(n) + " + " + range(n) +
           "[None, :])";
  }
  case 2: { // a part of the rows, whose number is not known
    std::string rowNumber = "(turn * " + text(m) + " + " + range(m) + ")[:, None]";
    return "tl.load(" + base + " + " + rowNumber + " * " + text(n) + " + " + range(n) +
           "[None, :], mask=" + rowNumber + " < limit, other=0)";
  }
  case 3: { // rows that are counted on
    std::string row = fresh("row");
    before += "    " + row + " = " + range(m) + "\n";
    behind += "        " + row + " += " + text(m) + "\n";
    return "tl.load(" + base + " + " +
           (turned ? row + "[:, None] + " + range(n) + "[None, :] * " + text(m * turns)
                   : row + "[:, None] * " + text(n) + " + " + range(n) + "[None, :]") +
           ")";
  }
  case 4: { // a pointer that moves on
    std::string pointer = fresh("at");
    before += "    " + pointer + " = " + position(m, n, base, turned) + "\n";
    behind += "        " + pointer + " += " + size + "\n";
    return "tl.load(" + pointer + ")";
  }
  case 5: { // a descriptor
    std::string desc = fresh("desc");
    before += "    " + desc + " = tl.make_tensor_descriptor(" + memory + ", [" +
              text(int64_t(m) * turns * kernel.programs) + ", " + text(n) + "], [" + text(n) +
              ", 1], [" + text(m) + ", " + text(n) + "])\n";
    return desc + ".load([(pid * " + text(turns) + " + turn) * " + text(m) + ", 0])";
  }
  case 6: { // the same block for all programs
    return "tl.load(" + position(m, n, memory + " + turn * " + size, turned) + ")";
  }
  default:
    return "tl.load(" + at + ")";
  }
}

void ProductGenerator::load() {
  int m = side(), n = side();
  std::string memory = input(element, int64_t(m) * n * turns);
  std::string from = loadFrom(memory, m, n), name = fresh("x");
  line(name + " = " + from);
  pool.push_back({name, m, n});
}

/// Something that is computed from what there is.
void ProductGenerator::compute() {
  Block x = pool[c.below(uint32_t(pool.size()))];
  std::string name = fresh("y");
  std::string wide = std::string("tl.") + spelling(sum),
              narrow = std::string("tl.") + spelling(element);
  switch (c.below(4)) {
  case 1:
    line(name + " = (" + x.name + ".to(" + wide + ") * 3 + 1).to(" + narrow + ")");
    break;
  case 2:
    line(name + " = (tl.sum(" + x.name + ".to(" + wide + "), 1)[:, None] - " + x.name + ".to(" +
         wide + ")).to(" + narrow + ")");
    break;
  case 3:
    line(name + " = tl.where(" + range(x.rows) + "[:, None] > " + range(x.columns) + "[None, :], " +
         x.name + ".to(" + wide + "), 0).to(" + narrow + ")");
    break;
  default:
    line(name + " = (" + x.name + ".to(" + wide + ") + " + x.name + ".to(" + wide + ")).to(" +
         narrow + ")");
  }
  pool.push_back({name, x.rows, x.columns});
}

/// A block of that shape: one of the turn, as it is or transposed, or one that is carried;
/// loaded if there is none.
Block ProductGenerator::operand(int m, int n) {
  std::vector<Block> fitting;
  for (const std::vector<Block> *from : {&pool, &carried})
    for (const Block &b : *from) {
      std::string name = from == &carried ? b.name + ".to(tl." + spelling(element) + ")" : b.name;
      if (b.rows == m && b.columns == n)
        fitting.push_back({name, m, n});
      if (b.rows == n && b.columns == m && (m != n || c.chance(50)))
        fitting.push_back({"tl.trans(" + name + ")", m, n});
    }
  if (fitting.empty()) {
    std::string memory = input(element, int64_t(m) * n * turns);
    std::string from = loadFrom(memory, m, n), name = fresh("x");
    line(name + " = " + from);
    pool.push_back({name, m, n});
    return pool.back();
  }
  return fitting[c.below(uint32_t(fitting.size()))];
}

/// What is done with a product's result besides.
void ProductGenerator::use(const std::string &name, int m, int n) {
  std::string here = position(m, n, "", false).substr(3);
  std::string turnOf = "(pid * " + text(turns) + " + turn)";
  switch (c.below(8)) {
  case 1: // in another product
  case 6:
  case 7:
    line(name + "n = " + name + ".to(tl." + spelling(element) + ")");
    pool.push_back({name + "n", m, n});
    return;
  case 2: {
    std::string out = output(sum, int64_t(m) * turns);
    line("tl.store(" + out + " + " + turnOf + " * " + text(m) + " + " + range(m) + ", tl." +
         oneOf<std::string>({"sum", "max"}) + "(" + name + ", 1))");
    return;
  }
  case 3: {
    std::string out = output(sum, int64_t(m) * n * turns);
    line("tl.store(" + out + " + " + turnOf + " * " + text(m * n) + " + " + here + ", tl.cumsum(" +
         name + ", " + text(c.below(2)) + "))");
    return;
  }
  case 4: {
    std::string out = output(sum, int64_t(m) * n);
    line("tl.atomic_add(" + out + " + " + here + ", " + name + ")");
    return;
  }
  case 5: {
    std::string out = output(sum, int64_t(m) * n * turns);
    line("tl.store(" + out + " + " + turnOf + " * " + text(m * n) + " + " + here + ", " + name +
         ")");
    return;
  }
  default:
    return;
  }
}

void ProductGenerator::product() {
  int m = side(), n = side(), k = side();
  Block a = operand(m, k), b = operand(k, n);
  std::string product = "tl.dot(" + a.name + ", " + b.name;
  std::string out = sum == Element::F16 ? ", out_dtype=tl.float16" : "";
  bool isFresh = c.chance(35);
  std::vector<Block> fitting;
  for (const Block &acc : carried)
    if (acc.rows == m && acc.columns == n)
      fitting.push_back(acc);
  std::string name;
  if (isFresh) {
    name = fresh("t");
    line(name + " = " + product + precision + out + ")");
  } else {
    if (fitting.empty() || c.chance(50)) {
      name = fresh("acc");
      before += "    " + name + " = tl.zeros((" + text(m) + ", " + text(n) + "), tl." +
                spelling(sum) + ")\n";
      carried.push_back({name, m, n});
    } else {
      name = fitting[c.below(uint32_t(fitting.size()))].name;
    }
    switch (c.below(4)) {
    case 1:
      line(name + " += " + product + precision + out + ")");
      break;
    case 3: // what it gives is used itself
      line(name + " += " + product + precision + out + ") * " +
           oneOf<std::string>({"3", "(turn + 2)"}));
      break;
    case 2:
      line(name + " = " + name + " * 3 + " + product + precision + out + ")");
      break;
    default:
      line(name + " = " + product + ", " + name + precision + out + ")");
    }
  }
  if (isFresh || c.chance(20))
    use(name, m, n);
}

void ProductGenerator::loop() {
  pool.clear();
  std::string head, outer;
  std::swap(body, outer);
  std::string count = c.chance(40) ? "count" : text(turns);
  std::string options;
  if (c.chance(25))
    options += ", num_stages=" + text(1 + c.below(4));
  if (c.chance(20))
    options += c.chance(50) ? ", warp_specialize=True" : ", warp_specialize=False";
  head = "    for turn in " +
         (options.empty() ? "range(" + count : "tl.range(0, " + count + options) + "):\n";
  indent = "        ";
  for (unsigned loads = 1 + c.below(3); loads; --loads)
    load();
  for (unsigned products = 1 + c.below(5); products; --products) {
    if (c.chance(20))
      compute();
    product();
  }
  body = outer + before + head + body + behind;
  before.clear(), behind.clear();
  indent = "    ";
}

Kernel ProductGenerator::run() {
  kernel.algebraic = true;
  kernel.programs = int(1 + c.below(3));
  kernel.numWarps = oneOf({4, 1, 2, 8, 4, 8, 4});
  kernel.numStages = oneOf({2, 1, 3, 4});
  kernel.noRoles = c.chance(25);
  kernel.persistent = c.chance(8);
  element = oneOf({Element::F16, Element::F32, Element::BF16, Element::F8E4, Element::F8E5,
                   Element::I8, Element::F32});
  sum = element == Element::I8 ? Element::I32 : Element::F32;
  if (element == Element::F16 && c.chance(15))
    sum = Element::F16;
  if (element == Element::F32)
    precision = oneOf<std::string>(
        {"", "", "", ", input_precision=\"ieee\"", ", input_precision=\"tf32x3\""});
  rows = oneOf({64, 32, 64, 128, 16});
  columns = oneOf({32, 64, 16});
  if (columns == rows || bitsOf(element) == 8)
    columns = rows == 32 ? 64 : 32;
  if (bitsOf(element) == 8 && rows == 16)
    rows = 64;
  if (rows == 16 && c.chance(40)) // few results, of long rows
    columns = oneOf({128, 256});
  turns = int(2 + c.below(3));
  body = "    i = tl.arange(0, " + text(rows) + ")\n    j = tl.arange(0, " + text(columns) + ")\n";
  Statement count, limit;
  count.kind = limit.kind = Statement::Kind::Argument;
  count.value = turns;
  limit.value = int64_t(rows) * turns - 5;
  kernel.statements = {count, limit};
  unsigned loops = 1 + c.below(100) / 70;
  for (unsigned l = 0; l < loops; ++l)
    loop();
  for (const Block &acc : carried) {
    std::string out = output(sum, int64_t(acc.rows) * acc.columns);
    line("tl.store(" + out + " + pid * " + text(acc.rows * acc.columns) + " + " +
         position(acc.rows, acc.columns, "", false).substr(3) + ", " + acc.name + ")");
  }
  // The whole body is one statement, and all memory its operands.
  Statement all;
  all.kind = Statement::Kind::Computed;
  for (size_t v = 0; v < kernel.statements.size(); ++v)
    all.operands.push_back(int(v));
  std::string code = "count = {0}\nlimit = {1}\n";
  for (llvm::StringRef rest = body; !rest.empty();) {
    auto [first, others] = rest.split('\n');
    code += first.drop_front(4).str() + "\n";
    rest = others;
  }
  code.pop_back();
  all.text = code;
  kernel.statements.push_back(all);
  return std::move(kernel);
}

Kernel tile::fuzz::generateProducts(Choices &choices, uint64_t seed) {
  return ProductGenerator(choices, seed).run();
}

std::vector<uint32_t>
tile::fuzz::reduceChoices(std::vector<uint32_t> choices, unsigned tries,
                          llvm::function_ref<bool(const std::vector<uint32_t> &)> fails) {
  auto accept = [&](std::vector<uint32_t> smaller) {
    if (tries == 0 || smaller == choices)
      return false;
    --tries;
    if (!fails(smaller))
      return false;
    choices = std::move(smaller);
    return true;
  };
  for (bool changed = true; changed && tries;) {
    changed = false;
    // Runs of choices, longer ones first, are left out or become 0.
    for (size_t length = std::max<size_t>(choices.size() / 2, 1); length && tries; length /= 2)
      for (size_t at = 0; at + length <= choices.size() && tries; at += length) {
        std::vector<uint32_t> without(choices), zero(choices);
        without.erase(without.begin() + at, without.begin() + at + length);
        std::fill_n(zero.begin() + at, length, 0);
        changed |= accept(without) || accept(zero);
      }
  }
  return choices;
}
