//===- HooksPrint.cpp - what a kernel says, and how it gives up ---------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Numbers.h"
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace tile::emu;
using tile::formatted;

extern "C" {

// HooksMemory.cpp
void *tileEmuGeneric(Thread *t, uint64_t address, uint32_t bytes, uint32_t access, uint32_t site);

/// `vprintf` of the device: the format is a null-terminated string, the
/// arguments a packed buffer, each aligned to its size.
int32_t tileEmuPrintf(Thread *t, uint64_t formatAddress, uint64_t arguments, uint32_t site) {
  std::optional<std::string> format = readString(*t, formatAddress, site);
  if (!format)
    return 0;
  std::string text;
  uint64_t at = 0;
  auto take = [&](uint32_t bytes) {
    at = (at + bytes - 1) & ~uint64_t(bytes - 1);
    uint64_t v = 0;
    std::memcpy(&v, tileEmuGeneric(t, arguments + at, bytes, kRead, site), bytes);
    at += bytes;
    return v;
  };
  for (const char *p = format->c_str(); *p; ++p) {
    if (*p != '%' || p[1] == '%') {
      text += *p;
      p += *p == '%';
      continue;
    }
    std::string spec = "%";
    unsigned longs = 0;
    for (++p; *p && std::strchr("0123456789.+- #lh", *p); ++p) {
      longs += *p == 'l';
      if (*p != 'l' && *p != 'h')
        spec += *p;
    }
    char buffer[128];
    if (!*p || !std::strchr("diouxXeEfgGaAcsp", *p)) {
      report(*t, FindingKind::BadOperand, site,
             "`vprintf` with a conversion that is none of printf's for values");
      abandon(*t);
    }
    if (std::strchr("eEfgGaA", *p)) {
      snprintf(buffer, sizeof(buffer), (spec + *p).c_str(), llvm::bit_cast<double>(take(8)));
    } else if (*p == 's') {
      std::optional<std::string> argument = readString(*t, take(8), site);
      snprintf(buffer, sizeof(buffer), (spec + *p).c_str(), argument.value_or("").c_str());
    } else if (*p == 'p' || longs) {
      snprintf(buffer, sizeof(buffer), (spec + "ll" + (*p == 'p' ? 'x' : *p)).c_str(),
               static_cast<long long>(take(8)));
    } else {
      snprintf(buffer, sizeof(buffer), (spec + *p).c_str(), int(take(4)));
    }
    text += buffer;
  }
  Launch &launch = *t->cluster->launch;
  std::lock_guard lock(launch.printMutex);
  (launch.options.printTo ? *launch.options.printTo : llvm::outs()) << text;
  return 0;
}

void tileEmuAssert(Thread *t, uint64_t message, uint64_t file, uint32_t line, uint64_t function,
                   uint64_t size, uint32_t site) {
  std::optional<std::string> what = readString(*t, message, site),
                             where = readString(*t, file, site);
  if (what && where)
    report(*t, FindingKind::AssertFailed, 0,
           formatted("assertion failed at {}:{}: {}", *where, line, *what));
  abandon(*t);
}

void tileEmuTrap(Thread *t, uint32_t site) {
  report(*t, FindingKind::Trap, site, "the kernel trapped");
  abandon(*t);
}
}

llvm::ArrayRef<Hook> tile::emu::printHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuPrintf), TILE_HOOK(tileEmuAssert),
                               TILE_HOOK(tileEmuTrap)};
  return hooks;
}
