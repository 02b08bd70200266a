//===- Size.cpp - sizes that are formulas over named dimensions -----------===//
#include "ir/graph/Size.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::graph;
using llvm::StringRef;
using tile::formatted;

Size::Size(int64_t constant) { add({}, constant); }

Size Size::symbol(StringRef name) {
  Size size;
  size.add({name.str()}, 1);
  return size;
}

/// A size in which a number went beyond 62 bits is this constant whatever it was, and so is what is
/// computed of it. It has no value.
static constexpr int64_t kBeyond = INT64_MIN;
/// So is a formula that has more terms, or more names in one: products of sums grow fast.
static constexpr size_t kMostTerms = 1024, kMostFactors = 64;

void Size::add(const Product &product, int64_t coefficient) {
  constexpr int64_t most = int64_t(1) << 62;
  if (constant() == kBeyond)
    return;
  int64_t sum = 0;
  auto known = terms.find(product);
  bool overflows = llvm::AddOverflow(known == terms.end() ? 0 : known->second, coefficient, sum);
  bool isLong = product.size() > kMostFactors ||
                (known == terms.end() && terms.size() == kMostTerms && sum != 0);
  if (overflows || sum > most || sum < -most || isLong)
    terms = {{{}, kBeyond}};
  else if (sum == 0)
    terms.erase(product);
  else
    terms[product] = sum;
}

namespace tile::graph {

Size operator+(const Size &a, const Size &b) {
  Size sum = a;
  for (auto &[product, coefficient] : b.terms)
    sum.add(product, coefficient);
  return sum;
}

Size operator-(const Size &a, const Size &b) { return a + Size(-1) * b; }

Size operator*(const Size &a, const Size &b) {
  Size out;
  for (auto &[left, first] : a.terms)
    for (auto &[right, second] : b.terms) {
      if (out.constant() == kBeyond)
        return out;
      std::vector<std::string> product = left;
      product.insert(product.end(), right.begin(), right.end());
      llvm::sort(product);
      int64_t both = 0;
      out.add(product, llvm::MulOverflow(first, second, both) ? kBeyond : both);
    }
  return out;
}

} // namespace tile::graph

//===----------------------------------------------------------------------===//
// Quotients that are no formulas: `((H + 1)//2)` is a name like others, but it has the value that
// its text says, rounded down and 0 at least.
//===----------------------------------------------------------------------===//

static bool isQuotient(StringRef name) { return name.starts_with("("); }

/// What is divided, as text, and by what.
static std::pair<StringRef, int64_t> partsOf(StringRef quotient) {
  auto [of, by] = quotient.drop_front().drop_back().rsplit("//");
  int64_t divisor = 1;
  by.getAsInteger(10, divisor);
  return {of, std::max<int64_t>(divisor, 1)};
}

static Size dividedDown(const Size &size, int64_t divisor) {
  if (std::optional<int64_t> known = size.constant(); known && *known != kBeyond)
    return Size(std::max<int64_t>(llvm::divideFloorSigned(*known, divisor), 0));
  if (std::optional<Size> exact = size.dividedBy(Size(divisor)))
    return *exact;
  std::string text = size.str();
  bool isOne = text.front() != '-' && !StringRef(text).contains(' ');
  return Size::symbol(formatted("({}{}{}//{})", isOne ? "" : "(", text, isOne ? "" : ")", divisor));
}

std::optional<std::pair<Size, int64_t>> Size::quotientOf(StringRef name) {
  if (!isQuotient(name))
    return std::nullopt;
  auto [of, divisor] = partsOf(name);
  std::string error;
  std::optional<Size> size = Size::parse(of, error);
  return size ? std::optional(std::pair(*size, divisor)) : std::nullopt;
}

