//===- MethodsString.cpp - methods of strings -----------------------------===//
#include "frontend/eval/Characters.h"
#include "frontend/eval/MethodTables.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

static Result needString(StringRef method, const PyValue &value) {
  if (value.isStr())
    return value;
  return fail(formatted("`{}` needs a string, got `{}`", method, typeName(value)));
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

/// Case and kind of letters are known for ASCII only.
static std::unique_ptr<EvalError> needAscii(StringRef method, StringRef text) {
  return isAscii(text) ? nullptr
                       : unsupported(formatted("`{}` of a string with other characters than "
                                               "ASCII's is not supported at compile time",
                                               method));
}

/// A method without arguments that maps text to text.
template <std::string (*fn)(StringRef)>
static Result textMethod(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("str method", args, {}, 0);
  if (!r)
    return r.error();
  if (auto error = needAscii("lower/upper/capitalize", self.asStr()))
    return error;
  return PyValue::string(fn(self.asStr()));
}

/// A method that asks something of the text and one string argument.
template <bool (*fn)(StringRef, StringRef)>
static Result textPredicate(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("str method", args, {"prefix"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> choices = {r[0]};
  if (r[0].is(Kind::Tuple))
    choices = r[0].asTuple().elements;
  for (const PyValue &choice : choices) {
    Result text = needString("startswith/endswith", choice);
    if (!text)
      return text;
    if (fn(self.asStr(), text->asStr()))
      return PyValue::boolean(true);
  }
  return PyValue::boolean(false);
}

template <bool (*fn)(char)>
static Result everyChar(Evaluator &, const PyValue &self, const CallArgs &) {
  if (auto error = needAscii("isdigit/isalpha/isalnum", self.asStr()))
    return error;
  return PyValue::boolean(!self.asStr().empty() && llvm::all_of(self.asStr(), fn));
}

static std::string capitalized(StringRef text) {
  std::string out = text.lower();
  if (!out.empty())
    out[0] = llvm::toUpper(out[0]);
  return out;
}

enum class Side { Both, Left, Right };
static StringRef stripped(StringRef text, StringRef chars, Side side) {
  std::vector<StringRef> each = characters(text), unwanted = characters(chars);
  size_t first = 0, last = each.size();
  auto goes = [&](size_t i) { return first < last && llvm::is_contained(unwanted, each[i]); };
  while (side != Side::Right && goes(first))
    text = text.drop_front(each[first++].size());
  while (side != Side::Left && goes(last - 1))
    text = text.drop_back(each[--last].size());
  return text;
}

template <Side side> static Result strip(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("strip", args, {"chars"}, 0);
  if (!r)
    return r.error();
  std::string chars = " \t\n\r\f\v";
  if (!r.get(0).isNone()) {
    if (Result ok = needString("strip", r[0]); !ok)
      return ok;
    chars = r[0].asStr();
  }
  return PyValue::string(stripped(self.asStr(), chars, side).str());
}

static Result split(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("split", args, {"sep", "maxsplit"}, 0);
  if (!r)
    return r.error();
  int64_t limit = r.has(1) ? r[1].toInt64().value_or(-1) : -1;
  llvm::SmallVector<StringRef> pieces;
  StringRef text = self.asStr();
  if (r.get(0).isNone()) {
    StringRef blanks = " \t\n\r\f\v";
    for (text = text.ltrim(blanks); !text.empty() && limit-- != 0; text = text.ltrim(blanks)) {
      pieces.push_back(text.take_front(text.find_first_of(blanks)));
      text = text.drop_front(pieces.back().size());
    }
    if (!text.empty())
      pieces.push_back(text);
  } else {
    if (Result ok = needString("split", r[0]); !ok)
      return ok;
    if (r[0].asStr().empty())
      return fail("`split` needs a separator that is not empty", "ValueError");
    size_t done = 0, at;
    for (; limit-- != 0 && (at = findPart(text, r[0].asStr(), done)) != StringRef::npos;
         done = at + r[0].asStr().size())
      pieces.push_back(text.slice(done, at));
    pieces.push_back(text.drop_front(done));
  }
  std::vector<PyValue> out;
  for (StringRef piece : pieces)
    out.push_back(PyValue::string(piece.str()));
  return PyValue::list(std::move(out));
}

static Result join(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("join", args, {"iterable"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  std::string out;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (Result ok = needString("join", elements[i]); !ok)
      return ok;
    out += (i ? self.asStr() : "") + elements[i].asStr();
    if (auto error = Work::checkLength(out.size()))
      return error;
  }
  if (!Work::spendBytes(out.size()))
    return Work::error();
  return PyValue::string(out);
}

static Result replace(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("replace", args, {"old", "new"}, 2);
  if (!r)
    return r.error();
  for (size_t i : {0, 1})
    if (Result ok = needString("replace", r[i]); !ok)
      return ok;
  const std::string &from = r[0].asStr(), &to = r[1].asStr();
  const std::string &text = self.asStr();
  if (from.empty())
    return fail("`replace` needs text to look for", "ValueError");
  std::string out;
  size_t done = 0;
  for (size_t at; (at = findPart(text, from, done)) != StringRef::npos; done = at + from.size()) {
    out += text.substr(done, at - done) + to;
    if (auto error = Work::checkLength(out.size()))
      return error;
  }
  out += text.substr(done);
  if (auto error = Work::checkLength(out.size()))
    return error;
  if (!Work::spendBytes(out.size()))
    return Work::error();
  return PyValue::string(out);
}

template <bool mustFind>
static Result findText(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("find", args, {"sub"}, 1);
  if (!r)
    return r.error();
  if (Result ok = needString("find", r[0]); !ok)
    return ok;
  size_t at = findPart(self.asStr(), r[0].asStr());
  if (mustFind && at == StringRef::npos)
    return fail("substring not found", "ValueError");
  return PyValue::integer(
      at == StringRef::npos ? -1 : countCharacters(StringRef(self.asStr()).take_front(at)));
}

static Result countText(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("count", args, {"sub"}, 1);
  if (!r)
    return r.error();
  if (Result ok = needString("count", r[0]); !ok)
    return ok;
  if (r[0].asStr().empty()) // between all characters, and around them
    return PyValue::integer(countCharacters(self.asStr()) + 1);
  int64_t count = 0;
  for (size_t at = 0; (at = findPart(self.asStr(), r[0].asStr(), at)) != StringRef::npos; ++count)
    at += r[0].asStr().size();
  return PyValue::integer(count);
}

template <char align>
static Result justify(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("justify", args, {"width", "fillchar"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> width = r[0].toInt64();
  if (!width || *width > 10000)
    return fail("the width must be an integer of at most 10000");
  std::string fill = r.has(1) && r[1].isStr() ? r[1].asStr() : " ";
  if (countCharacters(fill) != 1)
    return fail("what fills a text must be one character");
  int64_t missing = *width - countCharacters(self.asStr());
  if (align == '^' && missing > 0 && missing % 2 &&
      *width % 2) // here Python puts the odd one first
    return format(PyValue::string(fill + self.asStr()), fill + "^" + std::to_string(*width));
  return format(self, fill + align + std::to_string(std::max<int64_t>(*width, 0)));
}

static Result zeroFill(Evaluator &, const PyValue &self, const CallArgs &args) {
  std::optional<int64_t> width = args.positional.empty() ? 0 : args.positional[0].toInt64();
  if (!width || *width > 10000)
    return fail("the width must be an integer of at most 10000");
  std::string text = self.asStr();
  int64_t size = countCharacters(text);
  bool hasSign = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (size < *width)
    text.insert(hasSign ? 1 : 0, *width - size, '0');
  return PyValue::string(text);
}

/// "{} {name} {0:spec}".format(...)
static Result formatMethod(Evaluator &evaluator, const PyValue &self, const CallArgs &args) {
  StringRef text = self.asStr();
  std::string out;
  size_t automatic = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      out += c;
      ++i;
      continue;
    }
    if (c != '{') {
      out += c;
      continue;
    }
    size_t close = text.find('}', i);
    if (close == StringRef::npos)
      return fail("`format` string has a `{` without `}`", "ValueError");
    auto [field, spec] = text.slice(i + 1, close).split(':');
    const PyValue *value = nullptr;
    size_t index = automatic;
    if (field.empty() || !field.getAsInteger(10, index)) {
      automatic += field.empty();
      value = index < args.positional.size() ? &args.positional[index] : nullptr;
    } else {
      value = args.keyword(field);
    }
    if (!value)
      return fail(formatted("`format` has no argument for `{{{}}}`", field), "IndexError");
    Result piece = format(*value, spec);
    if (!piece)
      return piece;
    if (auto error = Work::append(out, piece->asStr()))
      return error;
    i = close;
  }
  return PyValue::string(out);
}

static std::string lower(StringRef s) { return s.lower(); }
static std::string upper(StringRef s) { return s.upper(); }
static bool startsWith(StringRef s, StringRef p) { return s.starts_with(p); }
static bool endsWith(StringRef s, StringRef p) { return s.ends_with(p); }
static bool isDigit(char c) { return llvm::isDigit(c); }
static bool isAlpha(char c) { return llvm::isAlpha(c); }
static bool isAlnum(char c) { return llvm::isAlnum(c); }

template <bool prefix>
static Result removeAffix(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("removeprefix", args, {"affix"}, 1);
  if (!r)
    return r.error();
  if (Result ok = needString("removeprefix", r[0]); !ok)
    return ok;
  StringRef text = self.asStr();
  prefix ? text.consume_front(r[0].asStr()) : text.consume_back(r[0].asStr());
  return PyValue::string(text.str());
}

static const MethodEntry stringMethodsTable[] = {
    {"lower", textMethod<lower>},
    {"upper", textMethod<upper>},
    {"capitalize", textMethod<capitalized>},
    {"startswith", textPredicate<startsWith>},
    {"endswith", textPredicate<endsWith>},
    {"isdigit", everyChar<isDigit>},
    {"isalpha", everyChar<isAlpha>},
    {"isalnum", everyChar<isAlnum>},
    {"strip", strip<Side::Both>},
    {"lstrip", strip<Side::Left>},
    {"rstrip", strip<Side::Right>},
    {"split", split},
    {"join", join},
    {"replace", replace},
    {"find", findText<false>},
    {"index", findText<true>},
    {"count", countText},
    {"ljust", justify<'<'>},
    {"rjust", justify<'>'>},
    {"center", justify<'^'>},
    {"zfill", zeroFill},
    {"format", formatMethod},
    {"removeprefix", removeAffix<true>},
    {"removesuffix", removeAffix<false>},
};

llvm::ArrayRef<MethodEntry> eval::stringMethods() { return stringMethodsTable; }
