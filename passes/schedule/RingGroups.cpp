//===- RingGroups.cpp - loads that come together --------------------------===//
//
// What is first used by one operation, by products with an operand in common, or beside a product
// shares the slots of a ring: one wait and one release for all. How many stages it has.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaSlots.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/Roles.h"
#include "passes/facts/ScalarWork.h"
#include "passes/schedule/WarpSpecializer.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::specialization;

SmallVector<Type> Group::buffers() const {
  SmallVector<Type> types;
  for (cta::TmaLoadOp load : loads)
    types.push_back(load.getType());
  for (LoadOp load : scalars) {
    auto image = layout::LinearLayout::fromRows({{layout::Dim::offset(), 1}},
                                                {{layout::Dim::dim(0), 1}}, {});
    types.push_back(cta::BufferType::get(load.getContext(), {1}, load.getType(),
                                         cta::LayoutAttr::get(load.getContext(), image)));
  }
  return types;
}

void WarpSpecializer::chooseStages(Group &group) const {
  auto loop = group.firstUser->getParentOfType<scf::ForOp>();
  if (!loop)
    return;
  auto own = loop->getAttrOfType<IntegerAttr>(kNumStagesAttr);
  group.isElastic = !own && stages == 0;
  group.stages = group.isElastic ? tuningOf(kernel).mostOperandStages
                                 : std::max<int32_t>(own ? int32_t(own.getInt()) : stages, 1);
  // What runs again, in a loop or for the next program, is copied meanwhile.
  if (programs || loop->getParentOfType<LoopLikeOpInterface>())
    return;
  int32_t ofUse = stagesOfUse(loop, group.stages);
  group.isElastic &= ofUse == group.stages;
  group.stages = ofUse;
}

LogicalResult WarpSpecializer::findGroups() {
  WalkResult result = kernel.walk([&](cta::TmaLoadOp load) {
    Operation *first = nullptr, *last = nullptr;
    for (Operation *user : load->getUsers()) {
      Operation *here = load->getBlock()->findAncestorOpInBlock(*user);
      if (!here || here->hasTrait<OpTrait::IsTerminator>()) {
        load.emitOpError("is used outside its block");
        return WalkResult::interrupt();
      }
      if (!first || here->isBeforeInBlock(first))
        first = here;
      if (!last || last->isBeforeInBlock(here))
        last = here;
    }
    if (!first) {
      load.erase();
      return WalkResult::advance();
    }
    Group *group = llvm::find_if(groups, [&](Group &g) { return g.firstUser == first; });
    if (group == groups.end()) {
      groups.emplace_back();
      group = &groups.back();
      group->firstUser = group->lastUser = first;
      chooseStages(*group);
    }
    group->loads.push_back(load);
    if (group->lastUser->isBeforeInBlock(last))
      group->lastUser = last;
    return WalkResult::advance();
  });
  joinProducts();
  return failure(result.wasInterrupted());
}

/// Whether one of two operations runs to its end before the other, which something around both does
/// again for both at most, not for one of them.
static bool runsBefore(Operation *first, Operation *other) {
  for (Operation *up = first; up && !isa<FunctionOpInterface>(up); up = up->getParentOp())
    if (Operation *beside = up->getBlock()->findAncestorOpInBlock(*other))
      return beside != up && up->isBeforeInBlock(beside);
  return false;
}

/// Whether slots of `group` are filled and read behind those of `before`, so that one ring does for
/// both: the second of two loops side by side, or in loops side by side; what is loaded, by no
/// loop, behind a loop that reads the other to its end. (Blocks of products without a loop are on
/// their way all at once.)
static bool follows(const Group &group, const Group &before) {
  auto loop = dyn_cast<scf::ForOp>(group.firstUser->getParentOp());
  auto first = dyn_cast<scf::ForOp>(before.firstUser->getParentOp());
  if (loop && first)
    return runsBefore(first, loop);
  Operation *start = group.loads.front();
  return !loop && !first && isa<scf::ForOp>(before.lastUser) &&
         before.lastUser->getBlock() == start->getBlock() &&
         before.lastUser->isBeforeInBlock(start);
}

