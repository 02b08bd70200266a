//===- FormSearch.h - the forms that a kernel is laid out in --------------===//
//
// tile-fit-shared-memory lays a kernel out as it was asked for, and in other forms as long as it
// does not fit a thread block, or another may be the faster one. FormSearch.cpp says when there
// is something to try, FormChoices.cpp which of two forms stays; what is compared of them is
// counted in passes/facts/FormFacts.h.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FORMSEARCH_H
#define TILE_PASSES_FORMSEARCH_H

#include "ir/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/facts/Refusals.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace tile {

struct ProductCycles;

inline constexpr int32_t kWarpsOfWarpgroup = int32_t(kWarpgroupThreads / kLanes);

/// What was asked for, but that all warps share every block.
KernelAttr cooperative(KernelAttr wanted);
/// The same kernel without warps that only copy.
KernelAttr withoutRoles(KernelAttr wanted);
KernelAttr withStages(KernelAttr wanted, int32_t stages);

/// The module, in which the form stands that was made last. `before` is what was asked for, from
/// which others are made; null where there is only one.
class FormSearch {
public:
  using Run = llvm::function_ref<llvm::LogicalResult(mlir::ModuleOp)>;
  /// `run` lays out what the module asks for.
  FormSearch(mlir::ModuleOp module, Run run) : module(module), run(run) {}

  /// What is told of a form.
  struct Made {
    KernelAttr wanted;
    std::vector<mlir::Diagnostic> remarks;
    llvm::SmallSetVector<Reason, 2> lost;
  };

  /// The best form of what is asked for in the module, which is `before`, or null where there is
  /// only one.
  llvm::LogicalResult make(mlir::OwningOpRef<mlir::ModuleOp> &before, Made &made);
  /// One stage means that each turn of a loop over products waits for its own operands, as a
  /// author does well to ask where more stages cost registers. Here they cost shared memory:
  /// with as many as there are by default where the products of no more than half of the
  /// warpgroups go.
  llvm::LogicalResult copyAhead(mlir::OwningOpRef<mlir::ModuleOp> &before, Made &made);
  /// Warps that would have more in blocks alone than their threads have registers would keep the
  /// rest in memory. Twice as many hold half of it each, where no fewer of them are on a
  /// multiprocessor at once, and where what several of them hold is less than what would be in
  /// memory.
  llvm::LogicalResult spread(mlir::ModuleOp asked, mlir::OwningOpRef<mlir::ModuleOp> &before,
                             Made &made);
  /// Half of the warps, as long as the other half only repeats what they do, in a kernel that is
  /// `asked` for.
  llvm::LogicalResult dropIdleWarps(mlir::ModuleOp asked, mlir::OwningOpRef<mlir::ModuleOp> &before,
                                    Made &made);

private:
  // Which form stays.
  /// Where stages are as many as were asked for, one slot less for what threads copy, if that lets
  /// more programs in: these two.
  llvm::LogicalResult chooseSlots(mlir::ModuleOp before, Made &made);
  /// A slot more lets products of one turn run under the next. It is no more than others copy ahead
  /// that have no room for it: without it where more warpgroups compute at once then.
  llvm::LogicalResult chooseSpares(mlir::ModuleOp before, Made &made);
  /// A slot less for what threads copy and read into registers, first thing in a turn: it starts a
  /// little later, and takes registers. Where so many more programs have room then that they make
  /// up for it, and all of them together are still few warps.
  llvm::LogicalResult chooseTight(mlir::ModuleOp before, Made &made);
  /// One slot for each thing that threads copy, filled again behind what reads it: where so many
  /// more programs have room then that their copies are under way under each other, and few have
  /// with more.
  llvm::LogicalResult chooseRefilled(mlir::ModuleOp before, Made &made);
  /// What is exchanged behind loops over products takes shared memory that their copies could not
  /// use meanwhile. In parts, one after the other, where that lets more warpgroups in.
  llvm::LogicalResult chooseExchanges(mlir::ModuleOp before,
                                      std::vector<mlir::Diagnostic> &remarks);
  /// Warps that only copy take registers from those that compute: fewer programs fit a
  /// multiprocessor, and it is the warpgroups of all of them together that keep its tensor
  /// cores busy. Without them where that leaves more warpgroups, up to as many as are enough; or as
  /// many, where no loop reads what they bring, or threads hold more of scores than roles leave
  /// them.
  llvm::LogicalResult chooseRoles(mlir::ModuleOp before, std::vector<mlir::Diagnostic> &remarks);
  /// What four warps hold of tall blocks, eight hold in half the registers each: where those keep
  /// other programs away, twice the warps are more warpgroups on a multiprocessor. Each multiplies
  /// the rows of one instruction then, and reads of the right operand as much as before. As many
  /// warpgroups are better, too, if their products can run under arithmetic only then, or if four
  /// warps would have too much in registers and eight do not take much longer for the same. Where
  /// arithmetic takes longer than products, programs that do not wait for each other hide more of
  /// it than warpgroups of one program do. Both have the stages and slots that are best for them.
  llvm::LogicalResult chooseWarps(mlir::ModuleOp before, Made &made);
  /// Blocks that threads copy ahead take shared memory for each stage. Fewer stages than were asked
  /// for where that lets more warpgroups in, up to as many as are enough: what is in flight is the
  /// same for more programs with shallow pipelines. Rings count programs themselves (RingStages).
  llvm::LogicalResult chooseStages(mlir::ModuleOp before, Made &made);
  /// Programs of one warpgroup each that share a thread block share what they copy, and the
  /// registers that its producer does not need: where no fewer of them compute on a multiprocessor
  /// so than in thread blocks of their own, as many as registers and shared memory have room for.
  /// Only for launchers of ours, if it is not asked for: others count programs as thread blocks,
  /// and these have another form for small grids.
  llvm::LogicalResult choosePrograms(mlir::ModuleOp before, Made &made);

