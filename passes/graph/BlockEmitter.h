//===- BlockEmitter.h - operations of a kernel on blocks ------------------===//
//
// Values are blocks of one of four forms: numbers, columns (one for each row), rows, and
// both. With one row a program, what has no columns is a number. Which rows and columns
// a block has is decided by who uses this.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_BLOCKEMITTER_H
#define TILE_PASSES_GRAPH_BLOCKEMITTER_H

#include "passes/graph/Elements.h"
#include "passes/graph/KernelShape.h"

namespace tile::graph {

/// The function that a kernel becomes, with its parameters.
class KernelFrame {
public:
  /// Adds the function to the module; what is built goes into its body.
  KernelFrame(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module);

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value number(mlir::Type type, int64_t value);
  mlir::Value sizeValue(const Size &size);
  /// Where a linear index is along each of several sizes.
  llvm::SmallVector<mlir::Value> partsOf(mlir::Value linear, llvm::ArrayRef<Size> along);
  /// `count` indices from `start` on; null: from 0.
  mlir::Value range(int64_t count, mlir::Value start);

  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type index;            ///< of row and column indices
  std::vector<bool> absent;    ///< arrays without elements; none: all have some
  std::vector<bool> ofNothing; ///< results that are combined of no elements
  bool hasEmptySize;           ///< a divisor of places may be 0
  bool isAbsent(unsigned array) const { return array < absent.size() && absent[array]; }
  llvm::SmallVector<mlir::Value> arrays; ///< pointers and numbers, by array; null: not used
  llvm::SmallVector<mlir::Value> sums;   ///< pointers to what programs share
  const KernelShape &shape;
  llvm::SmallVector<std::pair<Size, mlir::Value>> sizes;
};

class BlockEmitter {
public:
  using Form = KernelShape::Form;
  BlockEmitter(KernelFrame &frame, const KernelShape &shape, int64_t rows, int64_t block)
      : frame(frame), shape(shape), op(shape.op), b(frame.b), loc(frame.loc), index(frame.index),
        numRows(rows), numColumns(block) {}

  /// The block's rows; `mask` is null if all are there. Parts: along each of the shape's.
  void setRows(mlir::Value index, mlir::Value mask, llvm::ArrayRef<mlir::Value> parts);
  void setColumns(mlir::Value index, mlir::Value mask, llvm::ArrayRef<mlir::Value> parts);
  /// As these want them: indices as rows, and as columns, of blocks.
  mlir::Value asRows(mlir::Value line);
  mlir::Value asColumns(mlir::Value line);
  mlir::Value below(mlir::Value indices, const Size &end);

  mlir::Type blockType(Form form, mlir::Type element) const;
  mlir::Value spread(mlir::Value value, Form from, Form to);
  /// A value, or what an operation reads.
  mlir::Value emit(mlir::Value value);
  mlir::Value get(mlir::OpOperand &use, Form &form);
  void store(unsigned index);
  /// Which elements of a block are there; null: all.
  mlir::Value maskOf(Form form);
  /// A block that a product takes, as arrays of type `common` hold it. What is computed of
  /// nothing, where `mask` is off, adds nothing.
  mlir::Value operandBlock(mlir::OpOperand &use, mlir::Type common, mlir::Value mask, Form masked);
  mlir::Value reduceBlock(ReduceOp op, mlir::Value block, Form form);
  mlir::Value reduceBlock(ReduceKind kind, mlir::Type element, mlir::Value block, Form form);
  /// The block with nothing behind the end of its rows that would count.
  mlir::Value cleared(ReduceOp op, mlir::Value block, Form form);
  mlir::Value cleared(ReduceKind kind, mlir::Type element, mlir::Value block, Form form);
  /// Whether `use` reads the array that `maximum` is of, which is loaded as -inf there.
  bool isLowestOutside(mlir::OpOperand &use, ReduceOp maximum) const;
  /// Fills a loop: what changes from turn to turn is forgotten.
  void enterLoop(mlir::Operation *op, bool changesRows = false);
  void leaveLoop();
  void know(mlir::Value value, mlir::Value emitted) { whole[value] = emitted; }
  /// Until the loop ends: what is known changes from turn to turn, and with it all of `users`.
  void knowInLoop(mlir::Value value, mlir::Value emitted, llvm::ArrayRef<mlir::Value> users);
  /// What `graph.partial` takes, a block of it with nothing behind the last row.
  mlir::Value partialBlock(PartialOp op, Form &form);
  /// One of the parts: of a block that was added up, all of whose rows become one.
  void storePartial(unsigned index, mlir::Value block, Form form);
  /// The same where it lies in memory: combined with what is there, if there is something.
  void addPartial(unsigned index, mlir::Value block, Form form, mlir::Value isFirst);

