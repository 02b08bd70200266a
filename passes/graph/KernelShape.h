//===- KernelShape.h - a group of operations as rows and columns ----------===//
//
// Every kernel goes over rows and columns. Columns are what is reduced; in a kernel without
// reductions the innermost dimensions. Where something is combined in parts, rows are what
// it is combined along, and each program goes through its part of them. Dimensions that lie behind
// each other in all arrays are one. What a kernel is cut into for a launch (`Cut`) is decided when
// sizes are known; everything here is formulas.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_KERNELSHAPE_H
#define TILE_PASSES_GRAPH_KERNELSHAPE_H

#include "passes/graph/Space.h"
#include "target/WarpRoles.h"

namespace tile::graph {

/// One array as a kernel reads or writes it.
struct Access {
  unsigned array = 0; ///< of the kernel's inputs, then its outputs
  DimMap map;
  Sizes rowStrides, columnStrides; ///< in elements, along each of the shape's; 0: not along it
  bool hasRow = false, hasColumn = false;
};

struct ProductShape;

struct KernelShape {
  KernelOp op;
  Space space;
  bool reduces = false;
  bool backwards = false;    ///< scans go from the end of each row
  bool joinsRows = false;    ///< of a product: all of the rows are a block's
  std::optional<Size> parts; ///< programs that share the rows, if something is combined in parts
  Sizes rows, columns;       ///< outermost first; sizes of 1 are left out
  std::vector<Access> loads, stores;
  llvm::DenseMap<mlir::Value, Access> indices; ///< of each `graph.index`, as if it were loaded
  llvm::DenseMap<mlir::OpOperand *, unsigned> loadOf; ///< each use of an input
  std::vector<Sizes> stridesOf;                       ///< of each input, in elements
  Sizes sizes;                                        ///< arguments of the kernel, behind arrays
  /// If a matrix product is among the operations: rows and columns are those of its result,
  /// the last of the rows a block's and those before it the program's, but where they are joined.
  std::shared_ptr<const ProductShape> product;
  /// Of products side by side (SideBySide.h) the others: each with its columns, what it is
  /// multiplied with and what becomes of it. Arrays and sizes are those of the kernel.
  std::vector<KernelShape> beside;

