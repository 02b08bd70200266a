//===- SourceErrors.cpp ---------------------------------------------------===//
#include "compiler/SourceErrors.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "text/Format.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instruction.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tile;

static constexpr size_t kMaxCallers = 4;

/// A place in some file of the program.
struct SourceErrors::Place {
  std::string file;
  unsigned line, column;
};

/// The place of a location, then those of the calls that led there.
void SourceErrors::collect(Location loc, SmallVectorImpl<Place> &places) {
  if (auto at = dyn_cast<FileLineColLoc>(loc)) {
    places.push_back({at.getFilename().str(), at.getLine(), at.getColumn()});
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collect(call.getCallee(), places);
    collect(call.getCaller(), places);
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    collect(named.getChildLoc(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    collect(fused.getLocations().front(), places);
  }
}

/// The file of that name: the one that is compiled, or one that it imports
/// (null if that is gone since).
const frontend::SourceFile *SourceErrors::fileNamed(const std::string &name) {
  if (name == file.name())
    return &file;
  std::shared_ptr<frontend::SourceFile> &other = others[name];
  if (!other) {
    std::string error;
    other = frontend::SourceFile::open(name, error);
    diagnostics.retain(other);
  }
  return other.get();
}

frontend::Diagnostic SourceErrors::diagnosticAt(const Place &place, std::string message) {
  frontend::Diagnostic diagnostic;
  diagnostic.file = fileNamed(place.file);
  if (!diagnostic.file) {
    diagnostic.message = formatted("{}:{}: {}", place.file, place.line, message);
    return diagnostic;
  }
  uint32_t begin = diagnostic.file->offsetOf(place.line, place.column);
  diagnostic.range = {begin, begin + 1};
  diagnostic.message = std::move(message);
  return diagnostic;
}

/// An error at the first place; the others are the calls around it.
frontend::Diagnostic &SourceErrors::errorAt(ArrayRef<Place> places, std::string message) {
  if (places.empty())
    return diagnostics.error(&file, {}, std::move(message));
  frontend::Diagnostic at = diagnosticAt(places.front(), std::move(message));
  frontend::Diagnostic &error = diagnostics.error(at.file, at.range, std::move(at.message));
  for (const Place &caller : places.drop_front().take_back(kMaxCallers)) {
    error.notes.push_back(diagnosticAt(caller, "called here"));
    error.notes.back().severity = frontend::Severity::Note;
  }
  return error;
}

frontend::Diagnostic &SourceErrors::at(Location loc, std::string message) {
  SmallVector<Place> places;
  collect(loc, places);
  return errorAt(places, std::move(message));
}

void SourceErrors::listenTo(llvm::LLVMContext &context) {
  context.setDiagnosticHandlerCallBack(&SourceErrors::receive, this, /*RespectFilters=*/true);
}

/// As of inline PTX whose operands do not suit its constraints.
void SourceErrors::receive(const llvm::DiagnosticInfo *info, void *errors) {
  auto &self = *static_cast<SourceErrors *>(errors);
  if (info->getSeverity() != llvm::DS_Error)
    return;
  std::string message;
  llvm::raw_string_ostream os(message);
  llvm::DiagnosticPrinterRawOStream printer(os);
  info->print(printer);
  SmallVector<Place> places;
  if (auto *text = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(info)) {
    message = formatted("inline PTX: {}", message);
    const llvm::Instruction *call = text->getInstruction();
    const llvm::DILocation *at = call ? call->getDebugLoc().get() : nullptr;
    for (; at; at = at->getInlinedAt()) {
      llvm::SmallString<256> path(at->getDirectory());
      llvm::sys::path::append(path, at->getFilename());
      places.push_back({std::string(path), at->getLine(), at->getColumn()});
    }
  }
  self.errorAt(places, std::move(message));
}

SharedPlaces::SharedPlaces(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    DenseMap<Location, Operation *> firsts;
    function.walk([&](Operation *op) {
      if (!isa<CallSiteLoc>(op->getLoc()))
        return;
      auto [first, isNew] = firsts.try_emplace(op->getLoc(), op);
      if (isNew)
        return;
      others.push_back({op, first->second});
      op->setLoc(function.getLoc());
    });
  }
}

SharedPlaces::~SharedPlaces() {
  for (auto [op, first] : others)
    op->setLoc(first->getLoc());
}
