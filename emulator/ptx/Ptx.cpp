//===- Ptx.cpp - the text of inline PTX, taken apart ----------------------===//
#include "emulator/ptx/Ptx.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tile::emu;
using tile::formatted;

bool PtxStatement::has(StringRef part) const { return is_contained(parts, part); }

namespace {

class Parser {
public:
  explicit Parser(StringRef text) : rest(text) {}
  Expected<std::vector<PtxStatement>> run();

private:
  void skipSpace();
  bool accept(char c);
  StringRef word();
  bool statement(PtxStatement &s);
  bool declaration(PtxStatement &s);
  bool operand(PtxOperand &o);
  bool simpleOperand(PtxOperand &o);
  bool memory(PtxOperand &o);
  bool number(PtxOperand &o);

  StringRef rest;
};

bool isWord(char c) { return isAlnum(c) || c == '_' || c == '%' || c == '.' || c == ':'; }

} // namespace

void Parser::skipSpace() {
  for (;;) {
    rest = rest.ltrim();
    if (rest.starts_with("//"))
      rest = rest.drop_until([](char c) { return c == '\n'; });
    else if (rest.starts_with("/*"))
      rest = rest.substr(std::min(rest.size(), rest.find("*/") + 2));
    else
      return;
  }
}

bool Parser::accept(char c) {
  skipSpace();
  return rest.consume_front(StringRef(&c, 1));
}

StringRef Parser::word() {
  skipSpace();
  // A single colon ends a label; two belong to a qualifier (shared::cta).
  size_t n = 0;
  while (n < rest.size() && isWord(rest[n])) {
    if (rest[n] == ':') {
      if (!rest.substr(n).starts_with("::"))
        break;
      ++n;
    }
    ++n;
  }
  StringRef w = rest.take_front(n);
  rest = rest.drop_front(n);
  return w;
}

bool Parser::number(PtxOperand &o) {
  bool negative = rest.consume_front("-");
  if (rest.starts_with("0f") || rest.starts_with("0F") || rest.starts_with("0d") ||
      rest.starts_with("0D")) {
    bool single = toLower(rest[1]) == 'f';
    StringRef digits = rest.substr(2, single ? 8 : 16);
    uint64_t bits = 0;
    if (digits.getAsInteger(16, bits))
      return false;
    rest = rest.drop_front(2 + digits.size());
    o.kind = PtxOperand::Float, o.floatBits = single ? 32 : 64;
    o.value = int64_t(bits ^ (negative ? uint64_t(1) << (o.floatBits - 1) : 0));
    return true;
  }
  StringRef digits = rest.take_while([](char c) { return isAlnum(c) || c == '.'; });
  rest = rest.drop_front(digits.size());
  if (digits.contains('.')) {
    double d = 0;
    if (digits.getAsDouble(d))
      return false;
    o.kind = PtxOperand::Float, o.floatBits = 64;
    o.value = bit_cast<int64_t>(negative ? -d : d);
    return true;
  }
  digits.consume_back("U");
  digits.consume_back("u");
  uint64_t v = 0;
  if (digits.getAsInteger(0, v))
    return false;
  o.kind = PtxOperand::Integer, o.value = negative ? -int64_t(v) : int64_t(v);
  return true;
}

bool Parser::memory(PtxOperand &o) {
  o.kind = PtxOperand::Memory;
  if (!simpleOperand(o.elements.emplace_back()))
    return false;
  for (;;) {
    skipSpace();
    if (accept(']'))
      return true;
    if (accept(',')) {
      if (!operand(o.elements.emplace_back()))
        return false;
      continue;
    }
    bool minus = rest.starts_with("-");
    if (!minus && !accept('+'))
      return false;
    skipSpace();
    PtxOperand offset;
    if (!number(offset))
      return false;
    o.value += offset.value;
  }
}