static std::optional<int64_t> valueOf(StringRef name, const Bindings &bindings) {
  if (!isQuotient(name)) {
    auto it = bindings.find(name);
    return it == bindings.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }
  auto quotient = Size::quotientOf(name);
  std::optional<int64_t> value = quotient ? quotient->first.evaluate(bindings) : std::nullopt;
  if (!value)
    return std::nullopt;
  return std::max<int64_t>(llvm::divideFloorSigned(*value, quotient->second), 0);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// Recursive descent over the few forms there are.
class Reader {
public:
  Reader(StringRef text, std::string &error) : rest(text), error(error) {}

  std::optional<Size> whole() {
    std::optional<Size> size = sum();
    if (size && !rest.ltrim().empty())
      return fail(formatted("`{}` does not belong here", rest.ltrim()));
    return size;
  }

private:
  std::optional<Size> fail(std::string message) {
    if (error.empty())
      error = std::move(message);
    return std::nullopt;
  }
  bool take(StringRef symbol) {
    rest = rest.ltrim();
    return rest.consume_front(symbol);
  }
  std::optional<Size> sum() {
    bool negative = take("-");
    std::optional<Size> left = term();
    if (left && negative)
      left = Size(0) - *left;
    while (left) {
      bool plus = take("+");
      if (!plus && !take("-"))
        break;
      std::optional<Size> right = term();
      if (!right)
        return right;
      left = plus ? *left + *right : *left - *right;
    }
    return left;
  }
  std::optional<Size> term() {
    std::optional<Size> left = atom();
    while (left) {
      bool divides = take("//");
      if (!divides && !take("*"))
        break;
      std::optional<Size> right = atom();
      if (!right)
        return right;
      std::optional<int64_t> by = right->constant();
      if (divides && (!by || *by < 1))
        return fail("a size is divided by a number from 1 on");
      left = divides ? dividedDown(*left, *by) : *left * *right;
    }
    return left;
  }
  std::optional<Size> atom() {
    if (take("(")) {
      if (++depth > 50)
        return fail("the formula nests too deep");
      std::optional<Size> inner = sum();
      --depth;
      if (inner && !take(")"))
        return fail("a `)` is missing");
      return inner;
    }
    rest = rest.ltrim();
    int64_t number = 0;
    if (!rest.empty() && llvm::isDigit(rest.front())) {
      StringRef digits = rest.take_while(llvm::isDigit);
      if (digits == StringRef("9223372036854775808")) // `-kBeyond`, as it is printed
        number = kBeyond;
      else if (digits.getAsInteger(10, number))
        return fail(formatted("`{}` is too large", digits));
      rest = rest.drop_front(digits.size());
      return Size(number);
    }
    StringRef name =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (name.empty())
      return fail(rest.empty() ? "a size is missing" : formatted("`{}` is no size", rest));
    rest = rest.drop_front(name.size());
    return Size::symbol(name);
  }

  StringRef rest;
  std::string &error;
  unsigned depth = 0;
};
} // namespace

std::optional<Size> Size::parse(StringRef text, std::string &error) {
  return Reader(text, error).whole();
}

std::string Size::str() const {
  if (terms.empty())
    return "0";
  std::string out, constant;
  for (auto &[product, coefficient] : terms) {
    bool negative = coefficient < 0;
    uint64_t size = negative ? -uint64_t(coefficient) : uint64_t(coefficient);
    std::string text = product.empty() || size != 1 ? std::to_string(size) : "";
    for (const std::string &name : product)
      text += (text.empty() ? "" : "*") + name;
    if (product.empty()) { // numbers stand at the end, as people write them
      constant = (negative ? " - " : " + ") + text;
      continue;
    }
    out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    out += text;
  }
  if (out.empty())
    return (StringRef(constant).starts_with(" -") ? "-" : "") + constant.substr(3);
  return out + constant;
}

