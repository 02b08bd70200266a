//===- Exchange.cpp - conversions through shared memory -------------------===//
//
// A large block is exchanged part by part through a smaller buffer, where both
// layouts have register bits in common.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "ir/layout/GF2.h"
#include "ir/layout/MatrixAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/lowering/Conversions.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using namespace tile::layout;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The register bit that alone moves along coordinate bit `bit`, and moves
/// along nothing else; -1 if there is none.
static int soleRegisterBit(const LinearLayout &l, unsigned bit) {
  int found = -1;
  for (auto [i, row] : llvm::enumerate(l.rows())) {
    if (!(row >> bit & 1))
      continue;
    if (found >= 0 || row != 1ull << bit || int32_t(i) >= l.inSizeLog2(Dim::reg()))
      return -1;
    found = int(i);
  }
  return found;
}

/// The layout without coordinate bit `bit` and register bit `reg`.
static LinearLayout withoutBit(const LinearLayout &l, unsigned bit, int reg) {
  SmallVector<DimValue, 4> outs(l.outs());
  unsigned at = bit;
  for (DimValue &out : outs) {
    unsigned size = log2Exact(out.second);
    if (at < size) {
      out.second /= 2;
      break;
    }
    at -= size;
  }
  SmallVector<uint64_t, 16> rows;
  LinearLayout rest = l.removeInBits(Dim::reg(), 1 << reg);
  for (uint64_t row : rest.rows())
    rows.push_back((row & lowBits(bit)) | (row >> 1 & ~lowBits(bit)));
  return LinearLayout::fromRows(rest.ins(), outs, rows);
}

ExchangeParts lowering::cutExchange(const LinearLayout &from, const LinearLayout &to,
                                    unsigned elementBytes, const Tuning &tuning) {
  ExchangeParts parts{from, to, {}, {}};
  int64_t bytes = (int64_t(1) << from.totalOutSizeLog2()) * elementBytes;
  for (unsigned bit = from.totalOutSizeLog2(); bit-- > 0 && bytes > tuning.exchangeMostBytes;) {
    int source = soleRegisterBit(parts.from, bit), target = soleRegisterBit(parts.to, bit);
    if (source < 0 || target < 0)
      continue;
    parts.from = withoutBit(parts.from, bit, source);
    parts.to = withoutBit(parts.to, bit, target);
    parts.fromBits.push_back(source);
    parts.toBits.push_back(target);
    bytes /= 2;
  }
  parts.bytes = bytes;
  return parts;
}

Tuning lowering::tuningOfExchange(cta::ConvertLayoutOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  Tuning tuning = tuningOf(module);
  auto loop = op->getParentOfType<scf::ForOp>();
  bool multiplies =
      loop && llvm::any_of(*loop.getBody(), llvm::IsaPred<DotOp, cta::WarpgroupDotOp>);
  if (auto asked = module->getAttrOfType<IntegerAttr>(kExchangeBytesAttr); asked && !multiplies)
    tuning.exchangeMostBytes = asked.getInt();
  return tuning;
}

/// Register `reg` of part `part`, counted in the whole block: the removed bits
/// are put back, the last removed one first.
static unsigned wholeRegister(unsigned reg, unsigned part, ArrayRef<int> bits) {
  for (unsigned i = bits.size(); i-- > 0;) {
    unsigned low = reg & unsigned(lowBits(bits[i]));
    reg = low | (part >> i & 1) << bits[i] | (reg ^ low) << 1;
  }
  return reg;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

LogicalResult lowering::exchange(Core &core, cta::ConvertLayoutOp op) {
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("needs an exchange through shared memory but has none assigned");
  Registers src = core.get(op.getSrc());
  Type type = src.front().getType();
  for (Value &v : src)
    v = core.toMemory(v);
  Type memory = src.front().getType();
  unsigned bytes = bitWidth(memory) / 8;
  ExchangeParts parts = cutExchange(cta::getLayout(op.getSrc().getType()),
                                    cta::getLayout(op.getType()), bytes, tuningOfExchange(op));
  bool isCopied = static_cast<bool>(core.writerPredicate(parts.from, 0));
  Exchange plan = planExchange(parts.from, parts.to, bytes,
                               {/*load=*/core.in.target().has(Feature::Ldmatrix),
                                /*store=*/core.in.target().has(Feature::Stmatrix) && !isCopied,
                                isMultiplied(op.getResult())});
  auto chosen = [](std::optional<MatrixAccess> &m) { return m ? &*m : nullptr; };

  Value base = core.sharedBase(scratch.getInt());
  Registers result(cta::getLayout(op.getType()).inSize(Dim::reg()));
  for (unsigned part = 0; part < 1u << parts.fromBits.size(); ++part) {
    Registers some;
    for (int32_t r = 0; r < parts.from.inSize(Dim::reg()); ++r)
      some.push_back(src[wholeRegister(r, part, parts.fromBits)]);
    if (part)
      core.in.barrier(); // the part before has been read
    storeBlock(core, some, parts.from, plan.shared, chosen(plan.write), base);
    core.in.barrier();
    SharedBlock block = makeSharedBlock(memory, offsetsOf(parts.to, plan.shared.layout),
                                        plan.shared.readVectorLog2, chosen(plan.read), base);
    some = loadAll(core, block);
    for (auto [r, v] : llvm::enumerate(some))
      result[wholeRegister(r, part, parts.toBits)] = core.fromMemory(v, type);
  }
  core.set(op.getResult(), std::move(result));
  return success();
}
