//===- ForwardStores.cpp - numbers that a program stores and loads again ---===//
//
// A part of tile-keep-rows. Programs of few numbers use the memory of their results as variables:
//
//   store(p, a)                                      v = a
//   for i in range(n):                               for i in range(n):
//       store(p, load(p) * s)            =>              v = v * s; store(p, v)
//       store(q, load(p) + load(q))                      w = v + w; store(q, w)
//
// One thread stores a number, all of them load it: each time they meet, and wait for the cache. Of
// a place that is known, what is there is the value itself; a loop that goes on with what its turn
// before has left there carries it. What is written over before anybody reads it is not stored.
//
// Places are a pointer and a polynomial: two are the same, or apart, if their difference is a
// constant. Else they may meet if they come from the same pointer of the kernel. Volatile
// accesses, those that name a cache, masked ones and blocks are left as they are.
//
//===----------------------------------------------------------------------===//
#include "passes/tile/ForwardStores.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/facts/StridedAccess.h"
#include "passes/tile/Written.h"

using namespace mlir;
using namespace tile;

namespace {

/// Where a number lies.
struct Place {
  Value pointer, base;
  Polynomial offset; ///< in elements
  bool isSame(const Place &other) const {
    return pointer == other.pointer || (pointer.getType() == other.pointer.getType() &&
                                        base == other.base && offset == other.offset);
  }
  /// Whether the two are known not to be the same, or to overlap.
  bool isApart(const Place &other) const {
    if (pointer.getType() != other.pointer.getType() || base != other.base)
      return false;
    std::optional<int64_t> distance = (offset - other.offset).asConstant();
    return distance && *distance != 0;
  }
};

struct Known {
  Place place;
  Value value;
  bool isStored; ///< by the program itself
  StoreOp store; ///< that nobody can have read yet; or null
};

class Forwarder {
public:
  Forwarder(MLIRContext *context, int64_t &left) : rewriter(context), left(left) {}
  void run(Block &block, SmallVector<Known> known);
  /// Takes away what has been replaced.
  Forwarded finish();

private:
  std::optional<Place> placeOf(Value pointer);
  std::optional<Place> placeOf(LoadOp load);
  std::optional<Place> placeOf(StoreOp store);
  bool mayWrite(StoreOp store, const Place &place);
  bool mayWriteIn(Operation *op, const Place &place);
  Value loadedFirst(Block &body, const Place &place);
  Value leftBehind(Block &body, const Place &place);
  void load(LoadOp op, SmallVector<Known> &known);
  void store(StoreOp op, SmallVector<Known> &known);
  scf::ForOp carry(scf::ForOp loop, SmallVector<Known> &known, SmallVector<Known> &inside);
  bool onlyStores(Block &body, const Place &place);
  void storeBehind(scf::ForOp loop, Known &known);
  void enter(Operation *op, SmallVector<Known> &known);

  IRRewriter rewriter;
  StridedAnalysis strided;
  SmallVector<LoadOp> dead;
  Forwarded done;
  int64_t &left;
};

} // namespace

std::optional<Place> Forwarder::placeOf(Value pointer) {
  if (isa<RankedTensorType>(pointer.getType()))
    return std::nullopt;
  std::optional<StridedPointers> pointers = strided.pointers(pointer);
  if (!pointers || !pointers->offset.wraps.empty())
    return Place{pointer, pointer, Polynomial()};
  return Place{pointer, pointers->base, pointers->offset.start};
}

std::optional<Place> Forwarder::placeOf(LoadOp load) {
  if (load.getMask() || load.getIsVolatile() || load.getCache() != CacheModifier::none)
    return std::nullopt;
  return placeOf(load.getPtr());
}

std::optional<Place> Forwarder::placeOf(StoreOp store) {
  if (store.getMask() || store.getCache() != CacheModifier::none)
    return std::nullopt;
  return placeOf(store.getPtr());
}

