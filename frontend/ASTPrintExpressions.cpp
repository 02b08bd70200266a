//===- ASTPrintExpressions.cpp - expressions as indented text -------------===//
#include "frontend/ASTPrinter.h"
#include "text/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

namespace tile::ast {

llvm::StringRef spelling(BinaryOp op) {
  static constexpr llvm::StringLiteral table[] = {"+", "-",  "*",  "/", "//", "%", "**",
                                                  "@", "<<", ">>", "&", "|",  "^"};
  return table[static_cast<unsigned>(op)];
}

llvm::StringRef spelling(UnaryOp op) {
  static constexpr llvm::StringLiteral table[] = {"-", "+", "~", "not"};
  return table[static_cast<unsigned>(op)];
}

llvm::StringRef spelling(CompareOp op) {
  static constexpr llvm::StringLiteral table[] = {"==", "!=", "<",      "<=", ">",
                                                  ">=", "is", "is not", "in", "not in"};
  return table[static_cast<unsigned>(op)];
}

static std::string quoted(llvm::StringRef text) {
  std::string out = "\"";
  llvm::raw_string_ostream os(out);
  for (char c : text) {
    if (c == '"' || c == '\\')
      os << '\\' << c;
    else if (c == '\n')
      os << "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      os << formatted("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      os << c;
  }
  return out + '"';
}

/// The shortest decimal that reads back as the same number.
static std::string shortest(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

void Printer::constant(llvm::StringRef label, const Constant &c) {
  using Type = Constant::Type;
  switch (c.type) {
  case Type::None:
    return line(label, "None");
  case Type::Bool:
    return line(label, c.boolean ? "True" : "False");
  case Type::Ellipsis:
    return line(label, "...");
  case Type::Int:
    return line(label, formatted("Int {}", llvm::toString(c.integer, 10, /*Signed=*/false)));
  case Type::Float:
    return line(label, formatted("Float {}", shortest(c.number)));
  case Type::Imaginary:
    return line(label, formatted("Imaginary {}", shortest(c.number)));
  case Type::String:
    return line(label, formatted("String {}", quoted(c.text)));
  case Type::Bytes:
    return line(label, formatted("Bytes {}", quoted(c.text)));
  }
}

void Printer::fstring(llvm::StringRef label, const FString &f) {
  line(label, "FString");
  below([&] {
    for (const FString::Part &part : f.parts) {
      if (!part.expr) {
        line("", formatted("literal {}", quoted(part.literal)));
        continue;
      }
      line("", formatted("field{}{}", part.conversion ? formatted(" !{}", part.conversion) : "",
                         part.debug ? formatted(" {}", quoted(part.debugText)) : ""));
      below([&] {
        expr("", *part.expr);
        if (part.format)
          fstring("format", *part.format);
      });
    }
  });
}

void Printer::comprehension(llvm::StringRef label, const Comprehension &c) {
  static constexpr llvm::StringLiteral types[] = {"List", "Set", "Dict", "Generator"};
  line(label, types[static_cast<unsigned>(c.type)] + "Comprehension");
  below([&] {
    child(c.value ? "key" : "element", c.element);
    child("value", c.value);
    for (const Comprehension::Clause &clause : c.clauses) {
      line("", clause.isAsync ? "async for" : "for");
      below([&] {
        child("target", clause.target);
        child("in", clause.iterable);
        children("if", clause.conditions);
      });
    }
  });
}

void Printer::keywords(const std::vector<Keyword> &list) {
  for (const Keyword &keyword : list)
    child(keyword.name.empty() ? "**" : keyword.name + "=", keyword.value);
}

void Printer::parameters(const std::vector<Parameter> &params) {
  static constexpr llvm::StringLiteral kinds[] = {"positional-only ", "", "*", "keyword-only ",
                                                  "**"};
  for (const Parameter &param : params) {
    line("", formatted("parameter {}{}", kinds[static_cast<unsigned>(param.kind)], param.name));
    below([&] {
      child("annotation", param.annotation);
      child("default", param.defaultValue);
    });
  }
}

void Printer::operators(llvm::StringRef label, const Expr &e) {
  if (const auto *unary = llvm::dyn_cast<Unary>(&e)) {
    line(label, formatted("Unary {}", spelling(unary->op)));
    below([&] { child("", unary->operand); });
  } else if (const auto *binary = llvm::dyn_cast<Binary>(&e)) {
    line(label, formatted("Binary {}", spelling(binary->op)));
    below([&] {
      child("", binary->lhs);
      child("", binary->rhs);
    });
  } else if (const auto *boolean = llvm::dyn_cast<BoolOp>(&e)) {
    line(label, boolean->isAnd ? "BoolOp and" : "BoolOp or");
    below([&] { children("", boolean->values); });
  } else if (const auto *compare = llvm::dyn_cast<Compare>(&e)) {
    line(label, "Compare");
    below([&] {
      child("", compare->first);
      for (size_t i = 0; i < compare->ops.size(); ++i)
        child(spelling(compare->ops[i]), compare->rest[i]);
    });
  } else {
    const auto &conditional = llvm::cast<Conditional>(e);
    line(label, "Conditional");
    below([&] {
      child("condition", conditional.condition);
      child("then", conditional.then);
      child("else", conditional.otherwise);
    });
  }
}

/// Calls, attributes, subscripts, slices and what has one value.
void Printer::access(llvm::StringRef label, const Expr &e) {
  if (const auto *call = llvm::dyn_cast<Call>(&e)) {
    line(label, "Call");
    below([&] {
      child("callee", call->callee);
      children("", call->args);
      keywords(call->keywords);
    });
  } else if (const auto *attribute = llvm::dyn_cast<Attribute>(&e)) {
    line(label, formatted("Attribute {}", attribute->name));
    below([&] { child("", attribute->value); });
  } else if (const auto *subscript = llvm::dyn_cast<Subscript>(&e)) {
    line(label, "Subscript");
    below([&] {
      child("", subscript->value);
      child("index", subscript->index);
    });
  } else if (const auto *slice = llvm::dyn_cast<Slice>(&e)) {
    line(label, "Slice");
    below([&] {
      child("lower", slice->lower);
      child("upper", slice->upper);
      child("step", slice->step);
    });
  } else if (const auto *named = llvm::dyn_cast<NamedExpr>(&e)) {
    line(label, formatted("NamedExpr {}", named->name));
    below([&] { child("", named->value); });
  } else if (const auto *starred = llvm::dyn_cast<Starred>(&e)) {
    line(label, "Starred");
    below([&] { child("", starred->value); });
  } else if (const auto *await = llvm::dyn_cast<Await>(&e)) {
    line(label, "Await");
    below([&] { child("", await->value); });
  } else {
    const auto &yield = llvm::cast<Yield>(e);
    line(label, yield.from ? "Yield from" : "Yield");
    below([&] { child("", yield.value); });
  }
}

void Printer::expr(llvm::StringRef label, const Expr &e) {
  switch (e.kind) {
  case Expr::Kind::Name:
    return line(label, formatted("Name {}", llvm::cast<Name>(e).id));
  case Expr::Kind::Constant:
    return constant(label, llvm::cast<Constant>(e));
  case Expr::Kind::FString:
    return fstring(label, llvm::cast<FString>(e));
  case Expr::Kind::Tuple:
  case Expr::Kind::List:
  case Expr::Kind::Set:
    line(label, e.kind == Expr::Kind::Tuple  ? "Tuple"
                : e.kind == Expr::Kind::List ? "List"
                                             : "Set");
    return below([&] { children("", llvm::cast<Sequence>(e).elements); });
  case Expr::Kind::Dict:
    line(label, "Dict");
    return below([&] {
      for (const Dict::Item &item : llvm::cast<Dict>(e).items) {
        child("key", item.key);
        child(item.key ? "value" : "**", item.value);
      }
    });
  case Expr::Kind::Unary:
  case Expr::Kind::Binary:
  case Expr::Kind::BoolOp:
  case Expr::Kind::Compare:
  case Expr::Kind::Conditional:
    return operators(label, e);
  case Expr::Kind::Lambda:
    line(label, "Lambda");
    return below([&] {
      parameters(llvm::cast<Lambda>(e).params);
      child("body", llvm::cast<Lambda>(e).body);
    });
  case Expr::Kind::Comprehension:
    return comprehension(label, llvm::cast<Comprehension>(e));
  default:
    return access(label, e);
  }
}

} // namespace tile::ast