  // What a form needs of later steps.
  /// One warpgroup that computes beside a warp that copies starts with the registers it has: the
  /// assembler, that takes what it can for one program, is told of how many there are.
  void relyOnRoles();
  /// Two warpgroups that meet in each turn run in step, and wait for their products together: one
  /// program's arithmetic runs under the products of another, if there are two. The assembler, that
  /// does not know it, takes a few registers more than they leave.
  void keepTwoPrograms();
  /// Two warpgroups a program are more than there were only if so many programs share a
  /// multiprocessor: the assembler, which does not know, takes more registers than that leaves
  /// where it can.
  void relyOn(int64_t programs);
  /// Of a launch with no more than so many programs for each multiprocessor none waits for room:
  /// the deeper form is the faster one.
  void fewGain(int64_t programs);
  /// This form runs `together` programs on a multiprocessor, where the deeper one runs `apart`.
  void moreAtOnce(int64_t apart, int64_t together);

  /// Warpgroups of all programs from which on more do not help: one for each tensor core, and
  /// more where arithmetic stands between products that are over long before it.
  int64_t warpgroupsWanted();
  /// Twice as many warps as products of warps took `few` cycles by may do some of it twice, or
  /// share an inner dimension and add up what each has: what part of them does the rest.
  double partOfUse(const ProductCycles &few);
  bool fits() const;
  /// Runs the steps; what they remark replaces what is in `remarks`, errors go on.
  llvm::LogicalResult tryWith(llvm::StringRef attribute, mlir::ModuleOp before, Made &made,
                              llvm::function_ref<bool()> isBetter);
  llvm::LogicalResult attempt(std::vector<mlir::Diagnostic> &remarks);
  /// Takes back what has been made of it.
  void restore(mlir::ModuleOp before);

  mlir::ModuleOp module;
  Run run;
};

} // namespace tile

#endif // TILE_PASSES_FORMSEARCH_H
