//===- MachineCode.cpp - PTX to machine code, by a toolkit's assembler ----===//
#include "runtime/MachineCode.h"
#include "runtime/Error.h"
#include "runtime/dispatch/AssemblerPlan.h"
#include "text/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::runtime;
using tile::formatted;
namespace fs = llvm::sys::fs;

/// An empty file of our own; the caller removes it.
static llvm::Error makeFile(llvm::StringRef ending, llvm::SmallString<128> &path,
                            llvm::StringRef contents = "") {
  int fd = -1;
  std::error_code code = fs::createTemporaryFile("tile", ending, fd, path);
  if (!code) {
    llvm::raw_fd_ostream out(fd, /*shouldClose=*/true);
    out << contents;
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (!code)
    return llvm::Error::success();
  return makeError(ErrorCode::Io, formatted("cannot write a temporary file: {}", code.message()));
}

static std::string contentsOf(const llvm::SmallString<128> &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNull=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

int tile::runtime::stackFrameBytes(llvm::StringRef log) {
  int most = 0;
  for (llvm::StringRef rest = log; !rest.empty();) {
    auto [before, after] = rest.split(" bytes stack frame");
    int bytes = 0;
    if (before.size() < rest.size() &&
        !before.take_back(9).rsplit(' ').second.getAsInteger(10, bytes))
      most = std::max(most, bytes);
    rest = after;
  }
  return most;
}

/// One run at `level`, over files of our own.
static llvm::Expected<MachineCode> runAssembler(llvm::StringRef program, llvm::StringRef input,
                                                llvm::StringRef target, bool lineInfo, int level) {
  llvm::SmallString<128> output, log;
  if (llvm::Error error = makeFile("cubin", output))
    return std::move(error);
  llvm::FileRemover removeOutput(output);
  if (llvm::Error error = makeFile("log", log))
    return std::move(error);
  llvm::FileRemover removeLog(log);

  std::string arch = ("-arch=" + target).str(), effort = formatted("-O{}", level);
  llvm::SmallVector<llvm::StringRef> arguments = {program, "-v", arch, effort, input, "-o", output};
  if (lineInfo)
    arguments.push_back("-lineinfo");
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(log),
                                                llvm::StringRef(log)};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                         /*SecondsToWait=*/600, /*MemoryLimit=*/0, &problem);
  MachineCode code = {contentsOf(output), contentsOf(log)};
  if (status == 0 && !code.cubin.empty())
    return code;
  std::string said = problem.empty() ? llvm::StringRef(code.log).rtrim().str() : problem;
  constexpr int kEndedBySignal = -2;
  if (status == kEndedBySignal)
    said += ", which is a fault of the assembler: assemble with one of another version, or change "
            "what it is given (smaller blocks, another number of warps)";
  return makeError(ErrorCode::PtxRejected, formatted("`{}` fails for {}: {}", program, target,
                                                     said.empty() ? "it says nothing" : said));
}

llvm::Expected<MachineCode> tile::runtime::assembleWith(llvm::StringRef assembler,
                                                        llvm::StringRef ptx, llvm::StringRef target,
                                                        bool lineInfo) {
  auto program = assembler.contains('/') ? llvm::ErrorOr<std::string>(assembler.str())
                                         : llvm::sys::findProgramByName(assembler);
  if (!program)
    return makeError(ErrorCode::Io, formatted("the assembler `{}` is not on PATH", assembler));
  dispatch::AssemblerPlan plan(ptx);
  MachineCode best;
  while (plan.next()) {
    llvm::SmallString<128> input;
    if (llvm::Error error = makeFile("ptx", input, plan.text()))
      return std::move(error);
    llvm::FileRemover removeInput(input);
    auto code = runAssembler(*program, input, target, lineInfo, plan.level());
    if (!code) {
      if (best.cubin.empty())
        return code;
      llvm::consumeError(code.takeError()); // an earlier attempt has done it
      break;
    }
    if (plan.keeps(stackFrameBytes(code->log)))
      best = std::move(*code);
  }
  return best;
}