bool Parser::simpleOperand(PtxOperand &o) {
  skipSpace();
  if (rest.empty())
    return false;
  if (rest.consume_front("!")) {
    if (!simpleOperand(o))
      return false;
    o.negated = !o.negated;
    return true;
  }
  if (rest.consume_front("$$")) { // an escaped dollar begins a name
    o.kind = PtxOperand::Name, o.name = "$" + word().str();
    return true;
  }
  if (rest.consume_front("${")) {
    o.kind = PtxOperand::Placeholder;
    bool bad = rest.consumeInteger(10, o.index);
    rest = rest.drop_until([](char c) { return c == '}'; }).drop_front();
    return !bad;
  }
  if (rest.consume_front("$")) {
    o.kind = PtxOperand::Placeholder;
    return !rest.consumeInteger(10, o.index);
  }
  if (isDigit(rest[0]) || rest[0] == '-')
    return number(o);
  StringRef w = word();
  if (w.empty())
    return false;
  o.kind = w == "_" ? PtxOperand::Sink : PtxOperand::Name;
  o.name = w.str();
  return true;
}

bool Parser::operand(PtxOperand &o) {
  skipSpace();
  if (accept('[')) {
    if (!memory(o))
      return false;
  } else if (accept('{')) {
    o.kind = PtxOperand::Vector;
    if (!accept('}')) {
      do
        if (!operand(o.elements.emplace_back()))
          return false;
      while (accept(','));
      if (!accept('}'))
        return false;
    }
  } else if (!simpleOperand(o)) {
    return false;
  }
  if (accept('|')) { // two results, such as a value and a predicate
    PtxOperand pair;
    pair.kind = PtxOperand::Vector;
    pair.elements.push_back(std::move(o));
    if (!simpleOperand(pair.elements.emplace_back()))
      return false;
    o = std::move(pair);
  }
  return true;
}

bool Parser::declaration(PtxStatement &s) {
  s.opcode = ".reg";
  s.type = word().drop_front().str();
  do {
    PtxOperand o;
    if (!simpleOperand(o))
      return false;
    if (accept('<')) { // r<3>: r0, r1, r2
      PtxOperand count;
      skipSpace();
      if (!number(count) || !accept('>'))
        return false;
      for (int64_t i = 0; i < count.value; ++i) {
        PtxOperand one = o;
        one.name += std::to_string(i);
        s.operands.push_back(one);
      }
      continue;
    }
    s.operands.push_back(std::move(o));
  } while (accept(','));
  return accept(';');
}

bool Parser::statement(PtxStatement &s) {
  if (accept('@')) {
    s.guarded = true;
    if (!simpleOperand(s.guard))
      return false;
  }
  StringRef w;
  if (rest.consume_front("$$"))
    w = StringRef(rest.data() - 1, word().size() + 1);
  else
    w = word();
  if (w.empty())
    return false;
  if (w == ".reg")
    return declaration(s);
  if (accept(':')) {
    s.label = w.str();
    // LLVM's unique suffix ${:uid} follows the name of a label.
    return true;
  }
  s.opcode = w.str();
  SmallVector<StringRef, 8> parts;
  w.split(parts, '.');
  for (StringRef part : parts)
    s.parts.push_back(part.str());
  if (accept(';'))
    return true;
  do
    if (!operand(s.operands.emplace_back()))
      return false;
  while (accept(','));
  return accept(';');
}

Expected<std::vector<PtxStatement>> Parser::run() {
  std::vector<PtxStatement> statements;
  for (;;) {
    skipSpace();
    if (rest.empty())
      return statements;
    if (accept('{') || accept('}') || accept(';')) // scopes: names are unique within one text
      continue;
    StringRef before = rest;
    PtxStatement s;
    if (!statement(s))
      return createStringError(formatted("the inline PTX `{};` could not be read",
                                         before.take_until([](char c) { return c == ';'; })));
    statements.push_back(std::move(s));
  }
}

Expected<std::vector<PtxStatement>> tile::emu::parsePtx(StringRef text) {
  // Labels made unique by LLVM: the suffix is the same in one text.
  std::string plain = text.str();
  for (StringRef unique : {"${:uid}", "$${:uid}"})
    for (size_t at; (at = plain.find(unique.str())) != std::string::npos;)
      plain.erase(at, unique.size());
  return Parser(plain).run();
}
