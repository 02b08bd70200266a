//===- ASTPrinter.cpp - syntax trees as indented text ---------------------===//
//
// One node a line: what the node is to its parent, its kind, its own data.
//
//===----------------------------------------------------------------------===//
#include "frontend/AST.h"
#include "text/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
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

namespace {

std::string quoted(llvm::StringRef text) {
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
std::string shortest(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  void body(llvm::StringRef label, const Body &statements) {
    if (statements.empty())
      return;
    line(label, "");
    ++depth;
    for (const StmtPtr &statement : statements)
      stmt(*statement);
    --depth;
  }

  void stmt(const Stmt &s);

private:
  /// Writes one line; what is printed while the result lives is below it.
  void line(llvm::StringRef label, const llvm::Twine &text) {
    os.indent(2 * depth) << label;
    std::string rest = text.str();
    os << (label.empty() || rest.empty() ? "" : ": ") << rest << '\n';
  }
  void child(llvm::StringRef label, const ExprPtr &e) {
    if (e)
      expr(label, *e);
  }
  void children(llvm::StringRef label, const std::vector<ExprPtr> &list) {
    for (const ExprPtr &e : list)
      child(label, e);
  }
  template <typename F> void below(F f) {
    ++depth;
    f();
    --depth;
  }

  void expr(llvm::StringRef label, const Expr &e);
  void operators(llvm::StringRef label, const Expr &e);
  void access(llvm::StringRef label, const Expr &e);
  void constant(llvm::StringRef label, const Constant &c);
  void fstring(llvm::StringRef label, const FString &f);
  void comprehension(llvm::StringRef label, const Comprehension &c);
  void keywords(const std::vector<Keyword> &list);
  void parameters(const std::vector<Parameter> &params);
  void function(const FunctionDef &f);
  void classDef(const ClassDef &c);
  void simple(const Stmt &s);
  void import(const Stmt &s);
  void control(const Stmt &s);
  void tryOrWith(const Stmt &s);

  llvm::raw_ostream &os;
  unsigned depth = 1;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Printer::function(const FunctionDef &f) {
  line("", (f.isAsync ? "AsyncFunctionDef " : "FunctionDef ") + f.name);
  below([&] {
    children("decorator", f.decorators);
    parameters(f.params);
    child("returns", f.returns);
    body("body", f.body);
  });
}

void Printer::classDef(const ClassDef &c) {
  line("", formatted("ClassDef {}", c.name));
  below([&] {
    children("decorator", c.decorators);
    children("base", c.bases);
    keywords(c.keywords);
    body("body", c.body);
  });
}

void Printer::import(const Stmt &s) {
  const std::vector<ImportAlias> *names;
  if (const auto *from = llvm::dyn_cast<ImportFrom>(&s)) {
    line("", formatted("ImportFrom {}{}", std::string(from->level, '.'), from->module));
    names = &from->names;
  } else {
    line("", "Import");
    names = &llvm::cast<Import>(s).names;
  }
  below([&] {
    for (const ImportAlias &alias : *names)
      line("", alias.name + (alias.asName.empty() ? "" : formatted(" as {}", alias.asName)));
  });
}

void Printer::control(const Stmt &s) {
  if (const auto *branch = llvm::dyn_cast<If>(&s)) {
    line("", "If");
    below([&] {
      child("condition", branch->condition);
      body("then", branch->then);
      body("else", branch->otherwise);
    });
  } else if (const auto *loop = llvm::dyn_cast<For>(&s)) {
    line("", loop->isAsync ? "AsyncFor" : "For");
    below([&] {
      child("target", loop->target);
      child("in", loop->iterable);
      body("body", loop->body);
      body("else", loop->otherwise);
    });
  } else {
    const auto &repeat = llvm::cast<While>(s);
    line("", "While");
    below([&] {
      child("condition", repeat.condition);
      body("body", repeat.body);
      body("else", repeat.otherwise);
    });
  }
}

void Printer::tryOrWith(const Stmt &s) {
  if (const auto *with = llvm::dyn_cast<With>(&s)) {
    line("", with->isAsync ? "AsyncWith" : "With");
    below([&] {
      for (const With::Item &item : with->items) {
        child("item", item.context);
        child("as", item.target);
      }
      body("body", with->body);
    });
    return;
  }
  const auto &node = llvm::cast<Try>(s);
  line("", "Try");
  below([&] {
    body("body", node.body);
    for (const Try::Handler &handler : node.handlers) {
      line("except", handler.name);
      below([&] {
        child("type", handler.type);
        body("body", handler.body);
      });
    }
    body("else", node.otherwise);
    body("finally", node.finally);
  });
}

/// Statements that hold no block.
void Printer::simple(const Stmt &s) {
  if (const auto *value = llvm::dyn_cast<ExprStmt>(&s)) {
    line("", "Expr");
    below([&] { child("", value->value); });
  } else if (const auto *assign = llvm::dyn_cast<Assign>(&s)) {
    line("", "Assign");
    below([&] {
      children("target", assign->targets);
      child("value", assign->value);
    });
  } else if (const auto *update = llvm::dyn_cast<AugAssign>(&s)) {
    line("", formatted("AugAssign {}=", spelling(update->op)));
    below([&] {
      child("target", update->target);
      child("value", update->value);
    });
  } else if (const auto *annotated = llvm::dyn_cast<AnnAssign>(&s)) {
    line("", "AnnAssign");
    below([&] {
      child("target", annotated->target);
      child("annotation", annotated->annotation);
      child("value", annotated->value);
    });
  } else if (const auto *result = llvm::dyn_cast<Return>(&s)) {
    line("", "Return");
    below([&] { child("", result->value); });
  } else if (const auto *check = llvm::dyn_cast<Assert>(&s)) {
    line("", "Assert");
    below([&] {
      child("condition", check->condition);
      child("message", check->message);
    });
  } else if (const auto *raise = llvm::dyn_cast<Raise>(&s)) {
    line("", "Raise");
    below([&] {
      child("value", raise->value);
      child("from", raise->cause);
    });
  } else if (const auto *remove = llvm::dyn_cast<Delete>(&s)) {
    line("", "Delete");
    below([&] { children("", remove->targets); });
  } else {
    const auto &scope = llvm::cast<ScopeStmt>(s);
    line("",
         (s.kind == Stmt::Kind::Global ? "Global " : "Nonlocal ") + llvm::join(scope.names, ", "));
  }
}

void Printer::stmt(const Stmt &s) {
  switch (s.kind) {
  case Stmt::Kind::FunctionDef:
    return function(llvm::cast<FunctionDef>(s));
  case Stmt::Kind::ClassDef:
    return classDef(llvm::cast<ClassDef>(s));
  case Stmt::Kind::Import:
  case Stmt::Kind::ImportFrom:
    return import(s);
  case Stmt::Kind::If:
  case Stmt::Kind::For:
  case Stmt::Kind::While:
    return control(s);
  case Stmt::Kind::Try:
  case Stmt::Kind::With:
    return tryOrWith(s);
  case Stmt::Kind::Break:
    return line("", "Break");
  case Stmt::Kind::Continue:
    return line("", "Continue");
  case Stmt::Kind::Pass:
    return line("", "Pass");
  case Stmt::Kind::Match:
    return line("", "Match");
  case Stmt::Kind::TypeAlias:
    return line("", "TypeAlias");
  default:
    return simple(s);
  }
}

} // namespace

void print(const Module &module, llvm::raw_ostream &os) {
  os << "Module\n";
  Printer printer(os);
  for (const StmtPtr &statement : module.body)
    printer.stmt(*statement);
}

} // namespace tile::ast
