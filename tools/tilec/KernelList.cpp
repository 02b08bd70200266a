//===- KernelList.cpp - the kernels of a file -----------------------------===//
#include "tools/tilec/KernelList.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Casting.h"

using namespace tile;
using llvm::StringRef;

/// `jit`, `triton.jit`, and either of them called with options.
static bool isMarked(const ast::FunctionDef &function, StringRef mark) {
  return llvm::any_of(function.decorators, [&](auto &written) {
    const ast::Expr *decorator = written.get();
    if (auto *call = llvm::dyn_cast<ast::Call>(decorator))
      decorator = call->callee.get();
    if (auto *name = llvm::dyn_cast<ast::Name>(decorator))
      return name->id == mark;
    auto *member = llvm::dyn_cast<ast::Attribute>(decorator);
    return member && member->name == mark;
  });
}

static bool isJitted(const ast::FunctionDef &function) { return isMarked(function, "jit"); }

std::string tilec::firstTest(const ast::Module &module) {
  for (const ast::StmtPtr &statement : module.body)
    if (auto *function = llvm::dyn_cast<ast::FunctionDef>(statement.get());
        function && isMarked(*function, "test"))
      return function->name;
  return "";
}

/// Whether the types of all parameters are said. Constants alone make a helper, not a kernel.
static bool isTyped(const ast::FunctionDef &function) {
  return llvm::all_of(function.params, [](auto &p) { return p.annotation != nullptr; }) &&
         llvm::any_of(function.params, [](auto &p) {
           auto *text = llvm::dyn_cast_or_null<ast::Constant>(p.annotation.get());
           return text && text->type == ast::Constant::Type::String;
         });
}

std::vector<const ast::FunctionDef *> tilec::listTypedKernels(const ast::Module &module) {
  llvm::StringMap<const ast::FunctionDef *> last; // a name means what it is bound to last
  for (const ast::StmtPtr &statement : module.body)
    if (auto *function = llvm::dyn_cast<ast::FunctionDef>(statement.get()))
      last[function->name] = function;
  std::vector<const ast::FunctionDef *> kernels;
  for (const ast::StmtPtr &statement : module.body) {
    auto *function = llvm::dyn_cast<ast::FunctionDef>(statement.get());
    if (function && last[function->name] == function && isJitted(*function) && isTyped(*function))
      kernels.push_back(function);
  }
  return kernels;
}

using NamedFunctions = std::vector<std::pair<std::string, const ast::FunctionDef *>>;

/// The `@triton.jit` functions in a body and in what stands in it, with the way to each:
/// `Class.kernel`. What their own bodies hold is none of them.
static void collectJitted(const ast::Body &body, const std::string &way, NamedFunctions &out) {
  for (const ast::StmtPtr &statement : body) {
    if (auto *function = llvm::dyn_cast<ast::FunctionDef>(statement.get())) {
      if (isJitted(*function))
        out.emplace_back(way + function->name, function);
      else
        collectJitted(function->body, way + function->name + ".", out);
    } else if (auto *type = llvm::dyn_cast<ast::ClassDef>(statement.get())) {
      collectJitted(type->body, way + type->name + ".", out);
    } else if (auto *branch = llvm::dyn_cast<ast::If>(statement.get())) {
      collectJitted(branch->then, way, out);
      collectJitted(branch->otherwise, way, out);
    } else if (auto *attempt = llvm::dyn_cast<ast::Try>(statement.get())) {
      collectJitted(attempt->body, way, out);
    }
  }
}

static bool isConstant(const ast::Parameter &parameter) {
  const ast::Expr *annotation = parameter.annotation.get();
  if (auto *name = llvm::dyn_cast_or_null<ast::Name>(annotation))
    return name->id == "constexpr";
  auto *member = llvm::dyn_cast_or_null<ast::Attribute>(annotation);
  return member && member->name == "constexpr";
}

/// The names that are called, or passed on, in the text of functions other than their own.
static llvm::StringSet<> calledNames(StringRef text, const NamedFunctions &functions) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || (c & 0x80); };
  llvm::StringSet<> called;
  for (auto &[name, function] : functions) {
    StringRef body = text.slice(function->range.begin, function->range.end);
    while (!(body = body.drop_until(isWord)).empty()) {
      StringRef word = body.take_while(isWord);
      body = body.drop_front(word.size());
      if (word != function->name && (body.starts_with("(") || body.starts_with(")")))
        called.insert(word);
    }
  }
  return called;
}

std::vector<tilec::KernelEntry> tilec::listKernels(const ast::Module &module,
                                                   const frontend::SourceFile &source) {
  NamedFunctions jitted;
  collectJitted(module.body, "", jitted);
  llvm::StringSet<> called = calledNames(source.text(), jitted);
  std::vector<KernelEntry> kernels;
  for (auto &[name, function] : jitted) {
    bool hasTypes = isTyped(*function);
    if (!hasTypes && called.contains(function->name))
      continue;
    // A name means what it is bound to last.
    llvm::erase_if(kernels, [&, &name = name](const KernelEntry &k) { return k.name == name; });
    KernelEntry &entry = kernels.emplace_back();
    entry.name = name;
    entry.def = function;
    for (const ast::Parameter &parameter : function->params) {
      if (isConstant(parameter) && !parameter.defaultValue)
        entry.constants.push_back(parameter.name);
      else if (!isConstant(parameter) && !hasTypes)
        entry.untyped.push_back(parameter.name);
    }
  }
  return kernels;
}

std::string tilec::enumerate(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (auto [i, name] : llvm::enumerate(names))
    text += formatted("{}{}`", i == 0 ? "`" : i + 1 == names.size() ? " and `" : ", `", name);
  return text;
}

std::string tilec::KernelEntry::missing() const {
  std::string text;
  if (!untyped.empty())
    text = formatted("needs the types of {} (--signature)", enumerate(untyped));
  if (!constants.empty())
    text +=
        formatted("{}{} (--constexpr)", text.empty() ? "needs " : " and ", enumerate(constants));
  return text;
}
