//===- FusedProgram.h - a function of whole tensors, as kernels -----------===//
//
// Made in TensorProgram.cpp; in other forms for some sizes in ProgramForms.cpp; launched in
// TensorLaunch.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_FUNCTIONS_FUSEDPROGRAM_H
#define TILE_COMPILER_FUNCTIONS_FUSEDPROGRAM_H

#include "compiler/functions/ChooseCut.h"
#include "compiler/functions/TensorProgram.h"
#include "frontend/tensors/Trace.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/RowSteps.h"

namespace tile {

class FusedProgram : public TensorProgram {
public:
  FusedProgram();
  /// The same function with more products apart.
  FusedProgram(mlir::MLIRContext &context, mlir::OwningOpRef<mlir::ModuleOp> module,
               std::string mark = "apart;")
      : context(context), module(std::move(module)), mark(std::move(mark)) {}
  std::unique_ptr<eval::EvalError> build(eval::Evaluator &evaluator, const eval::PyValue &function,
                                         const tensors::Signature &signature,
                                         llvm::ArrayRef<tensors::Argument> arguments);
  llvm::Expected<TensorLaunch> launch(unsigned kernel, const graph::Bindings &sizes,
                                      llvm::ArrayRef<TensorPlace> places,
                                      const Target &target) override {
    return launchFor({sizes, places, target}, kernel);
  }
  std::vector<TensorCut> cutsFor(unsigned kernel, const graph::Bindings &sizes,
                                 const Target &target) override;
  llvm::Expected<TensorLaunch> launchCut(unsigned kernel, const graph::Bindings &sizes,
                                         llvm::ArrayRef<TensorPlace> places, const Target &target,
                                         const TensorCut &cut) override {
    return launchFor({sizes, places, target, Fit::Own, nullptr, &cut}, kernel);
  }
  llvm::Expected<TensorLaunch> launchOfClass(unsigned kernel, const graph::Bindings &sizes,
                                             llvm::ArrayRef<TensorPlace> places,
                                             const Target &target, Fit fit,
                                             LaunchClass &calls) override {
    return launchFor({sizes, places, target, fit, &calls}, kernel);
  }
  std::string textOfKernel(unsigned kernel) const override;
  TensorProgram &forSizes(const graph::Bindings &sizes, const Target &target) override;
  llvm::Expected<TensorProgram *> withGaps() override;
  FusedProgram &wholeForSizes(const graph::Bindings &sizes, const Target &target) override;
  FusedProgram &withParts(llvm::ArrayRef<int64_t> parts) override;
  void chooseParts(graph::Bindings &sizes, const Target &target) const override;
  unsigned kernelsIn(unsigned kernel, int64_t parts) const override;
  unsigned mostKernels() override;
  std::string tracedText() const override { return traced; }
  std::string groupedText() const override;

private:
  std::unique_ptr<eval::EvalError> fuse(graph::Chains chains);
  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  std::unique_ptr<FusedProgram> again(llvm::StringRef form);
  bool countsOnNoGaps();
  unsigned mostOwnKernels(); ///< whatever the sizes
  void countUnfused();
  unsigned addBuffer(mlir::Value value, TensorBuffer::Kind kind, int index);
  void describe(const tensors::Signature &signature);
  void describeKernel(graph::KernelOp op);
  void addKernel(graph::KernelOp op, TensorKernel kernel);
  void describeHand(graph::LaunchOp launch, TensorKernel &kernel);
  void shareChanged(graph::KernelOp op);
  void describeResults(mlir::Operation *end);
  /// What a launch is made for; `calls` is null if nobody asks for others that it serves, `cut` if
  /// the model's is taken.
  struct Asked {
    const graph::Bindings &sizes;
    llvm::ArrayRef<TensorPlace> places;
    const Target &target;
    Fit fit = Fit::Own;
    LaunchClass *calls = nullptr;
    const TensorCut *cut = nullptr;
  };
  llvm::Expected<TensorLaunch> launchFor(const Asked &asked, unsigned kernel);
  llvm::Expected<TensorLaunch> launchHand(const Asked &asked, const TensorKernel &kernel);
  FusedProgram *withoutChains();
  FusedProgram *gappedForm();
  FusedProgram &rowsForSizes(const graph::Bindings &sizes, const Target &target);
  const std::vector<unsigned> &ofParts();
  FusedProgram *withRows(const std::vector<unsigned> &which);
  FusedProgram &storedForSizes(const graph::Bindings &sizes, const Target &target);
  FusedProgram &withStored(const std::map<unsigned, OperandsToStore> &which);
  FusedProgram &besideForSizes(const graph::Bindings &sizes, const Target &target);
  void findBeside();
  FusedProgram &withBeside(const std::vector<bool> &which);
  std::unique_ptr<FusedProgram> copy(std::string mark) const;
  void shareInner(llvm::ArrayRef<int64_t> parts);
  std::vector<TensorKernel> sharedKernels(unsigned number, const TensorKernel &whole);
  std::vector<TensorKernel> scatterKernels(unsigned number, const TensorKernel &whole);
  std::vector<TensorKernel> stepsOf(const graph::KernelShape &shape, const TensorKernel &whole);
  void describeStep(TensorKernel &kernel, graph::RowSteps &steps, const graph::KernelShape &shape,
                    const TensorKernel &whole) const;
  void addShape(graph::ReshapeOp op);
  /// The one for a launch of these sizes.
  const graph::KernelShape &shapeFor(unsigned kernel, llvm::ArrayRef<TensorPlace> places,
                                     const graph::Bindings &sizes, std::string &layout);
  const graph::KernelShape &shapeOf(unsigned kernel, llvm::ArrayRef<TensorPlace> places,
                                    std::string &layout, bool joinsRows);
  /// The strides of a buffer as formulas: what is 1 in this launch is so in all of the class.
  graph::Sizes stridesOf(unsigned buffer, const TensorPlace &place, std::string &layout) const;
  std::string moduleText(const graph::KernelShape &shape, const graph::Cut &cut);
  void addCode(TensorLaunch &launch, const TensorKernel &kernel, const graph::KernelShape &shape,
               const graph::Cut &cut, const Target &target);
  bool announcesNext(const graph::Cut &cut, unsigned index, int64_t programs,
                     const Target &target) const;
  std::vector<bool> withoutElements(const TensorKernel &kernel, const graph::Bindings &sizes) const;
  bool cutWithoutPrograms(graph::Cut &cut, Extents &extents, const TensorKernel &kernel,
                          const graph::KernelShape &shape, const graph::Bindings &sizes,
                          const Target &target) const;