bool Forwarder::mayWrite(StoreOp store, const Place &place) {
  if (std::optional<Place> own = placeOf(store.getPtr()); own && own->isApart(place))
    return false;
  Written written;
  written.add(store);
  return written.reaches(place.pointer);
}

/// Whether `op` or what is in it may write to `place`, which is the same in all its turns.
bool Forwarder::mayWriteIn(Operation *op, const Place &place) {
  return op
      ->walk([&](Operation *inner) {
        auto store = dyn_cast<StoreOp>(inner);
        Written written;
        if (!store && !inner->getNumRegions())
          written.add(inner);
        bool may = store ? mayWrite(store, place) : written.reaches(place.pointer);
        return may ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The load of `place` in `body` itself that nothing is written there before.
Value Forwarder::loadedFirst(Block &body, const Place &place) {
  for (Operation &op : body) {
    if (auto load = dyn_cast<LoadOp>(op))
      if (std::optional<Place> own = placeOf(load); own && own->isSame(place))
        return load.getResult();
    if (mayWriteIn(&op, place))
      return {};
  }
  return {};
}

/// What is at `place` when `body` ends; null if that is not known.
Value Forwarder::leftBehind(Block &body, const Place &place) {
  for (Operation &op : llvm::reverse(body)) {
    auto store = dyn_cast<StoreOp>(op);
    if (std::optional<Place> own = store ? placeOf(store) : std::nullopt; own && own->isSame(place))
      return store.getValue();
    if (mayWriteIn(&op, place))
      return {};
  }
  return {};
}

void Forwarder::load(LoadOp op, SmallVector<Known> &known) {
  std::optional<Place> place = placeOf(op);
  if (!place) { // of a block, say, that has the number in it
    for (Known &k : known)
      k.store = {};
    return;
  }
  auto *same = llvm::find_if(known, [&](const Known &k) { return k.place.isSame(*place); });
  if (same != known.end()) {
    op.replaceAllUsesWith(same->value);
    dead.push_back(op); // places may be polynomials in it
    ++done.loads;
    return;
  }
  for (Known &k : known)
    if (!k.place.isApart(*place))
      k.store = {};
  known.push_back({*place, op.getResult(), /*isStored=*/false, {}});
}

void Forwarder::store(StoreOp op, SmallVector<Known> &known) {
  std::optional<Place> place = placeOf(op);
  if (place)
    for (Known &k : known)
      if (k.store && k.store->getBlock() == op->getBlock() && k.place.isSame(*place)) {
        rewriter.eraseOp(k.store);
        ++done.stores;
      }
  llvm::erase_if(known, [&](const Known &k) { return mayWrite(op, k.place); });
  if (place)
    known.push_back({*place, op.getValue(), /*isStored=*/true, op});
  else // others may be told by it that the numbers are there
    for (Known &k : known)
      k.store = {};
}

/// Lets `loop` carry what its turns leave at places that they begin by loading from.
scf::ForOp Forwarder::carry(scf::ForOp loop, SmallVector<Known> &known,
                            SmallVector<Known> &inside) {
  SmallVector<unsigned> which;
  SmallVector<Value> inits, next;
  for (auto [i, k] : llvm::enumerate(known)) {
    Value behind = left > int64_t(which.size()) && loadedFirst(*loop.getBody(), k.place)
                       ? leftBehind(*loop.getBody(), k.place)
                       : Value();
    if (!behind)
      continue;
    which.push_back(unsigned(i));
    inits.push_back(k.value);
    next.push_back(behind);
  }
  if (which.empty())
    return loop;
  left -= int64_t(which.size());
  auto attributes = loop->getDiscardableAttrDictionary();
  unsigned old = loop.getNumRegionIterArgs();
  rewriter.setInsertionPoint(loop);
  auto replaced = *loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return next; });
  loop = cast<scf::ForOp>(replaced.getOperation());
  loop->setDiscardableAttrs(attributes);
  strided = StridedAnalysis(); // which knows the old loop's arguments
  for (auto [i, index] : llvm::enumerate(which)) {
    Known &k = known[index];
    inside.push_back({k.place, loop.getRegionIterArg(unsigned(old + i)), /*isStored=*/true, {}});
    k.value = loop.getResult(unsigned(old + i));
  }
  return loop;
}

/// Whether all that `body` does in memory is to load and store numbers at other places than
/// `place`, or to store there: nobody sees what is there before the loop ends.
bool Forwarder::onlyStores(Block &body, const Place &place) {
  return llvm::all_of(body, [&](Operation &op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      std::optional<Place> own = placeOf(load);
      return load.use_empty() || (own && own->isApart(place));
    }
    if (auto store = dyn_cast<StoreOp>(op)) {
      std::optional<Place> own = placeOf(store);
      return own && (own->isApart(place) || own->isSame(place));
    }
    return op.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&op);
  });
}

