//===- main.cpp - tile-reduce: makes a module that fails small -------------===//
//
// Given a module and a command that says whether a module still fails, takes operations away,
// or makes them simpler, as long as it does: halves of all operations, quarters, and so on
// down to single ones, until nothing more can go. Only modules that verify are tried.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "text/Format.h"
#include "tools/Dialects.h"
#include "tools/tile-reduce/Reductions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using tile::formatted;

static llvm::cl::OptionCategory category("Options");
static llvm::cl::opt<std::string> inputFile(llvm::cl::Positional, llvm::cl::desc("FILE"),
                                            llvm::cl::Required, llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    test("test", llvm::cl::value_desc("PROGRAM"), llvm::cl::Required, llvm::cl::cat(category),
         llvm::cl::desc("run with the name of a file; exits 0 if that module still fails"));
static llvm::cl::opt<std::string> outputFile("o", llvm::cl::value_desc("FILE"), llvm::cl::init("-"),
                                             llvm::cl::cat(category),
                                             llvm::cl::desc("where the small module goes"));

namespace {
/// Knows what must not be touched any more.
struct Erased : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { all.insert(op); }
  llvm::DenseSet<Operation *> all;
};

class Reducer {
public:
  Reducer(std::string program, std::string file)
      : program(std::move(program)), file(std::move(file)) {}

  /// Whether `module` still fails; an error if the program cannot be run.
  llvm::Expected<bool> fails(ModuleOp module);
  /// Makes `module` as small as it gets.
  llvm::Error run(OwningOpRef<ModuleOp> &module);
  unsigned tried = 0;

private:
  llvm::Expected<bool> pass(OwningOpRef<ModuleOp> &module, size_t size, tile::Reduction how);

  std::string program, file;
};
} // namespace

/// Operations that can go, users behind what they use.
static SmallVector<Operation *> candidates(ModuleOp module) {
  SmallVector<Operation *> all;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (tile::canGo(op))
      all.push_back(op);
  });
  return all;
}

llvm::Expected<bool> Reducer::fails(ModuleOp module) {
  ++tried;
  std::error_code failed;
  llvm::raw_fd_ostream os(file, failed);
  if (failed)
    return llvm::createStringError(failed, formatted("cannot write `{}`", file));
  os << module;
  os.close();
  std::string error;
  int code =
      llvm::sys::ExecuteAndWait(program, {program, file}, std::nullopt,
                                {std::nullopt, llvm::StringRef(), llvm::StringRef()}, 0, 0, &error);
  if (code < 0)
    return llvm::createStringError(formatted("cannot run `{}`: {}", program, error));
  return code == 0;
}

/// Tries all runs of `size` operations, the last first; true if any of them could go.
llvm::Expected<bool> Reducer::pass(OwningOpRef<ModuleOp> &module, size_t size,
                                   tile::Reduction how) {
  bool any = false;
  for (size_t end = candidates(*module).size(); end > 0; end -= std::min(size, end)) {
    OwningOpRef<ModuleOp> copy(module->clone());
    SmallVector<Operation *> all = candidates(*copy);
    end = std::min(end, all.size());
    Erased erased;
    IRRewriter rewriter(copy->getContext(), &erased);
    bool changed = false;
    for (size_t i = end; i > end - std::min(size, end); --i)
      if (!erased.all.contains(all[i - 1]))
        changed |= tile::reduce(all[i - 1], how, rewriter);
    ScopedDiagnosticHandler quiet(copy->getContext(), [](Diagnostic &) { return success(); });
    if (!changed || failed(verify(*copy)))
      continue;
    llvm::Expected<bool> still = fails(*copy);
    if (!still)
      return still;
    if (*still) {
      module = std::move(copy);
      any = true;
    }
  }
  return any;
}

llvm::Error Reducer::run(OwningOpRef<ModuleOp> &module) {
  size_t size = candidates(*module).size();
  while (size) {
    bool any = false;
    for (tile::Reduction how : {tile::Reduction::Remove, tile::Reduction::Flatten}) {
      llvm::Expected<bool> done = pass(module, size, how);
      if (!done)
        return done.takeError();
      any |= *done;
    }
    size = std::min(size, candidates(*module).size());
    if (!any || size > 1)
      size /= 2;
  }
  return llvm::Error::success();
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << formatted("tile-reduce: error: {}\n", message);
  return 1;
}

int main(int argc, char **argv) {
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "tile-reduce: makes a module that fails small\n");
  DialectRegistry registry;
  tile::registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return 1;
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("tile-reduce", "mlir", path))
    return fail("cannot make a temporary file");
  llvm::FileRemover remover(path);
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(test);
  Reducer reducer(program ? *program : test, path.str().str());
  llvm::Expected<bool> still = reducer.fails(*module);
  if (!still)
    return fail(llvm::toString(still.takeError()));
  if (!*still)
    return fail(formatted("`{}` exits with 0 where a module fails, and does not for `{}`", test,
                          inputFile));
  size_t before = candidates(*module).size();
  if (llvm::Error error = reducer.run(module))
    return fail(llvm::toString(std::move(error)));
  std::error_code failed;
  llvm::raw_fd_ostream os(outputFile, failed);
  if (failed)
    return fail(formatted("cannot write `{}`: {}", outputFile, failed.message()));
  os << *module;
  llvm::errs() << formatted("tile-reduce: {} operations became {}, by {} trials\n", before,
                            candidates(*module).size(), reducer.tried);
  return 0;
}
