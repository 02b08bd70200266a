//===- EmuCounters.cpp - what emulated kernels did, as text and JSON ------===//
#include "runtime/devices/EmuDevice.h"
#include "llvm/Support/JSON.h"

using namespace tile;
using namespace tile::runtime;

void EmuDevice::printCounters(llvm::raw_ostream &os) const {
  for (auto &[kernel, of] : counters()) {
    os << kernel << ": " << of.launches << (of.launches == 1 ? " launch\n" : " launches\n");
    of.counters.print(os);
  }
}

std::string EmuDevice::countersJson() const {
  emu::Counters sum;
  llvm::json::Object kernels;
  for (auto &[kernel, of] : counters()) {
    sum.add(of.counters);
    llvm::json::Object object = of.counters.toJson();
    object["launches"] = int64_t(of.launches);
    kernels[kernel] = std::move(object);
  }
  llvm::json::Object all = sum.toJson();
  all["kernels"] = std::move(kernels);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(all));
  return text;
}