  /// Until the loop ends: what a scan adds to its chunks, the sum of those before.
  void carry(ScanOp op, mlir::Value before) { carried[op] = {before, {}}; }
  /// That for the next chunk.
  mlir::Value carriedOn(ScanOp op);

  bool streams = false;     ///< what is read in rows and columns is not read again
  mlir::Value part;         ///< the program's part of what is combined in parts
  mlir::Value firstColumns; ///< i1: the block has column 0; null: it always does
  /// In the place of the one array that the shape reads, and of its strides along the last of its
  /// rows and columns; null: they are the shape's.
  mlir::Value arrayInstead, rowStrideInstead, columnStrideInstead;

private:
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value number(mlir::Type type, int64_t value) { return frame.number(type, value); }
  mlir::Value sizeValue(const Size &size) { return frame.sizeValue(size); }
  mlir::Value all(mlir::Value x, Form fx, mlir::Value y, Form fy, Form &form);

  mlir::Value widen(mlir::Value value);
  mlir::Value offset(llvm::ArrayRef<mlir::Value> parts, llvm::ArrayRef<Size> strides, bool blocks,
                     mlir::Value last = {});
  mlir::Value pointers(const Access &access, Form form);
  mlir::Value storedBlock(mlir::Value value);
  void storeParts(JoinOp join, mlir::Value whole, mlir::Value mask, Form form, mlir::Value from);
  mlir::Value onlyWhereFirst(const Access &access, Form form, mlir::Value mask, Form &masked);
  mlir::Value load(unsigned index);
  std::optional<ReduceKind> directKind(unsigned index) const;

  mlir::Value emitOp(mlir::Operation *op, Form form);
  mlir::Value combineRows(ReduceKind kind, mlir::Type element, mlir::Value block, Form form);
  mlir::Value partPointers(unsigned index, Form form);
  mlir::Value stepsOf(mlir::Value at, const Size &stride);
  mlir::Value emitGather(GatherOp op, Form form);
  mlir::Value emitIndex(const Access &access, Form form);
  mlir::Value emitMap(MapOp op, Form form);
  mlir::Value emitReduce(ReduceOp op);
  mlir::Value emitScan(ScanOp op, Form form);
  void fillCombine(mlir::Region &combine, ReduceKind kind, mlir::Type element);

  KernelFrame &frame;
  const KernelShape &shape;
  KernelOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type index;
  int64_t numRows, numColumns;
  mlir::Value row, rowMask, column, columnMask;
  llvm::SmallVector<mlir::Value> rowParts, columnParts;
  /// What is known, and what is known in the loop that is being filled.
  llvm::DenseMap<mlir::Value, mlir::Value> whole, chunk;
  llvm::DenseMap<unsigned, mlir::Value> wholeLoads, chunkLoads;
  /// Sums before the chunk, and with it.
  llvm::DenseMap<mlir::Operation *, std::pair<mlir::Value, mlir::Value>> carried;
  mlir::Operation *loop = nullptr;
  bool rowsChange = false;                 ///< in the loop, not the columns
  llvm::SmallDenseSet<mlir::Value> moving; ///< besides those that change by their form
  bool changes(Form form) const { return loop && (rowsChange ? form.row : form.column); }
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_BLOCKEMITTER_H
