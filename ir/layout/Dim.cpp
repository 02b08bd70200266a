//===- Dim.cpp - interned names of dimensions -----------------------------===//
#include "ir/layout/LinearLayout.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <mutex>

using namespace tile::layout;
using llvm::StringRef;

/// Names known from the start have fixed ids and need no lock.
static constexpr StringRef kKnownNames[] = {"register", "lane", "warp", "block", "offset",
                                            "dim0",     "dim1", "dim2", "dim3",  "dim4",
                                            "dim5",     "dim6", "dim7"};
static constexpr uint32_t kKnownCount = std::size(kKnownNames);
static constexpr uint32_t kFirstAxis = 5;

namespace {
struct NameTable {
  std::mutex lock;
  llvm::StringMap<uint32_t> ids;
  std::deque<std::string> names;
};
} // namespace

static NameTable &nameTable() {
  static NameTable table;
  return table;
}

Dim Dim::get(StringRef name) {
  for (uint32_t i = 0; i < kKnownCount; ++i)
    if (kKnownNames[i] == name)
      return Dim(i);
  NameTable &table = nameTable();
  std::lock_guard<std::mutex> guard(table.lock);
  auto [it, isNew] = table.ids.try_emplace(name, kKnownCount + table.names.size());
  if (isNew)
    table.names.push_back(name.str());
  return Dim(it->second);
}

Dim Dim::reg() { return Dim(0); }
Dim Dim::lane() { return Dim(1); }
Dim Dim::warp() { return Dim(2); }
Dim Dim::block() { return Dim(3); }
Dim Dim::offset() { return Dim(4); }
Dim Dim::dim(unsigned axis) {
  if (kFirstAxis + axis < kKnownCount)
    return Dim(kFirstAxis + axis);
  return get("dim" + std::to_string(axis));
}

StringRef Dim::name() const {
  if (id < kKnownCount)
    return kKnownNames[id];
  NameTable &table = nameTable();
  std::lock_guard<std::mutex> guard(table.lock);
  return table.names[id - kKnownCount];
}
