//===- WarpRoles.cpp - how warp roles are spelled -------------------------===//
#include "target/WarpRoles.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;
using llvm::StringRef;

static constexpr std::pair<WarpRoles, llvm::StringLiteral> kWarpRoles[] = {
    {WarpRoles::Auto, "auto"},         {WarpRoles::Cooperative, "cooperative"},
    {WarpRoles::PingPong, "pingpong"}, {WarpRoles::None, "none"},
    {WarpRoles::Shared, "shared"},     {WarpRoles::Apart, "apart"}};

StringRef tile::nameOf(WarpRoles roles) {
  return llvm::find_if(kWarpRoles, [&](auto &entry) { return entry.first == roles; })->second;
}

bool tile::readWarpRoles(StringRef text, WarpRoles &roles) {
  const auto *entry = llvm::find_if(kWarpRoles, [&](auto &e) { return e.second == text; });
  if (entry == std::end(kWarpRoles))
    return false;
  roles = entry->first;
  return true;
}
