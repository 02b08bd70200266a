//===- WarpgroupDot.cpp - matrix products of a warpgroup ------------------===//
//
// Where a piece of an operand starts, and whether it can be read at all, follows from
// the buffer's layout.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/products/WarpgroupDot.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

static std::string spelled(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return "s8";
}

namespace {
constexpr unsigned kStepBytes = 32; ///< along k, of one instruction
constexpr int64_t kRowsPerBlock = 64;

/// An operand in shared memory, as descriptors.
struct Operand {
  Value low;     ///< word of the descriptor of element 0, 0 (of this warpgroup)
  uint64_t bits; ///< of the descriptor but the address
  LinearLayout offsets;
  unsigned bytes;
  unsigned kDim;
  bool isMnMajor;

  /// What the start at (mn, k) adds to the descriptor.
  int64_t advance(int64_t mn, int64_t k) const {
    layout::Position position{{Dim::dim(kDim), int32_t(k)}, {Dim::dim(1 - kDim), int32_t(mn)}};
    return int64_t(offsets.apply(position).front().second) * bytes / 16;
  }
};
} // namespace

/// The constant part of a matrix descriptor: strides and swizzle.
static uint64_t descriptorBits(const LinearLayout &image, unsigned minor, unsigned bytes,
                               bool isMnMajor) {
  uint64_t span = layout::swizzleSpan(int64_t(image.outSize(Dim::dim(minor))) * bytes);
  uint64_t rows = image.outSize(Dim::dim(1 - minor));
  uint64_t swizzle = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  uint64_t eightRows = 8 * span, nextSpan = rows * span;
  // With a swizzle, the stride offset steps over eight rows; the leading offset
  // over a span of the contiguous dimension, which only MN-major operands need.
  uint64_t leading = isMnMajor ? nextSpan : 16, stride = eightRows;
  if (swizzle == 0) { // 8x8 cores: 16 bytes by 8 rows
    leading = isMnMajor ? eightRows : nextSpan;
    stride = isMnMajor ? nextSpan : eightRows;
  }
  return (leading >> 4 & 0x3fff) << 16 | (stride >> 4 & 0x3fff) << 32 | swizzle << 62;
}

/// Columns of the widest instruction that the assembler takes: it wants room for
/// `blocks` accumulators and some registers more in what a thread starts with.
static int64_t mostColumns(const Target &target, unsigned blockThreads, int64_t blocks) {
  int64_t registers = mostRegistersOfThread(target, blockThreads);
  int64_t columns = 256;
  while (columns > 8 && blocks * columns / 2 + kRegistersBesideAccumulator > registers)
    columns /= 2;
  return columns;
}

/// Whether somebody needs the left operand after this product: the next turn of a loop
/// around it, or others.
static bool isNeededAgain(cta::WarpgroupDotOp op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return !op.getA().hasOneUse() || (loop && isInvariant(op.getA(), loop));
}

/// One `cta.warpgroup_dot`.
class WarpgroupProducts::Product {
public:
  Product(WarpgroupProducts &products, cta::WarpgroupDotOp op)
      : products(products), core(products.core), in(core.in), b(core.b), op(op), loc(op.getLoc()),
        accType(cast<RankedTensorType>(op.getType())), bType(op.getB().getType()),
        aBuffer(dyn_cast<cta::BufferType>(op.getA().getType())),
        aElement(aBuffer ? aBuffer.getElementType() : getElementType(op.getA().getType())),
        accElement(accType.getElementType()), bytes(getElementBytes(aElement)),
        alongM(layout::warpgroupsAlongM(accType.getDimSize(0), core.numThreads / 32)),
        alongN(std::min<int64_t>(core.numThreads / 128 / alongM, accType.getDimSize(1) / 8)),
        ownColumns(accType.getDimSize(1) / alongN) {}

  void run();

private:
  void findShares();
  Value startOfShare(const Operand &o, Value share, int64_t size, int64_t shares);
  Operand operandOf(Value buffer, unsigned kDim, Value share, int64_t shareSize, int64_t shares);
  Value descriptorAt(const Operand &o, int64_t mn, int64_t k);
  void readLeft();
  Instructions::WgmmaShape shapeOfInstruction() const;
  Registers startOfSum(bool startsAnew);
  void multiply(const Instructions::WgmmaShape &shape, MutableArrayRef<Value> sums, unsigned first,
                unsigned last, bool isFromZero);

