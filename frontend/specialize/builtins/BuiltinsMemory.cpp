//===- BuiltinsMemory.cpp - loads and stores -------------------------------===//
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Writable.h"
#include "frontend/specialize/builtins/MemoryOperands.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace tile::specialize {

static std::optional<CacheModifier> cacheModifier(BuiltinCall &c, unsigned i, bool isLoad) {
  auto text = choice(c, i);
  if (!text)
    return std::nullopt;
  auto result = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                    .Case("", CacheModifier::none)
                    .Case(".cg", CacheModifier::cg)
                    .Case(".cs", CacheModifier::cs)
                    .Default(std::nullopt);
  if (!result && isLoad)
    result = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                 .Case(".ca", CacheModifier::ca)
                 .Case(".cv", CacheModifier::cv)
                 .Default(std::nullopt);
  if (!result && !isLoad)
    result = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                 .Case(".wb", CacheModifier::wb)
                 .Case(".wt", CacheModifier::wt)
                 .Default(std::nullopt);
  if (!result)
    c.fail(formatted("`cache_modifier` must be one of {}, got \"{}\"",
                     isLoad ? ".ca, .cg, .cs, .cv" : ".wb, .cg, .cs, .wt", *text));
  return result;
}

static std::optional<EvictionPolicy> evictionPolicy(BuiltinCall &c, unsigned i) {
  auto text = choice(c, i);
  if (!text)
    return std::nullopt;
  auto result = llvm::StringSwitch<std::optional<EvictionPolicy>>(*text)
                    .Cases({"", "evict_normal"}, EvictionPolicy::normal)
                    .Case("evict_first", EvictionPolicy::evict_first)
                    .Case("evict_last", EvictionPolicy::evict_last)
                    .Default(std::nullopt);
  if (!result)
    c.fail(formatted("`eviction_policy` must be evict_first or evict_last, got \"{}\"", *text));
  return result;
}

/// What i1 is accessed as.
static Tensor asBytes(Specializer &s, const Tensor &ptr) {
  if (!ptr || !ptr.type.element().isBool())
    return ptr;
  return s.cast(ptr, DType::pointer(DType(Kind::Int8), ptr.type.isConstPointer()));
}

//===----------------------------------------------------------------------===//
// load, store
//===----------------------------------------------------------------------===//

/// What a load reads where its mask is false.
static Tensor otherValue(BuiltinCall &c, unsigned i, const DType &element) {
  if (const Tensor *t = tensorIn(c[i]))
    return c.s.cast(*t, element);
  if (c[i].isNumber())
    return c.s.constant(c[i], element);
  return c.poison(formatted("`other` must be a number or a tensor, got {}", describe(c[i])));
}

/// Fills pointers, mask and other for a load through a block pointer.
static bool blockLoad(BuiltinCall &c, const PyValue &boundary, StringRef padding, Tensor &ptr,
                      Tensor &mask, Tensor &other) {
  auto access = expandBlockPointer(c, c[0], boundary);
  if (!access)
    return false;
  ptr = access->pointers;
  mask = access->mask;
  DType element = ptr.type.element();
  if (padding == "nan" && !element.isFloating()) {
    c.fail(formatted("`padding_option` \"nan\" needs floats, not {}", element.str()));
    return false;
  }
  if (!padding.empty() && padding != "zero" && padding != "nan") {
    c.fail(formatted("`padding_option` must be \"zero\" or \"nan\", got \"{}\"", padding));
    return false;
  }
  if (mask && !padding.empty()) {
    DType memory = element.isBool() ? DType(Kind::Int8) : element;
    other = c.s.constant(PyValue::number(padding == "nan" ? NAN : 0.0), memory, ptr.shape());
  }
  return true;
}

