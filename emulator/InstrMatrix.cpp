#include "emulator/AsmBuilder.h"
using namespace tile::emu;
llvm::ArrayRef<HandlerEntry> tile::emu::matrixHandlers() { return {}; }