  WarpgroupProducts &products;
  Core &core;
  Instructions &in;
  OpBuilder &b;
  cta::WarpgroupDotOp op;
  Location loc;
  RankedTensorType accType;
  cta::BufferType bType, aBuffer;
  Type aElement, accElement;
  unsigned bytes;
  /// Warpgroups along the rows and columns of the result, and the columns of each.
  unsigned alongM;
  int64_t alongN, ownColumns;
  Value rowShare, columnShare; ///< which of them this is; null if there is one
  std::optional<Operand> right;
  std::optional<Operand> left; ///< in shared memory, else in these words
  Registers leftWords;
};

/// Where this warpgroup's share of the operands starts.
/// In 32 bits: of a wide product plus a constant ptxas 13.0 loses the upper half.
Value WarpgroupProducts::Product::startOfShare(const Operand &o, Value share, int64_t size,
                                               int64_t shares) {
  auto times = [&](Value count, int64_t shift) -> Value {
    return LLVM::MulOp::create(b, loc, count, in.i32(int32_t(o.advance(size << shift, 0))));
  };
  // Shares that lie in one span of the swizzle are closer together than spans are.
  unsigned inSpan = 0, bits = llvm::Log2_64(uint64_t(shares));
  while (inSpan < bits && o.advance(size << inSpan, 0) == o.advance(size, 0) << inSpan)
    ++inSpan;
  if (inSpan == bits)
    return times(share, 0);
  Value span = LLVM::LShrOp::create(b, loc, share, in.i32(int32_t(inSpan)));
  Value own = LLVM::AndOp::create(b, loc, share, in.i32((1 << inSpan) - 1));
  Value near = times(own, 0), far = times(span, inSpan);
  return LLVM::AddOp::create(b, loc, near, far);
}

Operand WarpgroupProducts::Product::operandOf(Value buffer, unsigned kDim, Value share,
                                              int64_t shareSize, int64_t shares) {
  auto type = cast<cta::BufferType>(buffer.getType());
  const LinearLayout &image = type.getLinearLayout();
  Operand o{Value(), 0, image.invert(), bytes, kDim, false};
  unsigned minor = *layout::minorOfSwizzledTile(image, bytes);
  o.isMnMajor = minor != kDim;
  o.bits = descriptorBits(image, minor, bytes, o.isMnMajor);
  OpBuilder::InsertionGuard guard(b);
  // All that can be computed ahead of the wait for a slot is.
  if (Value field = products.rings.fieldOf(buffer)) {
    b.setInsertionPointAfterValue(field);
    o.low = field;
  } else {
    o.low = core.addressField(core.getScalar(buffer));
  }
  if (share)
    o.low = LLVM::AddOp::create(b, loc, o.low, startOfShare(o, share, shareSize, shares));
  return o;
}

/// Sums stay within the address's bits: no carry reaches what stands above.
Value WarpgroupProducts::Product::descriptorAt(const Operand &o, int64_t mn, int64_t k) {
  Value low = core.plus(o.low, o.advance(mn, k) + int64_t(o.bits & 0xffffffff));
  Value wide = LLVM::ZExtOp::create(b, loc, b.getI64Type(), low);
  return LLVM::OrOp::create(b, loc, wide, in.i64(int64_t(o.bits >> 32 << 32)));
}

void WarpgroupProducts::Product::findShares() {
  Value wg = core.warpgroup();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(wg); // where all that starts from them can see them
  if (alongM > 1)
    rowShare = alongN > 1 || core.numThreads / 128 > alongM
                   ? LLVM::AndOp::create(b, loc, wg, in.i32(int32_t(alongM - 1))).getResult()
                   : wg;
  if (alongN > 1) {
    Value group = LLVM::LShrOp::create(b, loc, wg, in.i32(int32_t(llvm::Log2_32(alongM))));
    columnShare = LLVM::AndOp::create(b, loc, group, in.i32(int32_t(alongN - 1)));
  }
}

