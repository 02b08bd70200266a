//===- Assembler.cpp - from PTX to a cubin --------------------------------===//
#include "tools/tilec/Assembler.h"
#include "runtime/Module.h"
#include "target/Target.h"
#include "text/Format.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;
using namespace tile::runtime;
using tile::formatted;
namespace fs = llvm::sys::fs;

static std::string findPtxas() {
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (auto found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return "";
}

/// From the remarks of ptxas or the driver.
static void readRegisters(StringRef log, int &registers) {
  llvm::SmallVector<StringRef> match;
  if (llvm::Regex("Used ([0-9]+) registers").match(log, &match))
    match[1].getAsInteger(10, registers);
}

static std::string readText(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// With the driver's own assembler, on the context of this machine's GPU.
static llvm::Error assembleWithDriver(StringRef ptx, StringRef target, std::string &cubin,
                                      int &registers, std::string *log) {
  auto api = tile::cuda::CudaApi::get();
  if (!api)
    return api.takeError();
  auto context = Context::currentOrPrimary(*api);
  if (!context)
    return context.takeError();
  const DeviceInfo &device = (*context)->device();
  if (auto mismatch = tile::targetMismatch(target, device.major * 10 + device.minor))
    return llvm::createStringError(*mismatch);
  auto assembled = assemble(**context, ptx);
  if (!assembled)
    return assembled.takeError();
  readRegisters(assembled->log, registers);
  if (log)
    *log = assembled->log;
  cubin = std::move(assembled->cubin);
  return llvm::Error::success();
}

bool tilec::assembleCubin(StringRef ptx, StringRef target, std::string &cubin, int &registers,
                          std::string &error, std::string *remarks) {
  std::string ptxas = findPtxas();
  if (ptxas.empty()) {
    llvm::Error failed = assembleWithDriver(ptx, target, cubin, registers, remarks);
    if (!failed)
      return true;
    error = formatted(
        "cannot make a cubin: `ptxas` of the CUDA toolkit is not on PATH, and the driver cannot do "
        "it: {}\n(`--emit ptx` needs neither, and the driver loads PTX as well)",
        llvm::toString(std::move(failed)));
    return false;
  }
  llvm::SmallString<128> directory;
  if (std::error_code code = fs::createUniqueDirectory("tilec", directory)) {
    error = formatted("cannot make a temporary folder (`TMPDIR` says where): {}", code.message());
    return false;
  }
  llvm::scope_exit cleanUp([&] { fs::remove_directories(directory); });
  std::string in = (directory + "/kernel.ptx").str(), out = (directory + "/kernel.cubin").str();
  std::string log = (directory + "/log").str();
  {
    std::error_code code;
    llvm::raw_fd_ostream os(in, code);
    os << ptx;
    os.close();
    if (code || os.has_error()) {
      error = formatted("cannot write `{}`: {}", in, (code ? code : os.error()).message());
      os.clear_error();
      return false;
    }
  }
  std::string arch = ("-arch=" + target).str();
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log), StringRef(log)};
  std::string launchError;
  int status = llvm::sys::ExecuteAndWait(ptxas, {ptxas, "-v", arch, in, "-o", out}, std::nullopt,
                                         redirects, 0, 0, &launchError);
  std::string text = readText(log) + launchError;
  if (status != 0) {
    error = formatted("`ptxas` does not accept the code: {}", StringRef(text).rtrim());
    return false;
  }
  readRegisters(text, registers);
  if (remarks)
    *remarks = text;
  cubin = readText(out);
  return true;
}
