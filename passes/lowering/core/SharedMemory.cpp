//===- SharedMemory.cpp - where shared memory lies, and cache policies ----===//
//
// Offsets that the scratch pass has given become addresses here; elements become what memory
// holds of them. What copies and accesses ask of the second cache is made once for a kernel.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/lowering/core/Core.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value Core::sharedBase(int64_t byteOffset) {
  auto symbol = module.lookupSymbol<LLVM::GlobalOp>("tile_shared");
  auto ptr = LLVM::LLVMPointerType::get(b.getContext(), kShared);
  if (!symbol) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // Not the location of the op at hand: it may be that of an inlined call, and
    // the debug-info pass looks for the function around each of those.
    symbol = LLVM::GlobalOp::create(b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                    /*isConstant=*/false, LLVM::Linkage::External, "tile_shared",
                                    Attribute(), /*alignment=*/hasTiles ? 1024 : 16, kShared);
  }
  Value base = LLVM::AddressOfOp::create(b, in.getLoc(), ptr, symbol.getName());
  if (groups > 1) { // each has its own, in front of the rings
    int64_t own = cta::madeOf(module).groupBytes;
    if (byteOffset < own) {
      Value skip = LLVM::MulOp::create(b, in.getLoc(), group(), in.i32(int32_t(own)));
      base = LLVM::GEPOp::create(b, in.getLoc(), ptr, b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{skip});
    }
  }
  if (byteOffset == 0)
    return base;
  return LLVM::GEPOp::create(b, in.getLoc(), ptr, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(byteOffset)});
}

Value Core::sharedAt(Value base, Value byteOffset) {
  Affine a = affine(byteOffset);
  Value p = base;
  if (a.base)
    p = LLVM::GEPOp::create(b, in.getLoc(), base.getType(), b.getI8Type(), p, a.base);
  if (a.offset)
    p = LLVM::GEPOp::create(b, in.getLoc(), base.getType(), b.getI8Type(), p,
                            ArrayRef<LLVM::GEPArg>{int32_t(a.offset)});
  return p;
}

Value Core::sharedAddress(int64_t byteOffset) {
  return LLVM::PtrToIntOp::create(b, in.getLoc(), b.getI32Type(), sharedBase(byteOffset));
}

Value Core::bufferBase(Value buffer) {
  return LLVM::IntToPtrOp::create(
      b, in.getLoc(), LLVM::LLVMPointerType::get(b.getContext(), kShared), getScalar(buffer));
}

Value Core::addressField(Value address) {
  Location loc = in.getLoc();
  // In a cluster the upper bits of a shared address are the block's rank.
  return LLVM::LShrOp::create(b, loc, LLVM::AndOp::create(b, loc, address, in.i32(0x3ffff)),
                              in.i32(4));
}

Value Core::exchangeAddress(const LinearLayout &offsets, unsigned reg, Value base, unsigned bytes,
                            Value varying, int32_t varyingBits) {
  Location loc = in.getLoc();
  int32_t constant = 0, threadBits = varyingBits;
  for (auto [bit, row] : llvm::enumerate(offsets.rows(Dim::reg())))
    if (reg >> bit & 1)
      constant ^= int32_t(row);
  for (Dim dim : {Dim::lane(), Dim::warp()})
    for (uint64_t row : offsets.rows(dim))
      threadBits |= int32_t(row);
  Value thread = threadPart(offsets, Dim::offset());
  if (varying)
    thread = LLVM::XOrOp::create(b, loc, thread, varying);
  // A swizzle makes the parts overlap: then only XOR combines them.
  int32_t overlapping = constant & threadBits;
  if (overlapping)
    thread = LLVM::XOrOp::create(b, loc, thread, in.i32(overlapping));
  constant &= ~overlapping;
  Value byte = bytes == 1
                   ? thread
                   : LLVM::ShlOp::create(b, loc, thread, in.i32(llvm::Log2_32(bytes))).getResult();
  Value p = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, byte);
  if (constant)
    p = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), p,
                            ArrayRef<LLVM::GEPArg>{int32_t(constant * bytes)});
  return p;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Core::toMemory(Value v) {
  return v.getType().isInteger(1)
             ? LLVM::ZExtOp::create(b, in.getLoc(), b.getI8Type(), v).getResult()
             : v;
}

Value Core::fromMemory(Value v, Type type) {
  return type.isInteger(1) ? LLVM::TruncOp::create(b, in.getLoc(), type, v).getResult() : v;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

Value Core::zeroUnknown() {
  return once(unknownZero, [&] { return in.unknownZero(); });
}

Value Core::policyOf(Operation *op) {
  auto evict = op->getAttrOfType<EvictionPolicyAttr>(cta::kEvictAttr);
  if (!evict)
    return {};
  if (isa<cta::AsyncCopyOp, cta::RingElementCopyOp>(op))
    zeroUnknown();
  return policyOf(evict.getValue());
}

Value Core::policyOf(EvictionPolicy evict) {
  if (evict == EvictionPolicy::normal || !in.target().has(Feature::CpAsync))
    return {};
  return once(evict == EvictionPolicy::evict_first ? evictFirst : evictLast,
              [&] { return in.cachePolicy(evict); });
}

Value Core::hiddenBeside(Value policy, Value to) {
  return policy ? LLVM::XOrOp::create(b, in.getLoc(), to, unknownZero).getResult() : to;
}
