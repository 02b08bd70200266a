//===- Lowering.h - from tile IR to instructions --------------------------===//
//
// One walk over the function in program order. SSA values map to registers;
// operations that only rename elements (reshape, pointer casts, layout
// conversions) map their result to the operand's register. Registers are
// placed in the frame at the end, by live ranges, so that values that do not
// live together share memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_LOWERING_H
#define TILE_RUNTIME_INTERP_LOWERING_H

#include "ir/TileDialect.h"
#include "runtime/interp/Kernels.h"
#include <optional>

namespace tile::interp {

using RegId = uint32_t;

/// What a register holds.
struct Shape {
  DType type = DType::I32;
  uint32_t count = 1;
  bool isPointer = false;
  unsigned bytes() const { return byteSize(type); }
};

class Lowering {
public:
  Lowering(ProgramImpl &program, const LoadOptions &options, std::string &error)
      : program(program), checked(options.check), algebraic(options.algebraic), error(error),
        code(&program.code) {}
  bool run(mlir::func::FuncOp function);

private:
  using Op = mlir::Operation;
  using Value = mlir::Value;

  //--- Lowering.cpp: values, registers, the frame --------------------------//
  std::optional<Shape> describe(mlir::Type type);
  bool refuse(Op *op, const llvm::Twine &why);
  RegId makeRegister(uint64_t bytes);
  RegId makeRegister(const Shape &shape) {
    return makeRegister(uint64_t(shape.bytes()) * shape.count);
  }
  RegId makeConstant(llvm::ArrayRef<uint8_t> bytes);
  RegId define(Value value); ///< a fresh register for `value`
  RegId use(Value value);    ///< its register (inside a combiner: a capture)
  void alias(Value value, Value same) { values[value] = use(same); }
  /// Keeps a register alive up to the next instruction.
  void touch(RegId reg);
  /// A frame offset stored outside of an instruction, filled in at the end.
  void refer(uint32_t &field, RegId reg);
  Instruction &emit(Kernel kernel, uint32_t n, RegId dst, RegId a = kNone, RegId b = kNone,
                    RegId c = kNone);
  template <class T> T *makeAux() {
    auto owned = std::make_unique<T>();
    T *raw = owned.get();
    program.auxiliary.push_back(std::move(owned));
    return raw;
  }
  uint32_t placeOf(mlir::Location loc);
  /// While it lives, instructions are counted as one piece of code that runs as a whole, behind an
  /// instruction that accounts for it: `times` over, if that register is given.
  class Counted {
  public:
    explicit Counted(Lowering &lowering, RegId times = kNone);
    ~Counted();

  private:
    friend class Lowering;
    Lowering &lowering;
    std::vector<Instruction> &code;
    uint32_t at;
    uint64_t work = 0, ofLane = 0;
    Counted *outer;
  };
  /// Work beside that of a result's elements.
  void addWork(uint64_t elements) { counted->work += elements; }
  bool assignOffsets();
  uint32_t here() const { return uint32_t(code->size()); }

  //--- LowerControl.cpp ----------------------------------------------------//
  bool lowerBody(mlir::Region &region);
  bool lowerBlock(mlir::Block &block); ///< without its terminator
  bool lowerOp(Op *op);
  bool lowerFor(Op *op);
  bool lowerWhile(Op *op);
  bool lowerIf(Op *op);
  bool lowerExecuteRegion(Op *op);
  bool lowerIndexSwitch(Op *op);
  bool lowerCall(Op *op);
  bool lowerReturn(Op *op);
  bool lowerBranch(Op *op);
  /// Runs a single-block region and copies what it yields to `results`.
  bool lowerYielding(mlir::Region &region, llvm::ArrayRef<RegId> results);
  bool lowerBranchOf(mlir::Region &region, llvm::ArrayRef<RegId> results);
  /// Copies as if all at once: a source may be another copy's destination.
  void copyValues(mlir::ValueRange from, llvm::ArrayRef<RegId> to);
  uint32_t emitJump(Control control, RegId condition = kNone);
  void branchTo(mlir::Block *block, mlir::ValueRange operands);

  //--- LowerElementwise.cpp ------------------------------------------------//
  bool lowerElementwise(Op *op, bool &known);
  bool lowerCast(Op *op, bool &known);
  bool lowerConstant(Op *op);
  bool lowerPoison(Op *op);
  bool lowerSelect(Op *op);
  bool lowerExtended(Op *op);
  bool lowerSinCos(Op *op);
  bool emitElementwise(Op *op, Kernel kernel, const void *aux = nullptr, int64_t imm = 0);
  void checkDivisor(Op *op);

  //--- LowerAlgebra.cpp ----------------------------------------------------//
  /// What the algebraic mode makes of an operation on floats; nothing: it is none.
  std::optional<bool> lowerAlgebraic(Op *op);
  bool lowerFunction(Op *op, llvm::StringRef name, mlir::ValueRange operands);
  bool lowerExponential(Op *op);
  bool lowerRingConstant(mlir::arith::ConstantOp constant);
  bool lowerRingDot(DotOp dot, DotInfo *info);
  Kernel ringCombine(llvm::StringRef name, bool isScan, DType type);
  AtomicOp atomicOpOf(AtomicKind kind) const;

