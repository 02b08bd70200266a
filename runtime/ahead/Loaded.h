//===- Loaded.h - built kernels on contexts --------------------------------===//
#ifndef TILE_RUNTIME_AHEAD_LOADED_H
#define TILE_RUNTIME_AHEAD_LOADED_H

#include "runtime/ahead/Driver.h"
#include "runtime/dispatch/Key.h"
#include "runtime/dispatch/WordTable.h"
#include "tile/rt.h"
#include <mutex>

namespace tile::ahead {

/// A code on one context.
struct Loaded {
  const tile_rt_code *code = nullptr;
  Function function = nullptr;
  unsigned residentBlocks = 0;
  bool dependent = false;
  const Loaded *withoutMaps = nullptr; ///< of `code->without_maps`
};

struct State {
  dispatch::WordTable<const Loaded *> table; ///< by context and key
  std::mutex mutex;                          ///< of insertions
};

/// Makes the context of a launch current, if none is.
class CurrentContext {
public:
  CurrentContext(const Driver &driver, Failure &failure);
  ~CurrentContext() {
    Context ignored = nullptr;
    if (pushed)
      (void)driver.cuCtxPopCurrent(&ignored);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;
  unsigned long long id = 0;

private:
  const Driver &driver;
  bool pushed = false;
};

/// A kernel's state, made by whoever asks first.
State &stateOf(tile_rt_kernel *kernel);
/// Loads a variant for the current device, unless that has been done; the key begins with the
/// context's id.
Failure loadVariant(tile_rt_kernel *kernel, const Driver &driver, const tile_rt_variant &variant,
                    const dispatch::Key &key, const Loaded *&out);
LaunchAttribute clusterOf(const tile_rt_code &code);
int clusterSize(const tile_rt_code &code);

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_LOADED_H