void WarpgroupProducts::Product::readLeft() {
  if (aBuffer) {
    left = operandOf(op.getA(), op.getATurned() ? 0 : 1, rowShare, kRowsPerBlock, alongM);
    return;
  }
  const Registers &elements = core.get(op.getA());
  if (!isNeededAgain(op)) {
    leftWords = in.pack(elements, 32);
    return;
  }
  // ptxas (12.8, 13.0) gives the left operands of two products the same registers,
  // also where the first is needed again: the scaled queries of an attention are the
  // probabilities from the second turn on. It does keep what only an operation reads,
  // as long as it cannot see that this is a copy, or do it ahead of the loop.
  leftWords = in.pack(in.copyUnseen(elements), 32);
}

Instructions::WgmmaShape WarpgroupProducts::Product::shapeOfInstruction() const {
  Instructions::WgmmaShape shape;
  int64_t blocks = mixesProductsWithDoubles(op) ? 2 : 1;
  shape.n =
      unsigned(std::min(ownColumns, mostColumns(core.in.target(), core.blockThreads, blocks)));
  shape.k = kStepBytes / bytes;
  shape.accType = accElement.isF16() ? "f16" : accElement.isF32() ? "f32" : "s32";
  shape.aType = spelled(aElement);
  shape.bType = spelled(bType.getElementType());
  shape.hasTranspose = bytes == 2;
  shape.aMnMajor = left && left->isMnMajor;
  shape.bMnMajor = right->isMnMajor;
  return shape;
}

/// The words that the product is added to; what they are does not matter if it
/// `startsAnew`.
Registers WarpgroupProducts::Product::startOfSum(bool startsAnew) {
  Registers words =
      accElement.isF16() ? Registers(in.pack(core.get(op.getAcc()), 32)) : core.get(op.getAcc());
  if (!startsAnew)
    return words;
  // Its registers are those of a result that has been used. With others, ptxas moves
  // what is done with that result under this product, and runs out of registers.
  if (Value spent = accElement.isF16() ? Value() : products.takeSpent(op)) {
    words = core.get(spent);
  } else {
    for (Value &word : words)
      word = LLVM::UndefOp::create(b, loc, word.getType());
  }
  return words;
}

/// Issues the instructions for steps `first` to `last` along k.
void WarpgroupProducts::Product::multiply(const Instructions::WgmmaShape &shape,
                                          MutableArrayRef<Value> sums, unsigned first,
                                          unsigned last, bool isFromZero) {
  unsigned steps = unsigned(op.getDepth() / shape.k);
  unsigned perInstruction = shape.n / 2 / (accElement.isF16() ? 2 : 1);
  unsigned chunks = sums.size() / perInstruction, chunksAcross = unsigned(ownColumns / shape.n);
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    int64_t row = int64_t(chunk / chunksAcross) * kRowsPerBlock * alongM;
    int64_t column = int64_t(chunk % chunksAcross) * shape.n;
    MutableArrayRef<Value> part = sums.slice(chunk * perInstruction, perInstruction);
    for (unsigned step = first; step < last; ++step) {
      SmallVector<Value> a;
      if (left) {
        a.push_back(descriptorAt(*left, row, int64_t(step) * shape.k));
      } else {
        unsigned block = chunk / chunksAcross * steps * 4;
        a.append(leftWords.begin() + block + step * 4, leftWords.begin() + block + step * 4 + 4);
      }
      Value bDescriptor = descriptorAt(*right, column, int64_t(step) * shape.k);
      SmallVector<Value> next = in.wgmma(shape, part, a, bDescriptor, isFromZero && step == first);
      llvm::copy(next, part.begin());
    }
  }
}