  //--- LowerShape.cpp ------------------------------------------------------//
  bool lowerShape(Op *op, bool &known);
  /// Applies the movement of a shape operation to another register with the
  /// operand's shape: its result register, or nothing if `op` is none.
  std::optional<RegId> moveLike(Op *op, RegId src, unsigned bytes);
  void checkHint(HintOp hint, const Shape &shape);
  void emitPermute(RegId dst, RegId src, unsigned bytes, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> strides);

  //--- LowerMemory.cpp -----------------------------------------------------//
  bool lowerMemory(Op *op, bool &known);
  bool lowerAddPtr(Op *op);
  bool lowerLoad(Op *op);
  bool lowerStore(Op *op);
  bool lowerAtomic(Op *op);
  AccessInfo *makeAccess(Op *op, Value pointer, Kernel inner = nullptr);
  bool lowerDebug(Op *op, bool &known);
  /// The value computed without wrapping, as i64, for address arithmetic.
  RegId exact(Value value, llvm::DenseMap<Value, RegId> &done, unsigned depth = 0);
  bool mayWrap(Value value, unsigned depth = 0);
  Value pointerRoot(Value pointer, llvm::SmallPtrSetImpl<void *> &visited);

  //--- LowerElement.cpp ----------------------------------------------------//
  bool lowerElementOps(Op *op, bool &known);
  bool lowerDescriptor(Op *op);
  bool lowerDescriptorAccess(Op *op, Value base, RegId pointers, RegId mask, const Shape &shape,
                             llvm::ArrayRef<int64_t> block);
  bool lowerGather(Op *op);
  bool lowerHistogram(Op *op);
  bool lowerMap(Op *op);
  bool lowerAssume(Op *op);

  //--- LowerDoubt.cpp ------------------------------------------------------//
  /// What has made lanes that nobody may use; `at` null: nothing so far.
  struct DoubtOrigin {
    mlir::LocationAttr at;
    FindingKind kind = FindingKind::ShiftTooFar;
  };
  /// Lanes that a shift too far or a division by zero has made, and the last that did.
  struct Doubt {
    RegId lanes = kNone;
    DoubtOrigin origin;
  };
  void lookForDoubt(mlir::func::FuncOp function);
  RegId makeDoubt(RegId of, uint32_t count, DoubtOrigin origin);
  void carryDoubt(Value value, RegId reg);
  void copyDoubts(mlir::ValueRange from, llvm::ArrayRef<RegId> sources, llvm::ArrayRef<RegId> to);
  const Doubt *doubtOf(Value value) const;
  void followDoubt(Op *op);
  void reduceDoubt(Op *op);
  void mergeDoubts(Op *op, RegId mine, llvm::ArrayRef<RegId> from, uint32_t count);
  void reportDoubt(Value value, Value mask = {});
  void reportDoubts(Op *op);

  //--- LowerCombine.cpp ----------------------------------------------------//
  bool lowerDot(Op *op);
  bool lowerCombine(Op *op);
  Kernel fastCombine(Op *op);

  struct Register {
    uint64_t bytes;
    uint32_t first = ~0u, last = 0;
    bool pinned = false, constant = false;
    uint32_t offset = 0;
  };
  struct Loop {
    uint32_t begin, end;
  };
  /// The combiner being lowered, if any.
  struct Combiner {
    CombineInfo *info;
    mlir::Region *region;
    llvm::DenseMap<Value, RegId> captured;
    struct Capture {
      unsigned bytes;
      RegId src, dst;
    };
    llvm::SmallVector<Capture> captures;
    uint32_t lanes = 1;
  };
  struct CombineBuffers;
  bool lowerCombiner(Op *op, Combiner &inner, llvm::MutableArrayRef<CombineBuffers> buffers);
  /// Where the function being expanded returns to.
  struct Activation {
    mlir::func::FuncOp function;
    llvm::SmallVector<RegId> results;
    llvm::SmallVector<uint32_t> returns; ///< jumps to patch
  };

  ProgramImpl &program;
  const bool checked, algebraic;
  std::string &error;
  std::vector<Instruction> *code;
  std::vector<Register> registers;
  std::vector<Loop> loops;
  llvm::DenseMap<Value, RegId> values;
  llvm::DenseMap<Value, bool> wrapping; ///< what mayWrap has found
  llvm::DenseMap<Value, RegId> wrapped; ///< checked: lanes whose address wrapped
  llvm::DenseMap<RegId, Doubt> doubts;  ///< checked: of the values in a register
  bool watchesDoubt = false;
  std::vector<std::pair<uint32_t *, RegId>> references;
  llvm::DenseMap<mlir::Location, uint32_t> placeIndex;
  Combiner *combiner = nullptr;
  Counted *counted = nullptr; ///< the innermost
  std::vector<Activation> activations;
  llvm::DenseMap<mlir::Block *, uint32_t> blockStart;
  llvm::SmallVector<std::pair<uint32_t, mlir::Block *>> blockJumps;
  mlir::Operation *current = nullptr;
};

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_LOWERING_H
