//===- Find.h - the variant that a launch takes -----------------------------===//
//
// The values of a launch make a key, in which the configuration is chosen; what is loaded for a
// key is kept, so that only the first launch of each looks through the variants.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_AHEAD_FIND_H
#define TILE_RUNTIME_AHEAD_FIND_H

#include "runtime/ahead/Loaded.h"
#include "runtime/dispatch/Formula.h"

namespace tile::ahead {

/// One launch.
struct Launch {
  tile_rt_kernel *kernel = nullptr; ///< null for one of a function
  const Driver *driver = nullptr;
  Stream stream = nullptr;
  uint32_t grid[3] = {};
  int32_t dependent = -1;
  const tile_value *values = nullptr;
  const tile_rt_configuration *configuration = nullptr;
  dispatch::Values passed;
};

dispatch::FormulaFailure run(const tile_rt_formula &formula, const tile_value *values,
                             int64_t *out);
/// What a variant is looked up by, behind the context's id; chooses the configuration.
Failure readKey(Launch &launch, unsigned long long context, dispatch::Key &key);
/// What is loaded for `own`, a key that readKey has made; loads it if nothing is.
Failure find(Launch &launch, unsigned long long context, const dispatch::Key &own,
             const Loaded *&out);

/// Launches `launch.grid` programs with what `launch.passed` points to; tensor maps are made of
/// `launch.values`.
Failure launchLoaded(Launch &launch, const Loaded &loaded);

/// The status, which this thread's last message is for.
tile_status finish(Failure failure);
/// Runs `body`, which returns a Failure. No exception leaves, not even for want of memory.
template <typename Body> tile_status guarded(Body body) noexcept {
  try {
    return finish(body());
  } catch (...) {
    return TILE_DRIVER_ERROR;
  }
}

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_FIND_H
