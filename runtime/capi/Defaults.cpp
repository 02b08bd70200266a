//===- Defaults.cpp - tile.h: options of what needs the compiler ----------===//
//
// The functions that fill them in are wanted before the compiler is (CompilerLibrary.h).
//
//===----------------------------------------------------------------------===//
#include "runtime/LaunchLimit.h"
#include "runtime/capi/Internal.h"

TILE_DEFINE_OPTIONS_INIT(program, tile_program_options(), offsetof(tile_program_options, mode))

static tile_emulator_options defaultEmulatorOptions() {
  tile_emulator_options options = {};
  options.check = 1;
  options.seed = 1;
  options.launch_limit = tile::runtime::kLaunchLimit;
  return options;
}
TILE_DEFINE_OPTIONS_INIT(emulator, defaultEmulatorOptions(),
                         offsetof(tile_emulator_options, counters))
