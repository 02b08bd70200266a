//===- MadeOnce.h - what belongs to an object that a program has linked ----===//
#ifndef TILE_RUNTIME_AHEAD_MADEONCE_H
#define TILE_RUNTIME_AHEAD_MADEONCE_H

namespace tile::ahead {

/// What `slot` points to, made by the first thread that asks. It is never freed: code that was
/// linked stays as long as the process.
template <typename T, typename Slot> T &madeOnce(Slot &slot) {
  auto **place = reinterpret_cast<T **>(&slot);
  if (T *made = __atomic_load_n(place, __ATOMIC_ACQUIRE))
    return *made;
  auto *fresh = new T, *none = static_cast<T *>(nullptr);
  if (__atomic_compare_exchange_n(place, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return *fresh;
  delete fresh; // another thread was first
  return *none;
}

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_MADEONCE_H