void WarpgroupProducts::Product::run() {
  findShares();
  right = operandOf(op.getB(), op.getBTurned() ? 1 : 0, columnShare, ownColumns, alongN);
  readLeft();
  Instructions::WgmmaShape shape = shapeOfInstruction();
  unsigned steps = unsigned(op.getDepth() / shape.k);
  // How many products may be added in the tensor core's own precision.
  unsigned promote = op.getPromote() ? std::max(op.getPromote() / shape.k, 1u) : steps;
  // The first product of a sum that starts at zero does not read it.
  bool fromZero = startsAnew(op.getAcc());
  bool promotes = promote < steps || (op.getPromote() && !fromZero);
  Registers words = startOfSum(fromZero && !promotes);
  for (unsigned first = 0; first < steps; first += promote) {
    Registers sums = words;
    in.wgmmaFence();
    multiply(shape, sums, first, std::min(first + promote, steps), promotes || fromZero);
    in.wgmmaCommit();
    if (op.getInFlight()) // all but this one
      in.wgmmaWaitFor(1);
    else
      sums = Registers(in.wgmmaWait(sums));
    if (promotes)
      for (auto [sum, part] : llvm::zip(words, sums))
        sum = LLVM::FAddOp::create(b, loc, sum, part);
    else
      words = std::move(sums);
  }
  if (accElement.isF16())
    words = Registers(in.unpack(words, accElement, unsigned(core.get(op.getAcc()).size())));
  core.set(op.getResult(), std::move(words));
}

Value WarpgroupProducts::takeSpent(cta::WarpgroupDotOp op) {
  auto isSpent = [&](Value v) {
    return v.getType() == op.getType() && !reused.contains(v) &&
           llvm::all_of(v.getUsers(), [&](Operation *user) {
             Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
             return !isa<cta::WarpgroupDotOp, cta::WarpgroupWaitOp>(user) && here &&
                    here->isBeforeInBlock(op);
           });
  };
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (isa<cta::WarpgroupDotOp, cta::WarpgroupWaitOp>(before) && isSpent(before->getResult(0))) {
      reused.insert(before->getResult(0));
      return before->getResult(0);
    }
  return {};
}

void WarpgroupProducts::lower(cta::WarpgroupDotOp op) { Product(*this, op).run(); }

/// Products issued behind the one that is waited for may stay in flight.
static unsigned issuedBehind(cta::WarpgroupWaitOp op) {
  auto dot = op.getAcc().getDefiningOp<cta::WarpgroupDotOp>();
  unsigned count = 0;
  if (dot && dot->getBlock() == op->getBlock())
    for (Operation *next = dot->getNextNode(); next != op; next = next->getNextNode())
      count += isa<cta::WarpgroupDotOp>(next);
  return count;
}

/// For a product that runs under arithmetic (ChainDots.cpp), whose end stands behind that of
/// another one: the ring that the other reads.
static Value ringReadBefore(cta::WarpgroupWaitOp op) {
  auto dot = op.getAcc().getDefiningOp<cta::WarpgroupDotOp>();
  if (!dot || dot->getBlock() != op->getBlock() || isa<cta::BufferType>(dot.getA().getType()))
    return {};
  for (Operation *next = dot->getNextNode(); next != op; next = next->getNextNode())
    if (auto wait = dyn_cast<cta::WarpgroupWaitOp>(next)) {
      auto other = wait.getAcc().getDefiningOp<cta::WarpgroupDotOp>();
      auto slot = other ? other.getB().getDefiningOp<cta::RingWaitOp>() : cta::RingWaitOp();
      return slot ? slot.getRing() : Value();
    }
  return {};
}

void WarpgroupProducts::lower(cta::WarpgroupWaitOp op) {
  // ptxas (12.8, 13.0) takes a wait for products ahead of arithmetic that could run under them,
  // but not ahead of a question that has to be answered first: has the next slot come?
  if (Value ring = ringReadBefore(op))
    rings.touchNext(ring);
  const Registers &acc = core.get(op.getAcc());
  bool isHalf = acc.front().getType().isF16();
  Registers words = isHalf ? Registers(in.pack(acc, 32)) : acc;
  unsigned behind = issuedBehind(op);
  words = Registers(behind ? in.wgmmaWaitBehind(words, behind) : in.wgmmaWait(words));
  if (isHalf)
    words = Registers(in.unpack(words, acc.front().getType(), unsigned(acc.size())));
  core.set(op.getResult(), std::move(words));
}
