//===- UnrollLoops.cpp - products whose turns share their arithmetic ------===//
//
// A convolution as a product counts its taps: turn t multiplies tap (t / 3, t % 3), of which
// rows, masks and addresses are functions of t / 3 alone or of t % 3 alone. Nine turns have
// three of each. A loop computes them nine times; written out, they are numbers, and what is
// computed of the same numbers is computed once.
//
// How much that is, is counted before: the instructions of all turns get numbers of values, as
// sharing would see them, starting from what the counters are in each turn. A loop of products
// with a constant number of turns is written out where enough of them are not needed. Where
// turns only go on by constant steps nothing is shared, and loops stay loops.
//
//===----------------------------------------------------------------------===//
#include "compiler/UnrollLoops.h"
#include "compiler/FoldValues.h"
#include "compiler/RegisterEstimate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include <map>
#include <vector>

using namespace llvm;

/// Turns that are written out, and instructions of all of them: what fetching them should not cost.
static constexpr unsigned kMostTurns = 16, kMostInstructions = 3000;
/// How many of the instructions are left at most for a loop to be written out.
static constexpr double kLeft = 0.8;
/// And how many each turn saves at least: what counts slots of a ring is less.
static constexpr unsigned kLeastSaved = 16;

namespace {
/// Numbers for the values of turns: equal numbers are equal values.
class Numbering {
public:
  Numbering(const Loop &loop, const DataLayout &layout) : loop(loop), layout(layout) {}

  /// Instructions that are left of so many turns.
  unsigned ofTurns(unsigned turns) {
    SmallVector<const BasicBlock *> blocks(loop.blocks());
    unsigned left = 0;
    for (unsigned turn = 0; turn < turns; ++turn) {
      SmallVector<std::pair<const PHINode *, Number>> carried;
      const BasicBlock *from = turn ? loop.getLoopLatch() : loop.getLoopPreheader();
      for (const PHINode &phi : loop.getHeader()->phis())
        carried.emplace_back(&phi, numberOf(phi.getIncomingValueForBlock(from)));
      for (auto [phi, number] : carried)
        ofThisTurn[phi] = number;
      for (const BasicBlock *block : blocks)
        for (const Instruction &i : *block)
          if (!(isa<PHINode>(i) && block == loop.getHeader()))
            left += isNew(i);
    }
    return left;
  }

private:
  /// A constant, or the index of a value.
  struct Number {
    const Constant *constant = nullptr;
    uintptr_t index = 0;
    uintptr_t key() const { return constant ? reinterpret_cast<uintptr_t>(constant) : index; }
  };

  Number numberOf(const Value *v) {
    if (auto *constant = dyn_cast<Constant>(v))
      return {constant, 0};
    auto known = ofThisTurn.find(v);
    if (known != ofThisTurn.end())
      return known->second;
    // From outside, or from a loop inside that comes back to it.
    auto [it, isNew] = ofOthers.try_emplace(v, 0);
    if (isNew)
      it->second = fresh();
    return {nullptr, it->second};
  }
  /// Odd: no address of a constant.
  uintptr_t fresh() { return 2 * ++count + 1; }

  static bool isFunction(const Instruction &i) {
    return isa<BinaryOperator, CmpInst, CastInst, SelectInst, GetElementPtrInst, ExtractElementInst,
               InsertElementInst, UnaryOperator>(i);
  }

