//===- LintMasks.cpp - accesses without a mask beside a bound -------------===//
#include "passes/LintKernel.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::linting;

/// Whether a mask says that the offset is below something.
static bool bounds(Value mask, Value offset) {
  mask = strip(mask);
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return bounds(both.getLhs(), offset) || bounds(both.getRhs(), offset);
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  using P = arith::CmpIPredicate;
  if (!compare)
    return false;
  P predicate = compare.getPredicate();
  bool less =
      predicate == P::slt || predicate == P::sle || predicate == P::ult || predicate == P::ule;
  bool more =
      predicate == P::sgt || predicate == P::sge || predicate == P::ugt || predicate == P::uge;
  return (less && strip(compare.getLhs()) == offset) || (more && strip(compare.getRhs()) == offset);
}

void Linter::noteMasked(Operation *op, Value pointer, Value mask) {
  if (auto add = pointer.getDefiningOp<AddPtrOp>())
    if (isa<RankedTensorType>(add.getOffset().getType()) &&
        op->getParentOp() == kernel.getOperation())
      accesses.push_back({op, strip(add.getOffset()), mask});
}

/// The same offsets, bounded at one access and not at another.
void Linter::reportUnmasked() {
  for (const Access &open : accesses) {
    if (open.mask || !isa_and_present<RankedTensorType>(open.offset.getType()))
      continue;
    auto bounded = llvm::find_if(accesses, [&](const Access &other) {
      return other.mask && other.offset == open.offset && bounds(other.mask, open.offset);
    });
    if (bounded != accesses.end() &&
        dependsOn(open.offset, [](Value v) { return v.getDefiningOp<ProgramIdOp>() != nullptr; }))
      report(open.op->getLoc(), "nothing masks this access, where another of the same offsets is "
                                "masked: both need the mask, or neither");
  }
}

//===----------------------------------------------------------------------===//
// Bounds that bound nothing
//===----------------------------------------------------------------------===//

/// Whether a parameter is called what the number of elements is called.
static bool isNamedAsBound(StringRef name) {
  std::string lower = name.lower();
  StringRef text = lower;
  if (text == "n" || text == "numel" || text == "size" || text == "length" || text == "total")
    return true;
  return (text.starts_with("n_") || text.starts_with("num_") || text.ends_with("_size") ||
          text.ends_with("_len") || text.ends_with("numel")) &&
         !text.contains("stride") && !text.contains("block") && !text.contains("warp") &&
         !text.contains("program") && !text.contains("step") && !text.contains("iter");
}

/// Whether a number gets where it could keep accesses inside: into a comparison, the bounds of a
/// loop and, unless it is known to be a row's length, an address.
static bool keepsInside(Value value, llvm::SmallPtrSetImpl<Operation *> &seen, bool isRow = false) {
  for (Operation *user : value.getUsers()) {
    if (!seen.insert(user).second)
      continue;
    bool isLimit = isa<arith::CmpIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp,
                       arith::RemSIOp, arith::RemUIOp, AssumeOp>(user) ||
                   (!isRow && isa<AddPtrOp>(user)) || user->getNumRegions() != 0 ||
                   user->hasTrait<OpTrait::IsTerminator>();
    if (isLimit)
      return true;
    // A quotient is the number of something else, such as a mean's divisor made a float.
    for (Value result : user->getResults())
      if (isa<IntegerType>(getElementType(result.getType())) && keepsInside(result, seen, isRow))
        return true;
  }
  return false;
}

/// `pid * BLOCK + arange(0, BLOCK)`: each program takes its part of a row of elements.
static bool isPartOfARow(Value offset) {
  auto sum = offset.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return false;
  bool hasRange = false, hasProgram = false;
  for (Value part : sum->getOperands()) {
    Value plain = strip(part);
    if (plain.getDefiningOp<MakeRangeOp>()) {
      hasRange = true;
    } else if (auto product = plain.getDefiningOp<arith::MulIOp>()) {
      for (Value factor : product->getOperands())
        hasProgram |= strip(factor).getDefiningOp<ProgramIdOp>() != nullptr;
    }
  }
  return hasRange && hasProgram;
}

static bool isBound(BlockArgument argument) {
  auto named = dyn_cast<NameLoc>(argument.getLoc());
  return named && isa<IntegerType>(argument.getType()) && bitsOf(argument) >= 32 &&
         isNamedAsBound(named.getName().getValue());
}

static StringRef parameterName(BlockArgument argument) {
  return cast<NameLoc>(argument.getLoc()).getName().getValue();
}

/// The first bound that is passed and keeps nothing inside; null if there is none.
static BlockArgument unusedBound(func::FuncOp kernel) {
  for (BlockArgument argument : kernel.getArguments()) {
    if (!isBound(argument))
      continue;
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (!keepsInside(argument, seen))
      return argument;
  }
  return nullptr;
}

/// Accesses that nothing masks beside such a bound.
void Linter::reportUnusedBounds() {
  BlockArgument bound = unusedBound(kernel);
  if (!bound)
    return;
  StringRef name = parameterName(bound), also = "";
  for (const Access &access : accesses) {
    if (access.mask || !isPartOfARow(access.offset))
      continue;
    report(
        access.op->getLoc(),
        formatted(
            "nothing masks this access{}, and `{}` is passed and {}: mask it with `offsets < {}`",
            also, name, bound.use_empty() ? "not used" : "bounds no access", name));
    also = " either";
  }
}

//===----------------------------------------------------------------------===//
// Lengths of rows that end no row
//===----------------------------------------------------------------------===//

/// The parts that an address is the sum of.
static void addends(Value value, SmallVectorImpl<Value> &parts) {
  value = strip(value);
  if (auto add = value.getDefiningOp<AddPtrOp>()) {
    addends(add.getPtr(), parts);
    addends(add.getOffset(), parts);
  } else if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    addends(sum.getLhs(), parts);
    addends(sum.getRhs(), parts);
  } else {
    parts.push_back(value);
  }
}

/// The number that rows are as long as: `x + row * n + arange(0, BLOCK)`, a row for each program;
/// null if the address is another.
static BlockArgument lengthOfRow(Value address) {
  SmallVector<Value> parts;
  addends(address, parts);
  bool hasRange = false;
  BlockArgument length;
  for (Value part : parts) {
    hasRange |= part.getDefiningOp<MakeRangeOp>() != nullptr;
    auto product = part.getDefiningOp<arith::MulIOp>();
    if (!product)
      continue;
    Value left = strip(product.getLhs()), right = strip(product.getRhs());
    for (auto [row, number] : {std::pair(left, right), std::pair(right, left)})
      if (row.getDefiningOp<ProgramIdOp>() && isa<BlockArgument>(number))
        length = cast<BlockArgument>(number);
  }
  return hasRange && parts.size() <= 3 ? length : BlockArgument();
}

/// A block of a row that nothing ends, though the row's length is passed: right only if it is the
/// block's, and who launches the kernel is not told.
void Linter::reportUnendedRows() {
  for (const Access &access : accesses) {
    BlockArgument length = access.mask ? BlockArgument() : lengthOfRow(access.op->getOperand(0));
    if (!length || length.getOwner() != &kernel.getBody().front() || !isBound(length))
      continue;
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (!keepsInside(length, seen, /*isRow=*/true))
      report(access.op->getLoc(),
             formatted("nothing masks this access to a row of `{0}` elements: mask it with "
                       "`offsets < {0}`, or say that the block is as long with `tl.assume`",
                       parameterName(length)));
  }
}
