//===- WarpRoles.cpp - how warp roles are spelled -------------------------===//
#include "target/WarpRoles.h"
#include "text/Format.h"
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

std::string tile::insteadOfWarps(int64_t warps) {
  constexpr int64_t kOfWarpgroup = 4, kRows = 64;
  int64_t groups = warps / kOfWarpgroup;
  if (warps % kOfWarpgroup != 0 || warps > 32 || groups < 3 || (groups & (groups - 1)) == 0)
    return {};
  return formatted(
      "; {} warpgroups that share what they copy are programs of {} warps, with {} rows "
      "each in place of {}: num_warps={}, and warp_roles=\"shared\" where they do not "
      "do so anyway",
      groups, kOfWarpgroup, kRows, groups * kRows, kOfWarpgroup);
}
