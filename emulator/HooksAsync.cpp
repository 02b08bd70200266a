#include "emulator/Async.h"
#include "emulator/Hooks.h"
#include <chrono>
using namespace tile::emu;
void tile::emu::checkAsyncAtExit(Thread &) {}
extern "C" uint64_t tileEmuClock(Thread *) {
  return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
}
extern "C" uint32_t tileEmuPin(Thread *, uint32_t v, uint32_t) { return v; }
llvm::ArrayRef<Hook> tile::emu::asyncHooks() {
  static const Hook h[] = {TILE_HOOK(tileEmuClock), TILE_HOOK(tileEmuPin)};
  return h;
}
llvm::ArrayRef<Hook> tile::emu::matrixHooks() { return {}; }
llvm::ArrayRef<Hook> tile::emu::wgmmaHooks() { return {}; }
llvm::ArrayRef<Hook> tile::emu::tensorCopyHooks() { return {}; }