  bool isNumber(unsigned input) const;
  /// From one part of what is joined to the next, in elements of the kernel's result.
  Size stepOf(JoinOp join) const;
  /// A size as an argument and a number: `argument + number`, or `number - argument`.
  struct Beside {
    size_t argument;
    int64_t number;
    bool isSubtracted;
  };
  /// Nothing if none of the arguments is that far from it, or one is the size.
  std::optional<Beside> sizeBeside(const Size &size) const;
  /// Whether addresses or ends of rows depend on a size, so that what divides it counts.
  bool aligns(const Size &size) const;
  /// Whether a value changes from row to row, from column to column.
  struct Form {
    bool row = false, column = false;
  };
  llvm::DenseMap<mlir::Value, Form> forms;
  /// Bytes that are read and written at least: each array once.
  Size bytesRead() const, bytesWritten() const;
};

/// What lies in front of the second product of a chain.
struct ChainShape {
  /// Of a first product: rows and depth; depth and inner columns.
  struct First {
    KernelShape left, right;
    Size depth; ///< what it adds up
  };
  Chain of;
  std::vector<First> firsts;
};

/// What becomes the operands of a matrix product, as blocks of their own.
struct ProductShape {
  MatmulOp op;
  KernelShape left, right; ///< rows and inner columns; inner rows and columns
  Size inner;
  /// Other products of the same left operand, with their right ones.
  std::vector<std::pair<MatmulOp, KernelShape>> others;
  std::shared_ptr<const ChainShape> chain; ///< if `left` is powers of another product
};

/// `strides`: of each input, in elements, one a dimension; none: it is contiguous. `joinsRows`: of
/// a product that can (canJoinRows).
KernelShape shapeOf(KernelOp op, llvm::ArrayRef<Sizes> strides = {}, bool joinsRows = false);
/// Whether blocks may take rows of several products, since these have one right operand: where they
/// do not lie as rows of one array, each row is found by a division.
bool canJoinRows(const KernelShape &shape);
/// Of an array without gaps.
Sizes contiguousStrides(llvm::ArrayRef<Size> shape);

/// Which kernel of a product it is: the only one, or, where programs share the inner dimension,
/// the one that multiplies a part of it or the one that adds up the parts; or a step of rows that
/// programs share (RowSteps.h); or, where rows are added to those that numbers name
/// (ScatterRows.h), the one that clears the sums or the one that adds to them, of which those are
/// one part.
enum class Share { None, Parts, Sum, Step, Clear, Scatter };

/// What is said of sizes and addresses at most: one that is a multiple of it starts any vector.
inline constexpr int kMostMultiple = 16;

/// How a kernel is cut into blocks for a launch: all that makes it another kernel.
struct Cut {
  int64_t block = 1024; ///< columns of a block
  int64_t rows = 1;     ///< rows of a block
  int64_t inner = 0;    ///< of a product: what a turn of its loop adds up
  int64_t depth = 0;    ///< of a chain of products: what its first one adds up, at once
  int warps = kDefaultWarps;
  int stages = kDefaultStages; ///< of a loop: turns whose operands or chunks are on their way
  int together = 0;            ///< programs that are to share a multiprocessor; 0: as it comes
  bool loop = false;           ///< rows are longer than a block
  bool streams = false;        ///< large arrays are read once, and little is written
  bool evenColumns = false;    ///< columns are a multiple of the block: no masks
  bool evenRows = false;       ///< rows are
  bool evenInner = false;      ///< the inner dimension of a product is
  bool evenDepth = false;      ///< what the first product of a chain adds up is
  bool oneBlock = false;       ///< columns fit into one block
  Share share = Share::None;
  int64_t parts = 1;  ///< of a sum of parts (what multiplies them asks the grid), of rows
  unsigned step = 0;  ///< of rows that programs share
  bool alone = false; ///< a step whose programs share nothing: the parts are known
  bool wide = false;  ///< indices need 64 bits
  std::vector<uint8_t> divisible; ///< each size argument: a multiple of it, or 0
  std::vector<bool> aligned;      ///< each array: to 16 bytes
  bool announces = false;         ///< the kernel behind may start before this one has ended
  /// Of a product: programs that a multiprocessor gets at most; 0: enough for thread blocks that
  /// several share.
  int fewPrograms = 0;
  /// Arrays without elements, if some of the results have elements all the same: along a
  /// dimension of no elements the kernel does as if there were one.
  std::vector<bool> absent;
  /// Results that are combined of no elements, in such a kernel.
  std::vector<bool> ofNothing;
  bool hasEmptySize = false; ///< some size is 0: places are divided by 1 instead

  /// Whether there are programs along y, one for each part.
  bool sharesGrid() const { return share == Share::Parts || (share == Share::Step && !alone); }
};

/// The arrays that the kernel reads and writes, in the order of its parameters; those of the parts'
/// sums stand behind what is read.
std::vector<unsigned> arraysOf(const KernelShape &shape, Share share, unsigned step = 0);
/// The products of a kernel that has some, whose sums are an array each if parts are summed.
std::vector<MatmulOp> productsOf(const KernelShape &shape);
/// "f"; "f_parts" of what multiplies parts; "f_step0" of a step of shared rows before the last.
std::string nameOfKernel(const KernelShape &shape, Share share, unsigned step = 0);
/// Sums of parts, as an array of so many in front of those of the product.
Sizes shapeOfSums(MatmulOp op, int64_t parts);

/// Adds the kernel, as a function of the tile dialect, to `module`.
void emitKernel(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module);
/// One with a matrix product.
void emitProduct(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module);
/// One with a chain of two, with a softmax between them.
void emitChain(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_KERNELSHAPE_H