/// Finds for each group one before it whose ring does for both. Loops whose slots are of one kind
/// always share: the copies of the second go on where those of the first end. `widely`: so do
/// others, whose slots are as large as the largest then, and what is loaded outside of loops, which
/// comes later by that.
void WarpSpecializer::findPartners(bool widely) {
  for (Group &group : groups)
    group.partner = nullptr;
  if (cta::madeOf(kernel).groups > 1)
    return;
  auto canShare = [&](const Group &group, const Group &before, bool anyKind) {
    bool isSame =
        isa<scf::ForOp>(group.firstUser->getParentOp()) && group.ringType() == before.ringType();
    return (isSame || anyKind) && follows(group, before) && !group.isShared() &&
           !before.isShared() && group.stages == before.stages &&
           group.isElastic == before.isElastic;
  };
  auto findOwner = [&](const Group &group, bool anyKind) -> Group * {
    for (Group &owner : groups)
      if (!owner.partner && &owner != &group && llvm::all_of(groups, [&](const Group &own) {
            return (&own != &owner && own.partner != &owner) || canShare(group, own, anyKind);
          }))
        return &owner;
    return nullptr;
  };
  for (Group &group : groups) {
    group.partner = findOwner(group, /*anyKind=*/false);
    if (!group.partner && widely)
      group.partner = findOwner(group, /*anyKind=*/true);
  }
}

cta::RingType WarpSpecializer::ringTypeOf(const Group &owner) const {
  cta::RingType most = owner.ringType();
  for (const Group &group : groups)
    if (group.partner == &owner &&
        cta::bytesInSlot(group.buffers()) > cta::bytesInSlot(most.getBuffers()))
      most = group.ringType();
  return most;
}

static void join(Group &group, Group &other) {
  llvm::append_range(group.loads, other.loads);
  llvm::sort(group.loads, [](cta::TmaLoadOp a, cta::TmaLoadOp b) { return a->isBeforeInBlock(b); });
  if (other.firstUser->isBeforeInBlock(group.firstUser))
    group.firstUser = other.firstUser;
  if (group.lastUser->isBeforeInBlock(other.lastUser))
    group.lastUser = other.lastUser;
  other.loads.clear();
}

/// Products that have an operand in common get all of theirs together.
void WarpSpecializer::joinProducts() {
  auto precede = [](const Group &group, Operation *user) {
    return llvm::all_of(group.loads, [&](cta::TmaLoadOp load) {
      return load->getBlock() == user->getBlock() && load->isBeforeInBlock(user);
    });
  };
  auto haveUserInCommon = [](const Group &group, const Group &other) {
    return llvm::any_of(group.loads, [&](cta::TmaLoadOp load) {
      return llvm::any_of(load->getUsers(), [&](Operation *user) {
        return llvm::any_of(other.loads, [&](cta::TmaLoadOp from) {
          return llvm::is_contained(from->getUsers(), user);
        });
      });
    });
  };
  for (Group &group : groups)
    for (Group &other : groups)
      if (&group < &other && haveUserInCommon(group, other) && precede(group, other.firstUser) &&
          precede(other, group.firstUser))
        join(group, other);
  llvm::erase_if(groups, [](const Group &group) { return group.loads.empty(); });
}

/// What is only read into registers comes with the operands of a product beside it:
/// one barrier for both.
void WarpSpecializer::joinVectors() {
  for (Group &group : groups) {
    if (!group.isOnlyRead())
      continue;
    Group *product = llvm::find_if(groups, [&](const Group &other) {
      return !other.isOnlyRead() && other.firstUser->getBlock() == group.firstUser->getBlock();
    });
    if (product == groups.end())
      continue;
    join(*product, group);
  }
  llvm::erase_if(groups, [](const Group &group) { return group.loads.empty(); });
}

/// Whether one thread can compute `v`, a scalar, without looking at memory.
static bool canFollow(Value v, DenseSet<Value> &seen) {
  if (!seen.insert(v).second)
    return true;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop ? arg == loop.getInductionVar() : isa<func::FuncOp>(arg.getOwner()->getParentOp());
  }
  Operation *op = v.getDefiningOp();
  SmallVector<Value> from(op->getOperands());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(v).getResultNumber();
    from.append({branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)});
  } else if (op->getNumRegions() || isa<LoadOp>(op) || !isScalarWork(op)) {
    return false;
  }
  return llvm::all_of(
      from, [&](Value o) { return !isa<RankedTensorType>(o.getType()) && canFollow(o, seen); });
}

/// Numbers that a loop loads beside the operands of its product, too.
void WarpSpecializer::joinScalars() {
  for (Group &group : groups) {
    if (!isa<scf::ForOp>(group.firstUser->getParentOp()) || group.isOnlyRead())
      continue;
    for (LoadOp load : group.firstUser->getBlock()->getOps<LoadOp>()) {
      DenseSet<Value> seen;
      if (!load->removeAttr(cta::kMayRunAheadAttr) || !canFollow(load.getPtr(), seen) ||
          (programs && programs->differ(load.getPtr())))
        continue;
      group.scalars.push_back(load);
      if (load->isBeforeInBlock(group.firstUser))
        group.firstUser = load;
      if (group.lastUser->isBeforeInBlock(load))
        group.lastUser = load;
    }
  }
}
