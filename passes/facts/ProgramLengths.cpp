//===- ProgramLengths.cpp - how long programs run --------------------------===//
#include "passes/facts/ProgramLengths.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Neighbours.h"
#include "passes/facts/Reach.h"
#include "passes/facts/StridedAccess.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

using IsDifferent = llvm::function_ref<bool(Value)>;

/// Whether from `lower` to `upper` it is as far in all programs, but for an end that is one for
/// all.
static bool isOneLength(Value lower, Value upper, IsDifferent differs) {
  if (auto least = upper.getDefiningOp<arith::MinSIOp>())
    return (isOneLength(lower, least.getLhs(), differs) && !differs(least.getRhs())) ||
           (isOneLength(lower, least.getRhs(), differs) && !differs(least.getLhs()));
  StridedAnalysis analysis;
  Polynomial length = analysis.scalar(upper) - analysis.scalar(lower);
  return llvm::none_of(length.terms(), [&](const Polynomial::Term &term) {
    return llvm::any_of(term.factors, differs);
  });
}

bool tile::hasUnequalLoops(func::FuncOp kernel) {
  SmallVector<Neighbours, 3> axes;
  for (int32_t axis = 0; axis < 3; ++axis)
    axes.emplace_back(kernel, axis);
  auto differs = [&](Value v) {
    return llvm::any_of(axes, [&](const Neighbours &along) { return along.differ(v); });
  };
  return kernel
      .walk([&](cta::TmaLoadOp load) {
        auto loop = load->getParentOfType<scf::ForOp>();
        return !loop || isOneLength(loop.getLowerBound(), loop.getUpperBound(), differs)
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Which way lengths change
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of a number from one program to the next.
enum class Trend { Same, Up, Down, Unknown };

class Trends {
public:
  Trends(func::FuncOp kernel, int32_t axis) : along(kernel, axis), axis(axis) {}
  Trend of(Value v, unsigned depth = 0);
  /// Of how far it is from `lower` to `upper`.
  Trend ofLength(Value lower, Value upper, unsigned depth = 0);

private:
  Trend compute(Value v, unsigned depth);
  Trend ofPolynomial(const Polynomial &p);

  Neighbours along;
  int32_t axis;
  StridedAnalysis strided;
};
} // namespace

/// Of a sum, of the smaller of two, of one of two.
static Trend join(Trend a, Trend b) {
  if (a == Trend::Same || a == b)
    return b;
  return b == Trend::Same ? a : Trend::Unknown;
}

static Trend reversed(Trend t) {
  return t == Trend::Up ? Trend::Down : t == Trend::Down ? Trend::Up : t;
}

Trend Trends::of(Value v, unsigned depth) {
  if (!along.differ(v))
    return Trend::Same;
  return depth > reach::kFacts ? Trend::Unknown : compute(v, depth + 1);
}

Trend Trends::compute(Value v, unsigned depth) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return Trend::Unknown;
  auto operand = [&](unsigned i) { return of(op->getOperand(i), depth); };
  return llvm::TypeSwitch<Operation *, Trend>(op)
      .Case<ProgramIdOp>(
          [&](auto id) { return int32_t(id.getAxis()) == axis ? Trend::Up : Trend::Same; })
      .Case<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return join(operand(0), operand(1)); })
      .Case<arith::SubIOp>([&](auto) { return join(operand(0), reversed(operand(1))); })
      .Case<arith::MulIOp>([&](arith::MulIOp product) {
        APInt factor;
        bool turns = matchPattern(product.getRhs(), m_ConstantInt(&factor)) && factor.isNegative();
        Trend both = join(operand(0), operand(1));
        return turns ? reversed(both) : both;
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp, arith::RemSIOp, arith::RemUIOp, arith::ShLIOp, arith::ShRSIOp,
            arith::ShRUIOp, arith::AndIOp>(
          [&](auto) { return operand(1) == Trend::Same ? operand(0) : Trend::Unknown; })
      .Case<arith::SelectOp>([&](auto) { return join(operand(1), operand(2)); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, HintOp>(
          [&](auto) { return operand(0); })
      .Case<scf::IfOp>([&](scf::IfOp branch) {
        unsigned number = cast<OpResult>(v).getResultNumber();
        return join(of(branch.thenYield().getOperand(number), depth),
                    of(branch.elseYield().getOperand(number), depth));
      })
      .Default(Trend::Unknown);
}

Trend Trends::ofPolynomial(const Polynomial &p) {
  Trend sum = Trend::Same;
  for (const Polynomial::Term &term : p.terms()) {
    Trend product = Trend::Same;
    for (Value factor : term.factors)
      product = join(product, of(factor));
    sum = join(sum, term.coefficient < 0 ? reversed(product) : product);
  }
  return sum;
}

Trend Trends::ofLength(Value lower, Value upper, unsigned depth) {
  if (depth < reach::kFacts) {
    auto least = upper.getDefiningOp<arith::MinSIOp>();
    if (least)
      return join(ofLength(lower, least.getLhs(), depth + 1),
                  ofLength(lower, least.getRhs(), depth + 1));
    if (auto most = lower.getDefiningOp<arith::MaxSIOp>())
      return join(ofLength(most.getLhs(), upper, depth + 1),
                  ofLength(most.getRhs(), upper, depth + 1));
  }
  return ofPolynomial(strided.scalar(upper) - strided.scalar(lower));
}

static bool loadsOrMultiplies(scf::ForOp loop) {
  return loop
      .walk([](Operation *op) {
        return isa<LoadOp, cta::TmaLoadOp, DotOp, cta::WarpgroupDotOp>(op) ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tile::growAlong(func::FuncOp kernel, int32_t axis) {
  Trends trends(kernel, axis);
  Trend all = Trend::Same;
  kernel.walk([&](scf::ForOp loop) {
    if (loadsOrMultiplies(loop))
      all = join(all, trends.ofLength(loop.getLowerBound(), loop.getUpperBound()));
  });
  return all == Trend::Up;
}