  std::unique_ptr<mlir::MLIRContext> ownContext;
  mlir::MLIRContext &context;
  mutable mlir::OwningOpRef<mlir::ModuleOp> module; ///< grouped
  std::string traced;
  /// What a kernel is made of: its operation, the number of that, which no sharing changes, and
  /// the buffers of all its arrays.
  struct Origin {
    graph::KernelOp op;
    unsigned number;
    std::vector<unsigned> buffers;
  };
  std::vector<Origin> origins;                     ///< by kernel
  std::map<unsigned, graph::KernelShape> products; ///< kernels of one product, by kernel
  std::map<unsigned, graph::KernelShape> rows;     ///< those whose rows programs can share
  /// Programs in which inner dimensions are shared, by the parts of each kernel.
  std::map<std::vector<int64_t>, std::unique_ptr<FusedProgram>> shared;
  /// Products that may be side by side in one kernel: the kernels that have them, and that one.
  struct Beside {
    llvm::SmallVector<unsigned> kernels;
    graph::KernelShape joined;
  };
  std::optional<std::vector<Beside>> beside;   ///< nothing: nobody has asked yet
  mlir::OwningOpRef<mlir::ModuleOp> allBeside; ///< with all of them joined
  /// What was asked for last, as runs repeat.
  struct Last {
    graph::Bindings sizes;
    const Target *target = nullptr;
    FusedProgram *program = nullptr;
  };
  Last lastRows, lastStored, lastBeside;
  /// The kernels that combine parts of rows (PartsOfRows.h), once somebody has asked, and programs
  /// in which some store them instead.
  std::optional<std::vector<unsigned>> partsOfRows;
  std::map<std::vector<unsigned>, std::unique_ptr<FusedProgram>> ofRows;
  /// Programs in which operands are stored before their products, by kernel.
  std::map<std::map<unsigned, OperandsToStore>, std::unique_ptr<FusedProgram>> stored;
  /// Programs in which some are.
  std::map<std::vector<bool>, std::unique_ptr<FusedProgram>> joined;
  std::vector<graph::KernelShape> inParts; ///< kernels that share their rows among programs
  std::vector<graph::KernelShape> chained; ///< kernels of chains of products
  std::string mark; ///< of keys: what distinguishes them from another program's
  graph::Chains chains = graph::Chains::All; ///< that it may have
  /// What to make other forms of, where there are some.
  mlir::OwningOpRef<mlir::ModuleOp> unfused;
  tensors::Signature signature;
  std::vector<tensors::HandKernel> launches; ///< by handle
  /// Where there are chains: the program without them; first without those that have no softmax,
  /// if there are some.
  std::unique_ptr<FusedProgram> apart;
  /// Where arrays of the caller's are seen in other shapes: that for arrays with gaps.
  std::unique_ptr<FusedProgram> gapped;
  bool mayHaveGaps = false; ///< arrays of the caller's
  /// Why there is none of those two.
  std::unique_ptr<eval::EvalError> formError, gapError;
  llvm::DenseMap<mlir::Value, unsigned> bufferOf;
  std::map<std::string, graph::KernelShape> shapes; ///< by kernel and layout
  /// By the launch's key.
  std::map<std::string, std::shared_ptr<const frontend::SourceFile>> sources;
};

/// As explanations list it; empty: what costs nothing.
std::string nameOfOperation(mlir::Operation &op);
/// Of all elements.
graph::Size bytesOfValue(mlir::Value value);
std::string textOf(mlir::ModuleOp module, bool located);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_FUSEDPROGRAM_H
