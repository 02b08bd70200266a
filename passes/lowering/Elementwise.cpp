//===- Elementwise.cpp - arithmetic, one register at a time ---------------===//
#include "passes/lowering/Elementwise.h"
#include "mlir/IR/Matchers.h"
#include "passes/lowering/Comparisons.h"
#include "passes/lowering/CountedQuotients.h"
#include "passes/lowering/core/Coordinates.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

Elementwise::Elementwise(Core &core) : core(core), in(core.in), b(core.b), casts(core) {
  if (auto attr = core.module->getAttrOfType<BoolAttr>(kFpFusionAttr))
    fuseMulAdd = attr.getValue();
}

LogicalResult Elementwise::lower(Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("has no lowering");
  std::optional<Registers> packed = lowerPacked(op);
  if (!packed)
    packed = writeDigits(op);
  if (packed) {
    core.set(op->getResult(0), std::move(*packed));
    return success();
  }
  size_t count = 1;
  SmallVector<const Registers *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(&core.get(operand));
    count = std::max(count, operands.back()->size());
  }
  Registers regs;
  // Registers that hold copies (a broadcast block) are computed once.
  llvm::DenseMap<Value, SmallVector<unsigned, 2>> byFirst;
  SmallVector<unsigned> equal = firstOfEqual(op);
  SmallVector<InRun> places = placesInRuns(op);
  std::optional<Comparisons> comparisons;
  auto at = [&](unsigned o, unsigned r) {
    return (*operands[o])[operands[o]->size() == 1 ? 0 : r];
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    comparisons.emplace(core, compare);
    for (unsigned r = 0; r < count; ++r)
      if (count != equal.size() || equal[r] == r)
        comparisons->add(at(0, r), at(1, r));
  }
  std::optional<CountedQuotients> quotients;
  if (isa<arith::DivSIOp, arith::RemSIOp>(op)) {
    quotients.emplace(core, op);
    for (unsigned r = 0; r < count; ++r)
      if ((count != equal.size() || equal[r] == r) &&
          (count != places.size() || places[r].first == r))
        quotients->add(at(0, r), at(1, r));
  }
  for (unsigned r = 0; r < count; ++r) {
    if (count == equal.size() && equal[r] < r) {
      regs.push_back(regs[equal[r]]);
      continue;
    }
    if (count == places.size() && places[r].first < r) {
      Value first = regs[places[r].first];
      Value steps =
          in.constant(first.getType(), b.getIntegerAttr(first.getType(), places[r].steps));
      regs.push_back(LLVM::AddOp::create(b, op->getLoc(), first, steps));
      continue;
    }
    SmallVector<Value> args;
    for (const Registers *o : operands)
      args.push_back(o->size() == 1 ? o->front() : (*o)[r]);
    auto &candidates = byFirst[args.empty() ? Value() : args[0]];
    auto same = llvm::find_if(candidates, [&](unsigned c) {
      for (auto [o, arg] : llvm::zip(operands, args))
        if ((o->size() == 1 ? o->front() : (*o)[c]) != arg)
          return false;
      return true;
    });
    if (same != candidates.end()) {
      regs.push_back(regs[*same]);
      continue;
    }
    candidates.push_back(r);
    Value v = comparisons ? comparisons->lower(args[0], args[1])
              : quotients ? quotients->lower(args[0], args[1])
                          : tryAffine(op, args);
    if (!v)
      v = emitScalar(op, args);
    if (!v)
      return op->emitOpError("has no lowering");
    regs.push_back(v);
  }
  core.set(op->getResult(0), std::move(regs));
  return success();
}

Value Elementwise::emitScalar(Operation *op, ValueRange operands) {
  if (Value v = emitArith(op, operands))
    return v;
  if (Value v = casts.emit(op, operands))
    return v;
  return emitMath(op, operands);
}

static LLVM::ICmpPredicate predicateOf(arith::CmpIPredicate p) {
  return static_cast<LLVM::ICmpPredicate>(p); // same order in both dialects
}

static LLVM::FCmpPredicate predicateOf(arith::CmpFPredicate p) {
  using A = arith::CmpFPredicate;
  using L = LLVM::FCmpPredicate;
  switch (p) {
  case A::AlwaysFalse:
    return L::_false;
  case A::OEQ:
    return L::oeq;
  case A::OGT:
    return L::ogt;
  case A::OGE:
    return L::oge;
  case A::OLT:
    return L::olt;
  case A::OLE:
    return L::ole;
  case A::ONE:
    return L::one;
  case A::ORD:
    return L::ord;
  case A::UEQ:
    return L::ueq;
  case A::UGT:
    return L::ugt;
  case A::UGE:
    return L::uge;
  case A::ULT:
    return L::ult;
  case A::ULE:
    return L::ule;
  case A::UNE:
    return L::une;
  case A::UNO:
    return L::uno;
  case A::AlwaysTrue:
    return L::_true;
  }
  llvm_unreachable("all predicates are named");
}