static PyValue load(BuiltinCall &c) {
  enum { Ptr, Mask, Other, Boundary, Padding, Cache, Evict, Volatile };
  auto cache = cacheModifier(c, Cache, /*isLoad=*/true);
  auto evict = evictionPolicy(c, Evict);
  auto padding = choice(c, Padding);
  if (!cache || !evict || !padding)
    return PoisonValue::get();
  bool isBlock = isBlockPointer(c[Ptr]);
  if (isBlock && (c.has(Mask) || c.has(Other)))
    return c.fail("a block pointer takes `boundary_check` and `padding_option` instead of `mask` "
                  "and `other`");
  if (!isBlock && ((c.has(Boundary) && !c[Boundary].elements().empty()) || !padding->empty()))
    return c.fail("`boundary_check` and `padding_option` need a block pointer; use `mask` and "
                  "`other` with plain pointers");
  if (c.has(Other) && !c.has(Mask))
    return c.fail("`other` has no meaning without `mask`");
  Tensor ptr, m, other;
  if (isBlock) {
    if (!blockLoad(c, c[Boundary], *padding, ptr, m, other))
      return PoisonValue::get();
  } else if (!(ptr = pointer(c, Ptr))) {
    return PoisonValue::get();
  }
  DType element = ptr.type.element();
  ptr = asBytes(c.s, ptr);
  SmallVector<Tensor *> parts{&ptr};
  if (c.has(Mask)) {
    m = mask(c, Mask);
    if (!m || !scalarMaskOnly(c, ptr, m, Mask))
      return PoisonValue::get();
    parts.push_back(&m);
  }
  if (c.has(Other)) {
    other = otherValue(c, Other, ptr.type.element());
    if (!other || !scalarMaskOnly(c, ptr, other, Other))
      return PoisonValue::get();
    parts.push_back(&other);
  }
  if (!c.s.broadcast(parts))
    return PoisonValue::get();
  Value value =
      c.s.create<LoadOp>(ptr.value, m.value, other.value, *cache, *evict, c.flag(Volatile));
  Tensor result{value, ptr.type.element()};
  return c.s.wrap(element.isBool() ? c.s.isTrue(result) : result);
}

static PyValue store(BuiltinCall &c) {
  enum { Ptr, Stored, Mask, Boundary, Cache, Evict };
  auto cache = cacheModifier(c, Cache, /*isLoad=*/false);
  auto evict = evictionPolicy(c, Evict);
  if (!cache || !evict)
    return PoisonValue::get();
  Tensor ptr, m;
  if (isBlockPointer(c[Ptr])) {
    auto access = expandBlockPointer(c, c[Ptr], c[Boundary]);
    if (!access)
      return PoisonValue::get();
    ptr = access->pointers;
    m = access->mask;
    if (c.has(Mask))
      return c.fail("a block pointer takes `boundary_check` instead of `mask`");
  } else {
    if (c.has(Boundary) && !c[Boundary].elements().empty())
      return c.fail("`boundary_check` needs a block pointer; use `mask` with plain pointers");
    ptr = pointer(c, Ptr);
  }
  if (!writable(c, ptr))
    return PoisonValue::get();
  Tensor value = storedValue(c, Stored, ptr);
  if (c.has(Mask)) {
    m = mask(c, Mask);
    if (!m || !scalarMaskOnly(c, ptr, m, Mask))
      return PoisonValue::get();
    m = c.s.broadcastTo(m, ptr.shape());
    if (!m)
      return PoisonValue::get();
  }
  ptr = asBytes(c.s, ptr);
  if (!value || !ptr)
    return PoisonValue::get();
  StoreOp::create(c.s.builder, c.s.loc(), ptr.value, value.value, m.value, *cache, *evict);
  return PyValue::none();
}

void addMemoryBuiltins(BuiltinTable &t) {
  t.add("tl.load",
        "pointer, mask=, other=, boundary_check=, padding_option=, cache_modifier=, "
        "eviction_policy=, volatile=",
        load);
  t.add("tl.store",
        "pointer, value, mask=, boundary_check=, cache_modifier=, eviction_policy=", store);
}

} // namespace tile::specialize
