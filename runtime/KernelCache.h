//===- KernelCache.h - compiled kernels in memory --------------------------===//
//
// The one memory of every path that compiles: for launches on a GPU, for the
// interpreter, for the emulator. An entry is given out only while all that it was
// compiled from is as it was (DependencyCheck.h), and what has not been used for
// longest goes when entries together are larger than the limit, but never one that
// somebody still holds.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_KERNELCACHE_H
#define TILE_RUNTIME_KERNELCACHE_H

#include "runtime/DependencyCheck.h"
#include "llvm/ADT/StringMap.h"
#include <list>
#include <memory>

namespace tile::runtime {

template <typename Value> class KernelCache {
public:
  using Pointer = std::shared_ptr<Value>;
  /// Whether a value is in use in a way that its count of owners does not show.
  using InUse = bool (*)(const Value &);

  explicit KernelCache(
      uint64_t limit, InUse inUse = [](const Value &) { return false; })
      : limit(limit), inUse(inUse) {}

  /// The value, if there is one that holds.
  Pointer find(llvm::StringRef key);
  /// The value that was inserted last, whether it holds or not.
  Pointer peek(llvm::StringRef key) const;
  /// Keeps a value, in place of the one before, and makes room for it.
  void insert(llvm::StringRef key, Pointer value, std::vector<frontend::Dependency> dependencies,
              uint64_t bytes);
  /// Of all entries.
  uint64_t bytes() const {
    std::lock_guard<std::mutex> lock(mutex);
    return total;
  }

private:
  struct Entry {
    std::string key;
    Pointer value;
    std::shared_ptr<const DependencyCheck> check;
    uint64_t bytes;
  };
  using Position = typename std::list<Entry>::iterator;
  Position erase(Position entry) {
    total -= entry->bytes;
    byKey.erase(entry->key);
    return order.erase(entry);
  }
  void makeRoom();

  const uint64_t limit;
  const InUse inUse;
  mutable std::mutex mutex; ///< of everything below
  std::list<Entry> order;   ///< the last used comes first
  llvm::StringMap<Position> byKey;
  uint64_t total = 0;
};

template <typename Value>
typename KernelCache<Value>::Pointer KernelCache<Value>::find(llvm::StringRef key) {
  Pointer value;
  std::shared_ptr<const DependencyCheck> check;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = byKey.find(key);
    if (known == byKey.end())
      return nullptr;
    order.splice(order.begin(), order, known->second);
    value = known->second->value;
    check = known->second->check;
  }
  if (check->holds()) // reads files: not under the lock
    return value;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto known = byKey.find(key); known != byKey.end() && known->second->value == value)
    erase(known->second);
  return nullptr;
}

template <typename Value>
typename KernelCache<Value>::Pointer KernelCache<Value>::peek(llvm::StringRef key) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto known = byKey.find(key);
  return known == byKey.end() ? nullptr : known->second->value;
}

template <typename Value>
void KernelCache<Value>::insert(llvm::StringRef key, Pointer value,
                                std::vector<frontend::Dependency> dependencies, uint64_t bytes) {
  auto check = std::make_shared<const DependencyCheck>(std::move(dependencies));
  std::lock_guard<std::mutex> lock(mutex);
  if (auto known = byKey.find(key); known != byKey.end())
    erase(known->second);
  order.push_front({key.str(), std::move(value), std::move(check), bytes});
  byKey[key] = order.begin();
  total += bytes;
  makeRoom();
}

template <typename Value> void KernelCache<Value>::makeRoom() {
  for (Position entry = order.end(); total > limit && entry != order.begin();) {
    --entry;
    bool isNewest = entry == order.begin();
    if (!isNewest && entry->value.use_count() == 1 && !inUse(*entry->value))
      entry = erase(entry);
  }
}

} // namespace tile::runtime

#endif // TILE_RUNTIME_KERNELCACHE_H