Value Elementwise::emitInteger(Operation *op, ValueRange v) {
  Location loc = in.getLoc();
  auto integer = [&](auto tag) -> Value {
    return decltype(tag)::create(b, loc, v[0].getType(), v[0], v[1]);
  };
  // What LLVM leaves open where the amount is not below the width.
  auto shift = [&](auto tag) -> Value {
    APInt amount;
    unsigned width = v[0].getType().getIntOrFloatBitWidth();
    if (!matchPattern(v[1], m_ConstantInt(&amount)) || amount.ult(width))
      return integer(tag);
    if (!isa<arith::ShRSIOp>(op))
      return in.zero(v[0].getType());
    Value most = in.constant(v[1].getType(), b.getIntegerAttr(v[1].getType(), width - 1));
    return LLVM::AShrOp::create(b, loc, v[0], most);
  };
  auto extremum = [&](auto tag) -> Value { return decltype(tag)::create(b, loc, v[0], v[1]); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddIOp>([&](auto) { return integer(LLVM::AddOp()); })
      .Case<arith::SubIOp>([&](auto o) -> Value {
        return matchPattern(o.getLhs(), m_Zero()) ? in.negate(v[1]) : integer(LLVM::SubOp());
      })
      .Case<arith::MulIOp>([&](auto) { return integer(LLVM::MulOp()); })
      .Case<arith::DivSIOp>([&](auto) { return integer(LLVM::SDivOp()); })
      .Case<arith::DivUIOp>([&](auto) { return integer(LLVM::UDivOp()); })
      .Case<arith::RemSIOp>([&](auto) { return integer(LLVM::SRemOp()); })
      .Case<arith::RemUIOp>([&](auto) { return integer(LLVM::URemOp()); })
      .Case<arith::AndIOp>([&](auto) { return integer(LLVM::AndOp()); })
      .Case<arith::OrIOp>([&](auto) { return integer(LLVM::OrOp()); })
      .Case<arith::XOrIOp>([&](auto) { return integer(LLVM::XOrOp()); })
      .Case<arith::ShLIOp>([&](auto) { return shift(LLVM::ShlOp()); })
      .Case<arith::ShRSIOp>([&](auto) { return shift(LLVM::AShrOp()); })
      .Case<arith::ShRUIOp>([&](auto) { return shift(LLVM::LShrOp()); })
      .Case<arith::MinSIOp>([&](auto) { return extremum(LLVM::SMinOp()); })
      .Case<arith::MaxSIOp>([&](auto) { return extremum(LLVM::SMaxOp()); })
      .Case<arith::MinUIOp>([&](auto) { return extremum(LLVM::UMinOp()); })
      .Case<arith::MaxUIOp>([&](auto) { return extremum(LLVM::UMaxOp()); })
      .Case<UMulHiOp>([&](auto) -> Value { return in.mulHiUnsigned(v[0], v[1]); })
      .Default([](Operation *) { return Value(); });
}

Value Elementwise::emitReal(Operation *op, ValueRange v) {
  Location loc = in.getLoc();
  auto contract = LLVM::FastmathFlagsAttr::get(
      b.getContext(), fuseMulAdd ? LLVM::FastmathFlags::contract : LLVM::FastmathFlags::none);
  auto real = [&](auto tag) -> Value {
    auto o = decltype(tag)::create(b, loc, v[0].getType(), v[0], v[1]);
    o.setFastmathFlagsAttr(contract);
    return o;
  };
  auto extremum = [&](auto tag) -> Value { return decltype(tag)::create(b, loc, v[0], v[1]); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddFOp>([&](auto) { return real(LLVM::FAddOp()); })
      .Case<arith::SubFOp>([&](auto) { return real(LLVM::FSubOp()); })
      .Case<arith::MulFOp>([&](auto) { return real(LLVM::FMulOp()); })
      .Case<arith::RemFOp>([&](auto) -> Value {
        bool wide = v[0].getType().isF64();
        return core.callDevice(wide ? "__tile_fmod" : "__tile_fmodf", v[0].getType(), v);
      })
      .Case<arith::DivFOp>([&](auto o) -> Value {
        if (v[0].getType().isF32())
          return isReciprocalOfLarge(o) ? in.rcpApprox(v[1]) : in.divFull(v[0], v[1]);
        return real(LLVM::FDivOp());
      })
      .Case<arith::NegFOp>([&](auto) -> Value { return LLVM::FNegOp::create(b, loc, v[0]); })
      .Case<arith::MinNumFOp>([&](auto) { return extremum(LLVM::MinNumOp()); })
      .Case<arith::MaxNumFOp>([&](auto) { return extremum(LLVM::MaxNumOp()); })
      .Case<arith::MinimumFOp>([&](auto) { return extremum(LLVM::MinimumOp()); })
      .Case<arith::MaximumFOp>([&](auto) { return extremum(LLVM::MaximumOp()); })
      .Case<DivRnOp>([&](auto) -> Value { return in.divRn(v[0], v[1]); })
      .Case<SqrtRnOp>([&](auto) -> Value { return in.sqrtRn(v[0]); })
      .Case<ClampOp>([&](ClampOp o) -> Value {
        if (o.getPropagateNan()) {
          Value low = LLVM::MaximumOp::create(b, loc, v[0], v[1]);
          return LLVM::MinimumOp::create(b, loc, low, v[2]);
        }
        Value low = LLVM::MaxNumOp::create(b, loc, v[0], v[1]);
        return LLVM::MinNumOp::create(b, loc, low, v[2]);
      })
      .Default([](Operation *) { return Value(); });
}

Value Elementwise::emitArith(Operation *op, ValueRange v) {
  Location loc = in.getLoc();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::CmpIOp>([&](auto o) -> Value {
        Value l = v[0], r = v[1];
        return LLVM::ICmpOp::create(b, loc, predicateOf(o.getPredicate()), l, r);
      })
      .Case<arith::CmpFOp>([&](auto o) -> Value {
        return LLVM::FCmpOp::create(b, loc, predicateOf(o.getPredicate()), v[0], v[1]);
      })
      .Case<arith::SelectOp>(
          [&](auto) -> Value { return LLVM::SelectOp::create(b, loc, v[0], v[1], v[2]); })
      .Default([&](Operation *) {
        Value integer = emitInteger(op, v);
        return integer ? integer : emitReal(op, v);
      });
}
