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
  unsigned residentBlocks = 0, multiprocessors = 1; ///< of code that is persistent or has `alone`
  bool dependent = false;
  const Loaded *withoutMaps = nullptr; ///< of `code->without_maps`
  const Loaded *alone = nullptr;       ///< of `code->alone`
};

struct State {
  dispatch::WordTable<const Loaded *> table; ///< by context and key
  dispatch::WordTable<uint32_t> chosen;      ///< configurations, by context and what selects them
  /// By context: the choices that count on its device.
  dispatch::WordTable<std::vector<const tile_rt_choice *>> choices;
  std::mutex mutex; ///< of insertions
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

/// The word of a variant's key that is the number of its configuration.
inline uint64_t configurationIn(const tile_rt_kernel &kernel, const tile_rt_variant &variant) {
  return variant.words[variant.size - 1 - kernel.num_heuristics];
}
/// A kernel's state, made by whoever asks first.
State &stateOf(tile_rt_kernel *kernel);
/// Loads a variant for the current device, unless that has been done; the key begins with the
/// context's id.
Failure loadVariant(tile_rt_kernel *kernel, const Driver &driver, const tile_rt_variant &variant,
                    const dispatch::Key &key, const Loaded *&out);
/// A code with those that stand in for it, on the current context.
Failure loadCode(const Driver &driver, const tile_rt_code &code, const Loaded *&out);
/// The variant's code for a device; null if none can run there.
const tile_rt_code *chooseCode(const tile_rt_variant &variant, int capability);
/// The function's plan for a device; null if none can run there.
const tile_rt_plan *choosePlan(const tile_rt_function &function, int capability);
/// Of the current device: 90 for 9.0.
Failure capabilityOf(const Driver &driver, Device &device, int &capability);
/// That nothing built of this name runs on such a device.
Failure notForDevice(const char *name, int capability);
/// The configuration that launches on the context with this id take. `words` begin with what
/// readValues appended.
Failure chooseConfiguration(tile_rt_kernel *kernel, const Driver &driver,
                            unsigned long long context, const tile_value *values,
                            const uint64_t *words, uint32_t &out);
/// Whether any launch on that context can take it.
Failure canBeChosen(tile_rt_kernel *kernel, const Driver &driver, unsigned long long context,
                    uint64_t number, bool &out);
const dispatch::Parameter *parametersOf(const tile_rt_kernel &kernel);
/// A kernel that can never run is a failure.
Failure checkResidency(const Driver &driver, const Loaded &loaded);
/// Why the driver has refused a launch; whether a block can run at all was not asked before.
Failure cannotLaunch(const Driver &driver, const Loaded &loaded, Result result);
LaunchAttribute clusterOf(const tile_rt_code &code);
int clusterSize(const tile_rt_code &code);

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_LOADED_H
