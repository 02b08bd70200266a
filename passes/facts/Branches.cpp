//===- Branches.cpp - work of which a program does one or the other -------===//
#include "passes/facts/Branches.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;

bool tile::areInOtherBranches(Operation *first, Operation *second) {
  for (Region *region = first->getParentRegion(); region; region = region->getParentRegion()) {
    auto branch = dyn_cast_if_present<scf::IfOp>(region->getParentOp());
    if (!branch || !branch->isProperAncestor(second))
      continue;
    // The innermost that both stand in, or in a branch of it.
    return !region->findAncestorOpInRegion(*second) &&
           !branch->getParentOfType<LoopLikeOpInterface>();
  }
  return false;
}

/// The role that `op` is a part of; null: there are none.
static Region *roleOf(Operation *op) {
  auto roles = op->getParentOfType<cta::RolesOp>();
  if (!roles)
    return nullptr;
  for (Region &role : roles->getRegions())
    if (role.findAncestorOpInRegion(*op))
      return &role;
  return nullptr;
}

bool tile::areUsedInOtherBranches(Operation *first, Operation *second) {
  bool isAsked = false;
  for (Operation *one : first->getUsers())
    for (Operation *other : second->getUsers()) {
      if (roleOf(one) != roleOf(other))
        continue;
      if (!areInOtherBranches(one, other))
        return false;
      isAsked = true;
    }
  return isAsked;
}

SmallVector<int64_t> tile::placesOf(ArrayRef<int64_t> bytes,
                                    function_ref<bool(size_t, size_t)> areApart, int64_t &end) {
  SmallVector<int64_t> places;
  for (size_t i = 0; i < bytes.size(); ++i) {
    int64_t begin = 0;
    for (size_t j = 0; j < i; ++j)
      if (!areApart(j, i))
        begin = std::max(begin, places[j] + bytes[j]);
    places.push_back(begin);
    end = std::max(end, begin + bytes[i]);
  }
  return places;
}