std::optional<Sizes> tile::graph::parseSizes(StringRef text, std::string &error) {
  Sizes sizes;
  if (text.trim().empty())
    return sizes;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  if (parts.size() > 1 && parts.back().trim().empty()) // `M,` as in a tuple
    parts.pop_back();
  for (StringRef part : parts) {
    std::optional<Size> size = Size::parse(part, error);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::string tile::graph::joinSizes(llvm::ArrayRef<Size> sizes) {
  std::string out;
  for (const Size &size : sizes)
    out += (out.empty() ? "" : ", ") + size.str();
  return out;
}

std::string tile::graph::shapeText(llvm::ArrayRef<Size> sizes) {
  return formatted("({}{}", joinSizes(sizes), sizes.size() == 1 ? ",)" : ")");
}

Size tile::graph::product(llvm::ArrayRef<Size> sizes) {
  Size out(1);
  for (const Size &size : sizes)
    out = out * size;
  return out;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

std::optional<int64_t> Size::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::optional<std::string> Size::name() const {
  if (terms.size() != 1 || terms.begin()->first.size() != 1 || terms.begin()->second != 1)
    return std::nullopt;
  const std::string &name = terms.begin()->first.front();
  return isQuotient(name) ? std::nullopt : std::optional<std::string>(name);
}

void Size::collectNames(std::set<std::string> &names) const {
  for (auto &[product, coefficient] : terms)
    for (const std::string &name : product) {
      std::string error;
      if (isQuotient(name))
        Size::parse(partsOf(name).first, error)->collectNames(names);
      else
        names.insert(name);
    }
}

std::optional<int64_t> Size::evaluate(const Bindings &bindings) const {
  int64_t sum = 0;
  if (constant() == kBeyond)
    return std::nullopt;
  for (auto &[product, coefficient] : terms) {
    int64_t value = coefficient;
    for (const std::string &name : product) {
      std::optional<int64_t> factor = valueOf(name, bindings);
      if (!factor || llvm::MulOverflow(value, *factor, value))
        return std::nullopt;
    }
    if (llvm::AddOverflow(sum, value, sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<Size> Size::dividedBy(const Size &divisor) const {
  if (divisor.terms.size() != 1)
    return std::nullopt;
  auto &[by, count] = *divisor.terms.begin();
  Size out;
  for (auto &[product, coefficient] : terms) {
    Product left = product;
    for (const std::string &name : by) {
      auto it = llvm::find(left, name);
      if (it == left.end())
        return std::nullopt;
      left.erase(it);
    }
    if (coefficient % count != 0)
      return std::nullopt;
    out.add(left, coefficient / count);
  }
  return out;
}

std::optional<Size> Size::dividedUpBy(int64_t divisor) const {
  auto number = terms.find({});
  int64_t rest = number == terms.end() ? 0 : number->second % divisor;
  std::optional<Size> exact =
      (*this + Size(rest > 0 ? divisor - rest : -rest)).dividedBy(Size(divisor));
  return exact ? exact : dividedDown(*this + Size(divisor - 1), divisor);
}

std::optional<int64_t> Size::solveFor(StringRef name, int64_t value, const Bindings &bindings,
                                      bool &isWhole) const {
  isWhole = true;
  Size factor, rest;
  for (auto &[product, coefficient] : terms) {
    Product left = product;
    auto it = llvm::find(left, name);
    if (it == left.end()) {
      rest.add(product, coefficient);
      continue;
    }
    left.erase(it);
    if (llvm::is_contained(left, name))
      return std::nullopt;
    factor.add(left, coefficient);
  }
  std::optional<int64_t> by = factor.evaluate(bindings), other = rest.evaluate(bindings);
  int64_t numerator = 0;
  if (!by || *by == 0 || !other || llvm::SubOverflow(value, *other, numerator))
    return std::nullopt;
  isWhole = numerator % *by == 0 && numerator / *by >= 0;
  return numerator / *by;
}

int64_t Size::knownDivisor() const {
  int64_t divisor = int64_t(1) << 62;
  for (auto &[product, coefficient] : terms)
    divisor = std::min(divisor, coefficient & -coefficient);
  return std::max<int64_t>(divisor, 1);
}
