//===- Lint.cpp - remarks about a kernel's source --------------------------===//
#include "passes/Lint.h"
#include "compiler/Lint.h"
#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "frontend/eval/Eval.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "text/Format.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

using namespace mlir;
using namespace tile;

/// The place in `file`, or none if it lies in another one.
static frontend::SourceRange rangeIn(const frontend::SourceFile &file, Location loc) {
  frontend::SourceRange range;
  loc->walk([&](Location inner) {
    auto at = dyn_cast<FileLineColLoc>(inner);
    if (!at)
      return WalkResult::advance();
    if (at.getFilename() == file.name()) {
      uint32_t begin = file.offsetOf(at.getLine(), at.getColumn());
      range = {begin, begin + 1};
    }
    return WalkResult::interrupt();
  });
  return range;
}

namespace {
struct Finding {
  frontend::SourceRange range;
  std::string message;
  bool operator==(const Finding &other) const {
    return range.begin == other.range.begin && message == other.message;
  }
};
} // namespace

struct Linter::Impl {
  Impl(const frontend::SourceFile &file, std::vector<std::string> includePaths,
       frontend::DiagnosticEngine &diagnostics)
      : file(file), tree(frontend::parse(file, diagnostics)),
        context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TileDialect, cta::CtaDialect>();
    if (!diagnostics.hasErrors())
      program.emplace(file, tree, std::move(includePaths));
  }
  std::optional<std::vector<Finding>> remarksOf(const CompileOptions &options, bool stridesKnown,
                                                frontend::DiagnosticEngine &errors);
  std::vector<CompileOptions> variationsOf(const CompileOptions &options);

  const frontend::SourceFile &file;
  ast::Module tree;
  MLIRContext context;
  std::optional<frontend::KernelFile> program;
};

Linter::Linter(const frontend::SourceFile &file, std::vector<std::string> includePaths,
               frontend::DiagnosticEngine &diagnostics)
    : impl(std::make_unique<Impl>(file, std::move(includePaths), diagnostics)) {}

Linter::~Linter() = default;

std::optional<std::vector<Finding>> Linter::Impl::remarksOf(const CompileOptions &options,
                                                            bool stridesKnown,
                                                            frontend::DiagnosticEngine &errors) {
  OwningOpRef<ModuleOp> module = program->specialize(context, options, errors);
  if (!module || errors.hasErrors())
    return std::nullopt;
  std::vector<Finding> remarks;
  for (func::FuncOp kernel : module->getOps<func::FuncOp>())
    tile::lint(kernel, stridesKnown, [&](Location loc, std::string message) {
      if (frontend::SourceRange range = rangeIn(file, loc); range.end)
        remarks.push_back({range, std::move(message)});
    });
  return remarks;
}

/// The same kernel with one constexpr less by half, for each whose default is an even number.
std::vector<CompileOptions> Linter::Impl::variationsOf(const CompileOptions &options) {
  std::vector<CompileOptions> out;
  for (const auto &kernel : program->kernels()) {
    if (kernel->name() != options.kernel)
      continue;
    for (const ast::Parameter &parameter : kernel->params()) {
      auto *constant = llvm::dyn_cast_or_null<ast::Constant>(parameter.defaultValue.get());
      if (!constant || constant->type != ast::Constant::Type::Int ||
          constant->integer.getActiveBits() > 31 ||
          !eval::isConstexprAnnotation(parameter.annotation.get(), &program->environment()) ||
          llvm::any_of(options.constexprs,
                       [&](auto &given) { return given.first == parameter.name; }))
        continue;
      uint64_t value = constant->integer.getZExtValue();
      if (value == 0 || value % 2)
        continue;
      CompileOptions changed = options;
      changed.print = nullptr;
      changed.constexprs.emplace_back(parameter.name, std::to_string(value / 2));
      out.push_back(std::move(changed));
    }
  }
  return out;
}

bool Linter::lint(const CompileOptions &options, bool stridesKnown,
                  frontend::DiagnosticEngine &diagnostics) {
  if (!impl->program)
    return false;
  auto remarks = impl->remarksOf(options, stridesKnown, diagnostics);
  if (!remarks)
    return false;
  // A mask that this value of a constexpr alone decides has its use for others.
  auto isOfMask = [](const Finding &remark) {
    return llvm::StringRef(remark.message).starts_with("the mask is ");
  };
  if (llvm::any_of(*remarks, isOfMask))
    for (const CompileOptions &changed : impl->variationsOf(options)) {
      frontend::DiagnosticEngine ignored;
      if (auto others = impl->remarksOf(changed, stridesKnown, ignored))
        llvm::erase_if(*remarks, [&](const Finding &remark) {
          return isOfMask(remark) && !llvm::is_contained(*others, remark);
        });
    }
  // What is unrolled, or expanded twice, is one place of the file.
  for (size_t i = remarks->size(); i-- > 1;)
    if (llvm::is_contained(llvm::ArrayRef(*remarks).take_front(i), (*remarks)[i]))
      remarks->erase(remarks->begin() + ptrdiff_t(i));
  for (Finding &remark : *remarks)
    diagnostics.warning(&impl->file, remark.range, std::move(remark.message));
  return true;
}

