//===- ASTPrinter.cpp - statements as indented text -----------------------===//
#include "frontend/ASTPrinter.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

namespace tile::ast {

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

void print(const Module &module, llvm::raw_ostream &os) {
  os << "Module\n";
  Printer printer(os);
  for (const StmtPtr &statement : module.body)
    printer.stmt(*statement);
}

} // namespace tile::ast