/// What `loop` carries, and stores at each turn, is stored behind it. If it does not turn, that is
/// what is there.
void Forwarder::storeBehind(scf::ForOp loop, Known &known) {
  if (!known.isStored || !onlyStores(*loop.getBody(), known.place))
    return;
  StoreOp last;
  for (StoreOp store : llvm::make_early_inc_range(loop.getBody()->getOps<StoreOp>()))
    if (placeOf(store)->isSame(known.place)) {
      if (last)
        rewriter.eraseOp(last);
      last = store;
    }
  rewriter.moveOpAfter(last, loop);
  last.getPtrMutable().assign(known.place.pointer);
  last.getValueMutable().assign(known.value);
  known.store = last;
}

/// What is known of places goes on in `op`, and behind it.
void Forwarder::enter(Operation *op, SmallVector<Known> &known) {
  for (Known &k : known)
    k.store = {};
  SmallVector<Known> inside, behind;
  for (const Known &k : known)
    if (!mayWriteIn(op, k.place))
      behind.push_back(k);
  if (isa<scf::IfOp>(op)) {
    inside = known;
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // What was only loaded another program may write meanwhile, and a loop may wait for that.
    llvm::copy_if(behind, std::back_inserter(inside), [](const Known &k) { return k.isStored; });
    SmallVector<Known> written, carried;
    llvm::copy_if(known, std::back_inserter(written),
                  [&](const Known &k) { return mayWriteIn(op, k.place); });
    op = carry(loop, written, carried);
    for (const Known &k : carried) {
      inside.push_back(k);
      behind.push_back(
          *llvm::find_if(written, [&](const Known &w) { return w.place.isSame(k.place); }));
    }
    run(*cast<scf::ForOp>(op).getBody(), inside);
    for (Known &k : MutableArrayRef(behind).take_back(carried.size()))
      storeBehind(cast<scf::ForOp>(op), k);
    known = std::move(behind);
    return;
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      run(block, inside);
  known = std::move(behind);
}

void Forwarder::run(Block &block, SmallVector<Known> known) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto access = dyn_cast<LoadOp>(op)) {
      load(access, known);
    } else if (auto access = dyn_cast<StoreOp>(op)) {
      store(access, known);
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      enter(&op, known);
    } else if (!isMemoryEffectFree(&op)) {
      Written written;
      written.add(&op);
      llvm::erase_if(known, [&](const Known &k) { return written.reaches(k.place.pointer); });
      for (Known &k : known)
        k.store = {};
    }
  }
}

Forwarded Forwarder::finish() {
  for (LoadOp load : dead)
    load.erase();
  return done;
}

Forwarded tile::forwardStores(func::FuncOp kernel, int64_t &left) {
  Forwarder forwarder(kernel.getContext(), left);
  for (Block &block : kernel.getBody())
    forwarder.run(block, {});
  return forwarder.finish();
}
