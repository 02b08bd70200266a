//===- LaunchClass.cpp - the calls that the code of a launch serves -------===//
//
// A cut is chosen for the sizes of one call; what is made of it is right for all sizes for which
// its blocks are: whatever is masked may end anywhere. Kernels that are built ahead are launched
// for sizes that nobody had in mind, and are told here for which they may be.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/ChooseCut.h"
#include "passes/graph/SideBySide.h"

using namespace tile;
using graph::Cut;
using graph::KernelShape;
using graph::Size;
using Kind = SizeCondition::Kind;

namespace {
/// Collects what must be so.
class Conditions {
public:
  Conditions(const KernelShape &shape, const Cut &cut) : shape(shape), cut(cut) {
    llvm::ArrayRef<Size> all = shape.rows;
    if (shape.product && !shape.joinsRows) {
      batch = graph::product(all.drop_back());
      all = all.take_back();
    }
    rows = graph::product(all);
    columns = graph::columnsOf(shape);
  }
  LaunchClass find(int64_t parts);

private:
  void add(Kind kind, const Size &size, int64_t number) {
    found.conditions.push_back({kind, size, number});
  }
  void ofBlocks();
  void ofProduct(int64_t parts);
  void ofNumbers();

  const KernelShape &shape;
  const Cut &cut;
  Size batch = 1, rows, columns;
  LaunchClass found;
};
} // namespace

void Conditions::ofBlocks() {
  bool isWhole = shape.reduces ? !cut.loop : cut.oneBlock;
  if (isWhole && !shape.product)
    add(Kind::AtMost, columns, cut.block);
  if (cut.evenColumns) {
    add(Kind::Divides, columns, cut.block);
    add(Kind::AtLeast, columns, 1);
  }
  if (cut.evenRows && cut.share != graph::Share::Scatter)
    add(Kind::Divides, rows, cut.rows);
  // The first row of a part is read even if the part has none, and only blocks of rows are masked.
  if (shape.parts && cut.loop && cut.rows == 1)
    add(Kind::AtLeast, rows - *shape.parts, 0);
}

void Conditions::ofProduct(int64_t parts) {
  const graph::ProductShape &product = *shape.product;
  if (cut.evenInner)
    add(Kind::Divides, product.inner, cut.inner);
  // Of products side by side blocks end where each but the last does.
  const KernelShape *before = &shape;
  for (const KernelShape &other : shape.beside) {
    add(Kind::Divides, graph::product(before->columns), cut.block);
    before = &other;
  }
  using graph::Share;
  bool addsUp = parts > 1 || cut.share == Share::Sum || cut.share == Share::Clear;
  if (addsUp) // sums are counted by 32 bits
    add(Kind::AtMost, Size(parts) * batch * rows * columns, INT32_MAX);
  if (!product.chain)
    return;
  add(Kind::AtMost, columns, cut.block);
  add(Kind::AtLeast, columns, 1);
  add(Kind::AtLeast, product.inner, 1);
  for (const graph::ChainShape::First &first : product.chain->firsts) {
    add(Kind::AtMost, first.depth, cut.depth);
    add(Kind::AtLeast, first.depth, 1);
    if (cut.evenDepth)
      add(Kind::Divides, first.depth, cut.depth);
    add(Kind::AtMost, first.depth, kNarrowExtents - 1);
  }
}

/// What is passed for sizes, and in how many bits.
void Conditions::ofNumbers() {
  for (auto [i, size] : llvm::enumerate(shape.sizes)) {
    found.arguments.push_back(size);
    if (cut.divisible[i] > 1)
      add(Kind::Divides, size, cut.divisible[i]);
    if (!cut.wide)
      add(Kind::AtMost, size, INT32_MAX);
  }
  if (cut.wide)
    return;
  for (const Size &extent : {rows, columns})
    add(Kind::AtMost, extent, kNarrowExtents - 1);
  if (shape.product)
    add(Kind::AtMost, shape.product->inner, kNarrowExtents - 1);
}

