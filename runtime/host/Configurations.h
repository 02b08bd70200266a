//===- Configurations.h - what `@triton.autotune` says --------------------===//
//
// The arguments of the decorator, and the configurations of its list as arguments of launches.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_CONFIGURATIONS_H
#define TILE_RUNTIME_HOST_CONFIGURATIONS_H

#include "runtime/host/Launcher.h"

namespace tile::host {

/// A configuration's constexprs and options as arguments of a launch.
CallArgs withConfig(const PyValue &config);
runtime::TuneConfig toTuneConfig(const PyValue &config);
/// The arguments of a launch under their names, with those of a configuration.
CallArgs byName(const eval::FunctionObject &kernel, const CallArgs &args, const PyValue &config);

/// The arguments of the decorator.
struct Launcher::Settings {
  CallArgs args;
  /// Null: not given, or None.
  const PyValue *find(llvm::StringRef name) const;
  /// Whether the author ranks configurations.
  bool hasModel() const;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_CONFIGURATIONS_H