//===----------------------------------------------------------------------===//
// Guessing
//===----------------------------------------------------------------------===//

/// Whether something in the text of a kernel is an access to `name`, or to what is added to it.
static bool isAddress(llvm::StringRef name, llvm::StringRef body) {
  if (body.contains(formatted(" = {} + ", name)) || body.contains("base=" + name.str()))
    return true;
  // `load(x`, `atomic_add(x`, `(x + offsets`
  for (size_t at = body.find(name); at != llvm::StringRef::npos; at = body.find(name, at + 1)) {
    llvm::StringRef before = body.take_front(at), behind = body.drop_front(at + name.size());
    if (!before.consume_back("(") || behind.empty() || llvm::isAlnum(behind[0]) || behind[0] == '_')
      continue;
    bool isAccessed = before.ends_with("load") || before.ends_with("store") ||
                      before.ends_with("make_block_ptr") ||
                      before.rsplit('.').second.starts_with("atomic_");
    if (behind.starts_with(" + ") || isAccessed)
      return true;
  }
  return false;
}

/// Pointers are to `element`.
static std::string guessedType(llvm::StringRef name, llvm::StringRef body,
                               llvm::StringRef element) {
  std::string pointer = formatted("*{}:16", element);
  std::string lower = name.lower();
  llvm::StringRef text = lower;
  if (text.contains("ptr") || text.contains("pointer"))
    return pointer;
  if (text.contains("stride") || text.starts_with("n_") || text.starts_with("num") ||
      text.contains("size") || text.contains("len") || text.contains("row") || text.contains("col"))
    return "i32";
  if (text.contains("eps") || text.contains("scale") || text.contains("alpha") ||
      text.contains("beta") || text == "p" || text == "lr")
    return "fp32";
  return isAddress(name, body) ? pointer : "i32";
}

/// The names that are called, or passed on, in the text of another kernel than their
/// own: what others call is looked at where it is expanded.
static llvm::StringSet<>
calledNames(llvm::StringRef text, llvm::ArrayRef<std::shared_ptr<eval::FunctionObject>> kernels) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || (c & 0x80); };
  llvm::StringSet<> called;
  for (const auto &kernel : kernels) {
    llvm::StringRef body = text.slice(kernel->range().begin, kernel->def->range.end);
    while (!(body = body.drop_until(isWord)).empty()) {
      llvm::StringRef word = body.take_while(isWord);
      body = body.drop_front(word.size());
      if (word != kernel->name() && (body.starts_with("(") || body.starts_with(")")))
        called.insert(word);
    }
  }
  return called;
}

static GuessedTypes guessTypes(const eval::FunctionObject &kernel, eval::ModuleEnv &module) {
  GuessedTypes types;
  types.kernel = kernel.name();
  types.annotated = true;
  llvm::StringRef body =
      module.source().text().slice(kernel.def->range.begin, kernel.def->range.end);
  static constexpr llvm::StringLiteral elements[] = {"fp32", "i32"};
  types.signatures.resize(std::size(elements));
  for (const ast::Parameter &parameter : kernel.params()) {
    if (eval::isConstexprAnnotation(parameter.annotation.get(), &module)) {
      if (!parameter.defaultValue)
        types.constexprs.emplace_back(parameter.name, "64");
      continue;
    }
    types.annotated &= parameter.annotation != nullptr;
    for (auto [signature, element] : llvm::zip_equal(types.signatures, elements))
      signature += (signature.empty() ? "" : ", ") + guessedType(parameter.name, body, element);
  }
  return types;
}

std::vector<GuessedTypes> Linter::kernels() {
  std::vector<GuessedTypes> result;
  if (!impl->program)
    return result;
  const auto &kernels = impl->program->kernels();
  llvm::StringSet<> called = calledNames(impl->file.text(), kernels);
  for (const auto &kernel : kernels)
    if (!called.contains(kernel->name()))
      result.push_back(guessTypes(*kernel, impl->program->environment()));
  return result;
}
