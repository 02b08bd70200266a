//===- WordTable.h - a hash table that is read without a lock -------------===//
//
// From a few words to a value. Readers take no lock and allocate nothing; writers take
// turns (the caller's mutex). Values are never moved or removed before the table goes, so
// a pointer that a reader has stays good; a table that has become too small is kept
// beside the new one, since readers may still walk it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DISPATCH_WORDTABLE_H
#define TILE_RUNTIME_DISPATCH_WORDTABLE_H

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tile::dispatch {

template <typename Value> class WordTable {
  struct Node {
    uint64_t hash;
    unsigned size;
    std::unique_ptr<uint64_t[]> words;
    Value value;
  };
  struct Slots {
    explicit Slots(size_t count) : mask(count - 1), nodes(new std::atomic<Node *>[count]) {
      for (size_t i = 0; i < count; ++i)
        nodes[i].store(nullptr, std::memory_order_relaxed);
    }
    size_t mask;
    std::unique_ptr<std::atomic<Node *>[]> nodes;
  };

public:
  WordTable() { grow(16); }
  WordTable(const WordTable &) = delete;
  WordTable &operator=(const WordTable &) = delete;

  /// Null if there is none. Any thread, at any time.
  Value *find(const uint64_t *words, unsigned size, uint64_t hash) const {
    const Slots &slots = *current.load(std::memory_order_acquire);
    for (size_t at = hash & slots.mask;; at = (at + 1) & slots.mask) {
      Node *node = slots.nodes[at].load(std::memory_order_acquire);
      if (!node)
        return nullptr;
      if (node->hash == hash && node->size == size &&
          !std::memcmp(node->words.get(), words, size * sizeof *words))
        return &node->value;
    }
  }

  /// The words must not be in the table. One thread at a time.
  Value *insert(const uint64_t *words, unsigned size, uint64_t hash, Value value) {
    if ((all.size() + 1) * 2 > current.load(std::memory_order_relaxed)->mask + 1)
      grow((current.load(std::memory_order_relaxed)->mask + 1) * 2);
    std::unique_ptr<uint64_t[]> copy(new uint64_t[size ? size : 1]);
    std::memcpy(copy.get(), words, size * sizeof *words);
    all.push_back(std::unique_ptr<Node>(new Node{hash, size, std::move(copy), std::move(value)}));
    place(*current.load(std::memory_order_relaxed), all.back().get());
    return &all.back()->value;
  }

  /// Not while somebody inserts.
  size_t size() const { return all.size(); }

private:
  static void place(Slots &slots, Node *node) {
    size_t at = node->hash & slots.mask;
    while (slots.nodes[at].load(std::memory_order_relaxed))
      at = (at + 1) & slots.mask;
    slots.nodes[at].store(node, std::memory_order_release);
  }
  void grow(size_t count) {
    tables.push_back(std::unique_ptr<Slots>(new Slots(count)));
    for (const std::unique_ptr<Node> &node : all)
      place(*tables.back(), node.get());
    current.store(tables.back().get(), std::memory_order_release);
  }

  std::atomic<Slots *> current{nullptr};
  std::vector<std::unique_ptr<Slots>> tables; ///< the last is in use
  std::vector<std::unique_ptr<Node>> all;
};

} // namespace tile::dispatch

#endif // TILE_RUNTIME_DISPATCH_WORDTABLE_H
