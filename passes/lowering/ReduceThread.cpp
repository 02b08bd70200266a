//===- ReduceThread.cpp - the part of a reduction that a thread does alone ===//
//
// Registers along the axis are combined in several independent chains for each result. What the
// chains of all results take is in the order of the operand's registers: a block that is loaded
// for its sums alone need not be there as a whole. Only then are chains merged: an assembler that
// is given the merged sum of the first results before it has seen the chains of the others loads
// everything for it first.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/lowering/core/Coordinates.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;

void ReduceLowering::groupRegisters() {
  llvm::DenseMap<uint64_t, SmallVector<unsigned, 1>> byKey;
  SmallVector<SmallVector<std::pair<int32_t, unsigned>>> members;
  for (int32_t r = 0; r < layout.inSize(Dim::reg()); ++r) {
    SmallVector<int32_t> key = registerCoordinates(layout, r);
    int32_t position = key[axis];
    key.erase(key.begin() + axis);
    auto &candidates = byKey[uint64_t(llvm::hash_combine_range(key.begin(), key.end()))];
    auto same = llvm::find_if(candidates, [&](unsigned g) { return keys[g] == key; });
    unsigned g;
    if (same != candidates.end()) {
      g = *same;
    } else {
      g = keys.size();
      candidates.push_back(g);
      keys.push_back(key);
      members.emplace_back();
    }
    // A register that repeats a position holds a copy.
    if (llvm::none_of(members[g], [&](auto &m) { return m.first == position; }))
      members[g].push_back({position, unsigned(r)});
  }
  for (auto &m : members) {
    llvm::sort(m);
    groups.emplace_back();
    for (auto &[position, r] : m)
      groups.back().push_back(r);
  }
}

FailureOr<Registers> ReduceLowering::tree(SmallVector<Registers> level) {
  while (level.size() > 1) {
    SmallVector<Registers> next;
    for (unsigned i = 0; i + 1 < level.size(); i += 2) {
      FailureOr<Registers> c = combine(level[i], level[i + 1]);
      if (failed(c))
        return failure();
      next.push_back(std::move(*c));
    }
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

LogicalResult ReduceLowering::chains(MutableArrayRef<SmallVector<Registers>> sums) {
  unsigned count = tuningOf(op).sumsOfThread;
  struct Step {
    unsigned ready, sum, element; // `ready`: the last of the operand's registers that it needs
  };
  SmallVector<Step> steps;
  for (auto [s, registers] : llvm::enumerate(groups)) {
    unsigned ready = 0;
    for (auto [i, r] : llvm::enumerate(registers)) {
      ready = std::max(ready, r);
      if (i >= count)
        steps.push_back({ready, unsigned(s), unsigned(i)});
    }
  }
  llvm::sort(steps, [](const Step &x, const Step &y) {
    return std::tie(x.ready, x.sum, x.element) < std::tie(y.ready, y.sum, y.element);
  });
  for (auto [ready, s, i] : steps) {
    Registers &sum = sums[s][i % count];
    FailureOr<Registers> c = combine(sum, sums[s][i]);
    if (failed(c))
      return failure();
    sum = std::move(*c);
  }
  for (SmallVector<Registers> &leaves : sums)
    leaves.resize(std::min<size_t>(leaves.size(), count));
  return success();
}

LogicalResult ReduceLowering::withinThread() {
  SmallVector<SmallVector<Registers>> sums;
  for (auto &group : groups)
    for (unsigned repeat = 0; repeat < repeats; ++repeat) {
      size_t segment = group.size() / repeats;
      SmallVector<Registers> &leaves = sums.emplace_back();
      for (unsigned r : ArrayRef(group).slice(repeat * segment, segment)) {
        Registers leaf;
        for (Value src : op.getSrcs())
          leaf.push_back(core.get(src)[r]);
        leaves.push_back(std::move(leaf));
      }
    }
  if (!isOrdered && failed(chains(sums)))
    return failure();
  for (SmallVector<Registers> &leaves : sums) {
    FailureOr<Registers> sum = tree(std::move(leaves));
    if (failed(sum))
      return failure();
    acc.push_back(std::move(*sum));
  }
  return success();
}