LaunchClass Conditions::find(int64_t parts) {
  ofBlocks();
  if (shape.product)
    ofProduct(parts);
  if (cut.share == graph::Share::Step) {
    add(Kind::AtMost, Size(parts) * rows, INT32_MAX);
    add(Kind::AtLeast, rows, 1);
    add(Kind::AtLeast, columns, 1);
  }
  ofNumbers();
  tensors::HandGrid along;
  if (cut.share == graph::Share::Scatter)
    along.factors.push_back({shape.product->inner, cut.inner});
  else if (shape.parts)
    along.factors.push_back({*shape.parts, 1});
  else
    along.factors.push_back({rows, cut.rows});
  if (!shape.reduces)
    along.factors.push_back({columns, cut.block});
  along.factors.push_back({batch, 1});
  found.grid.push_back(std::move(along));
  if (cut.sharesGrid())
    found.grid.push_back({{{Size(parts), 1}}});
  llvm::erase_if(found.conditions, [](const SizeCondition &of) {
    std::optional<int64_t> known = of.size.constant();
    return known && (of.kind == Kind::Divides   ? *known % of.number == 0
                     : of.kind == Kind::AtLeast ? *known >= of.number
                                                : *known <= of.number);
  });
  return std::move(found);
}

LaunchClass tile::classOf(const KernelShape &shape, const Cut &cut, int64_t parts) {
  return Conditions(shape, cut).find(parts);
}

//===----------------------------------------------------------------------===//
// Other calls
//===----------------------------------------------------------------------===//

bool LaunchClass::serves(const graph::Bindings &sizes) const {
  return llvm::all_of(conditions, [&](const SizeCondition &of) {
    std::optional<int64_t> value = of.size.evaluate(sizes);
    return value && (of.kind == Kind::Divides   ? *value % of.number == 0
                     : of.kind == Kind::AtLeast ? *value >= of.number
                                                : *value <= of.number);
  });
}

bool LaunchClass::fill(TensorLaunch &launch, const graph::Bindings &sizes) const {
  launch.grid = {1, 1, 1};
  for (auto [axis, along] : llvm::enumerate(grid)) {
    std::optional<int64_t> count = along.evaluate(sizes);
    if (!count || *count < 1 || *count > (axis == 0 ? INT32_MAX : UINT16_MAX))
      return false;
    launch.grid[axis] = uint32_t(*count);
  }
  const Size *next = arguments.begin();
  for (TensorArgument &argument : launch.arguments)
    if (!argument.isBuffer)
      argument.size = (next++)->evaluate(sizes).value_or(0);
  return true;
}

bool TensorProgram::isServed(const graph::Bindings &made, const graph::Bindings &sizes,
                             const Target &target) {
  std::vector<TensorPlace> places(buffers.size());
  for (unsigned kernel = 0; kernel < kernels.size(); ++kernel) {
    LaunchClass calls;
    auto launch = launchOfClass(kernel, made, places, target, Fit::Any, calls);
    if (!launch) {
      llvm::consumeError(launch.takeError());
      return false;
    }
    if (launch->grid[0] == 0 || !calls.serves(sizes) || !calls.fill(*launch, sizes))
      return false;
  }
  return true;
}

llvm::Expected<TensorLaunch> TensorProgram::launchServed(unsigned kernel,
                                                         const graph::Bindings &made,
                                                         const graph::Bindings &sizes,
                                                         llvm::ArrayRef<TensorPlace> places,
                                                         const Target &target) {
  auto hasGaps = [&](unsigned buffer) { return !places[buffer].strides.empty(); };
  if (llvm::any_of(kernels[kernel].buffers, hasGaps))
    return launch(kernel, sizes, places, target);
  for (Fit fit : {Fit::Own, Fit::Divisible, Fit::Any}) {
    std::vector<TensorPlace> lie(places.begin(), places.end());
    for (TensorPlace &place : lie)
      place.address = place.address % 16 != 0 || fit == Fit::Any;
    LaunchClass calls;
    auto launch = launchOfClass(kernel, made, lie, target, fit, calls);
    if (!launch || (calls.serves(sizes) && calls.fill(*launch, sizes)))
      return launch;
  }
  return launch(kernel, sizes, places, target);
}
