//===- Assembler.cpp - from PTX to a cubin --------------------------------===//
#include "tools/tilec/Assembler.h"
#include "runtime/MachineCode.h"
#include "runtime/Module.h"
#include "target/Target.h"
#include "text/Format.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using llvm::StringRef;
using namespace tile::runtime;
using tile::formatted;

std::string tilec::findPtxas() {
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
  auto code = assembleWith(ptxas, ptx, target, /*lineInfo=*/false);
  if (!code) {
    error = takeError(code.takeError()).message;
    return false;
  }
  readRegisters(code->log, registers);
  if (remarks)
    *remarks = std::move(code->log);
  cubin = std::move(code->cubin);
  return true;
}
