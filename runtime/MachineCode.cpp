//===- MachineCode.cpp - PTX to machine code, by a toolkit's assembler ----===//
#include "runtime/MachineCode.h"
#include "runtime/Error.h"
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

llvm::Expected<std::string> tile::runtime::assembleWith(llvm::StringRef assembler,
                                                        llvm::StringRef ptx,
                                                        llvm::StringRef target) {
  auto program = assembler.contains('/') ? llvm::ErrorOr<std::string>(assembler.str())
                                         : llvm::sys::findProgramByName(assembler);
  if (!program)
    return makeError(ErrorCode::Io, formatted("the assembler `{}` is not on PATH", assembler));
  llvm::SmallString<128> input, output, log;
  if (llvm::Error error = makeFile("ptx", input, ptx))
    return std::move(error);
  llvm::FileRemover removeInput(input);
  if (llvm::Error error = makeFile("cubin", output))
    return std::move(error);
  llvm::FileRemover removeOutput(output);
  if (llvm::Error error = makeFile("log", log))
    return std::move(error);
  llvm::FileRemover removeLog(log);

  std::string arch = ("-arch=" + target).str();
  llvm::SmallVector<llvm::StringRef> arguments = {*program, arch, "-lineinfo", input, "-o", output};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(log),
                                                llvm::StringRef(log)};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects,
                                         /*SecondsToWait=*/600, /*MemoryLimit=*/0, &problem);
  std::string cubin = contentsOf(output);
  if (status == 0 && !cubin.empty())
    return cubin;
  std::string said = problem.empty() ? llvm::StringRef(contentsOf(log)).rtrim().str() : problem;
  return makeError(ErrorCode::PtxRejected,
                   formatted("`{}` fails for {}: {}", *program, target, said));
}