  /// Notes the number of `i`; whether it is to be computed.
  bool isNew(const Instruction &i) {
    if (i.isDebugOrPseudoInst() || i.isTerminator() || isa<ExtractValueInst, InsertValueInst>(i)) {
      ofThisTurn[&i] = {nullptr, fresh()};
      return false;
    }
    if (!isFunction(i)) {
      ofThisTurn[&i] = {nullptr, fresh()};
      return !isa<PHINode>(i);
    }
    std::vector<uintptr_t> expression = {i.getOpcode(), reinterpret_cast<uintptr_t>(i.getType())};
    if (auto *compare = dyn_cast<CmpInst>(&i))
      expression.push_back(compare->getPredicate());
    if (auto *element = dyn_cast<GetElementPtrInst>(&i))
      expression.push_back(reinterpret_cast<uintptr_t>(element->getSourceElementType()));
    SmallVector<Constant *, 4> constants;
    for (const Value *operand : i.operands()) {
      Number number = numberOf(operand);
      if (number.constant)
        constants.push_back(const_cast<Constant *>(number.constant));
      expression.push_back(number.key());
    }
    if (constants.size() == i.getNumOperands())
      if (Constant *folded =
              ConstantFoldInstOperands(const_cast<Instruction *>(&i), constants, layout)) {
        ofThisTurn[&i] = {folded, 0};
        return false;
      }
    auto [it, isFirst] = expressions.try_emplace(std::move(expression), 0);
    if (isFirst)
      it->second = fresh();
    ofThisTurn[&i] = {nullptr, it->second};
    return isFirst;
  }

  const Loop &loop;
  const DataLayout &layout;
  DenseMap<const Value *, Number> ofThisTurn;
  DenseMap<const Value *, uintptr_t> ofOthers;
  std::map<std::vector<uintptr_t>, uintptr_t> expressions;
  uintptr_t count = 0;
};
} // namespace

/// Products in the loop itself, none in loops inside of it.
static bool hasProducts(const Loop &loop, const LoopInfo &loops) {
  bool found = false;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &i : *block)
      if (tile::multiplies(i)) {
        if (loops.getLoopFor(block) != &loop)
          return false;
        found = true;
      }
  return found;
}

static bool sharesArithmetic(const Loop &loop, unsigned turns, const DataLayout &layout) {
  size_t all = 0;
  for (const BasicBlock *block : loop.blocks())
    all += llvm::count_if(*block, [](const Instruction &i) {
      return !i.isDebugOrPseudoInst() && !i.isTerminator() &&
             !isa<PHINode, ExtractValueInst, InsertValueInst>(i);
    });
  if (turns < 2 || turns > kMostTurns || all == 0)
    return false;
  unsigned left = Numbering(loop, layout).ofTurns(turns);
  return left <= kMostInstructions && left + kLeastSaved * turns <= turns * all &&
         left <= kLeft * double(turns * all);
}

PreservedAnalyses tile::UnrollLoops::run(Function &f, FunctionAnalysisManager &fam) {
  auto &loops = fam.getResult<LoopAnalysis>(f);
  SmallVector<Loop *> multiplying;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (hasProducts(*loop, loops))
      multiplying.push_back(loop);
  if (multiplying.empty())
    return PreservedAnalyses::all();
  auto &evolution = fam.getResult<ScalarEvolutionAnalysis>(f);
  auto &dominators = fam.getResult<DominatorTreeAnalysis>(f);
  auto &assumptions = fam.getResult<AssumptionAnalysis>(f);
  auto &target = fam.getResult<TargetIRAnalysis>(f);
  auto &remarks = fam.getResult<OptimizationRemarkEmitterAnalysis>(f);
  bool changed = false;
  for (Loop *loop : multiplying) {
    unsigned turns = evolution.getSmallConstantTripCount(loop);
    if (!loop->isLoopSimplifyForm() || !loop->isSafeToClone() || !loop->getExitingBlock() ||
        !sharesArithmetic(*loop, turns, f.getDataLayout()))
      continue;
    changed |= formLCSSARecursively(*loop, dominators, &loops, &evolution);
    UnrollLoopOptions options = {};
    options.Count = turns;
    options.Force = true;
    changed |= UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions, &target,
                          &remarks, /*PreserveLCSSA=*/true) != LoopUnrollResult::Unmodified;
  }
  if (!changed)
    return PreservedAnalyses::all();
  fam.invalidate(f, PreservedAnalyses::none());
  FunctionPassManager share;
  share.addPass(SimplifyCFGPass());
  share.addPass(FoldValues());
  share.addPass(EarlyCSEPass());
  share.addPass(FoldValues()); // of what is one value now
  share.addPass(ADCEPass());
  share.run(f, fam);
  return PreservedAnalyses::none();
}
