//===- ProgramForms.cpp - other kernels for some sizes --------------------===//
//
// Chains of products whose blocks do not fit a multiprocessor are fused apart, and where a product
// has fewer blocks than the chip computes at once, programs share its inner dimension: two kernels
// in the place of one. So they do with long rows where there are few, a kernel for each pass.
// Products of few rows that have a left operand in common may be side by side in one kernel.
// What products compute of their operands for each block again is stored before where there are
// many blocks, and so is what is combined of a few long rows, so that programs can share these.
// Rows that numbers name are added to a large table by atomic additions, not by a product. Each
// form is made when a launch first needs it.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/FusedProgram.h"
#include "frontend/eval/DType.h"
#include "passes/graph/Elements.h"
#include "passes/graph/PartsOfRows.h"
#include "passes/graph/ScatterRows.h"
#include "passes/graph/SideBySide.h"
#include "passes/graph/StoredOperands.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using graph::Bindings;
using graph::KernelOp;
using graph::KernelShape;
using graph::Size;
using graph::Sizes;

static SmallVector<KernelOp> kernelsOf(ModuleOp module) {
  func::FuncOp function = *module.getOps<func::FuncOp>().begin();
  return llvm::to_vector(function.getBody().front().getOps<KernelOp>());
}

FusedProgram &FusedProgram::wholeForSizes(const Bindings &sizes, const Target &target) {
  bool fits = chains == graph::Chains::None || llvm::all_of(chained, [&](const KernelShape &shape) {
                std::optional<Extents> extents = extentsOf(shape, sizes);
                return !extents || chainFits(shape, *extents, target);
              });
  FusedProgram *other = fits ? nullptr : withoutChains();
  if (other)
    return other->wholeForSizes(sizes, target);
  return rowsForSizes(sizes, target).storedForSizes(sizes, target).besideForSizes(sizes, target);
}

/// Null if it cannot be made.
FusedProgram *FusedProgram::withoutChains() {
  if (!apart) {
    auto isPlain = [](const KernelShape &shape) { return !shape.product->chain->of.hasSoftmax(); };
    bool somePlain = llvm::any_of(chained, isPlain);
    apart = again(somePlain ? "plain;" : "apart;");
    formError = apart->fuse(somePlain ? graph::Chains::Softmax : graph::Chains::None);
    if (!apart->chained.empty())
      apart->unfused = unfused->clone();
  }
  return formError ? nullptr : apart.get();
}

/// Of the same function, to be fused.
std::unique_ptr<FusedProgram> FusedProgram::again(StringRef form) {
  auto made = std::make_unique<FusedProgram>(context, OwningOpRef<ModuleOp>(unfused->clone()),
                                             mark + form.str());
  made->launches = launches;
  made->signature = signature;
  made->traced = traced;
  made->mayHaveGaps = mayHaveGaps;
  return made;
}

/// Null if it cannot be made.
FusedProgram *FusedProgram::gappedForm() {
  if (!countsOnNoGaps())
    return this;
  if (!gapped) {
    gapped = again("gaps;");
    gapped->mayHaveGaps = true;
    gapError = gapped->fuse(graph::Chains::All);
    if (!gapped->chained.empty())
      gapped->unfused = unfused->clone();
  }
  return gapError ? nullptr : gapped.get();
}

llvm::Expected<TensorProgram *> FusedProgram::withGaps() {
  if (FusedProgram *form = gappedForm())
    return form;
  return llvm::createStringError(gapError->diagnostic.message);
}

unsigned FusedProgram::mostKernels() {
  FusedProgram *form = gappedForm();
  return std::max(mostOwnKernels(), form ? form->mostOwnKernels() : 0);
}

/// The same kernels, to be changed.
std::unique_ptr<FusedProgram> FusedProgram::copy(std::string mark) const {
  auto made = std::make_unique<FusedProgram>(context, OwningOpRef<ModuleOp>(module->clone()),
                                             std::move(mark));
  made->launches = launches;
  made->traced = traced;
  made->unfusedBytes = unfusedBytes;
  made->unfusedLaunches = unfusedLaunches;
  return made;
}

//===----------------------------------------------------------------------===//
// Few rows, of whose results something is combined
//===----------------------------------------------------------------------===//

FusedProgram &FusedProgram::rowsForSizes(const Bindings &sizes, const Target &target) {
  FusedProgram *all = withRows(ofParts());
  if (all == this)
    return *this;
  if (lastRows.program && lastRows.sizes == sizes && lastRows.target == &target)
    return *lastRows.program;
  std::vector<unsigned> which; // where programs would share rows
  for (auto &[kernel, shape] : all->rows) {
    std::optional<Extents> extents = extentsOf(shape, sizes);
    auto isOwn = [&](unsigned number) { return kernels[number].name == all->kernels[kernel].name; };
    const unsigned *own = llvm::find_if(ArrayRef(ofParts()), isOwn);
    if (own != ArrayRef(ofParts()).end() && extents && shareRows(shape, *extents, target) > 1)
      which.push_back(*own);
  }
  lastRows = {sizes, &target, withRows(which)};
  return *lastRows.program;
}

/// The kernels that combine parts of rows.
const std::vector<unsigned> &FusedProgram::ofParts() {
  if (!partsOfRows) {
    partsOfRows.emplace();
    for (auto [i, op] : llvm::enumerate(kernelsOf(*module)))
      if (kernels[i].reduces && graph::hasPartsOfRows(graph::shapeOf(op)))
        partsOfRows->push_back(i);
  }
  return *partsOfRows;
}

FusedProgram *FusedProgram::withRows(const std::vector<unsigned> &which) {
  if (which.empty())
    return this;
  std::unique_ptr<FusedProgram> &made = ofRows[which];
  if (made)
    return made.get();
  std::string name = mark + "rows";
  for (unsigned kernel : which)
    name += std::to_string(kernel) + ",";
  made = copy(name + ";");
  made->chains = graph::Chains::None; // they fit
  made->partsOfRows.emplace();        // nothing more
  SmallVector<KernelOp> all = kernelsOf(*made->module);
  for (unsigned kernel : which)
    graph::storeRows(all[kernel]);
  made->signature = signature;
  made->describe(signature);
  return made.get();
}

//===----------------------------------------------------------------------===//
// Operands that are stored before their products
//===----------------------------------------------------------------------===//

FusedProgram &FusedProgram::storedForSizes(const Bindings &sizes, const Target &target) {
  if (lastStored.program && lastStored.sizes == sizes && lastStored.target == &target)
    return *lastStored.program;
  std::map<unsigned, OperandsToStore> which;
  for (auto &[kernel, shape] : products) {
    std::optional<Extents> extents =
        graph::canStoreOperands(shape) ? extentsOf(shape, sizes) : std::nullopt;
    bool isProduct = extents && !isBestScattered(shape, *extents, target);
    OperandsToStore of = isProduct ? operandsToStore(shape, *extents, target) : OperandsToStore();
    if (of.left || of.right)
      which[kernel] = of;
  }
  lastStored = {sizes, &target, &withStored(which)};
  return *lastStored.program;
}

FusedProgram &FusedProgram::withStored(const std::map<unsigned, OperandsToStore> &which) {
  if (which.empty())
    return *this;
  std::unique_ptr<FusedProgram> &made = stored[which];
  if (made)
    return *made;
  std::string name = mark + "stored";
  for (auto [kernel, of] : which)
    name += formatted("{}{}{}", kernel, of.left ? "l" : "", of.right ? "r" : "");
  made = copy(name + ";");
  made->chains = graph::Chains::None; // they fit
  SmallVector<KernelOp> all = kernelsOf(*made->module);
  for (auto [kernel, of] : which)
    graph::storeOperands(all[kernel], of.left, of.right);
  made->signature = signature;
  made->describe(signature);
  return *made;
}

//===----------------------------------------------------------------------===//
// Products side by side
//===----------------------------------------------------------------------===//

void FusedProgram::findBeside() {
  beside.emplace();
  allBeside = module->clone();
  SmallVector<KernelOp> all = kernelsOf(*allBeside);
  for (ArrayRef<KernelOp> group :
       graph::kernelsToJoin(*allBeside->getOps<func::FuncOp>().begin())) {
    Beside &made = beside->emplace_back();
    for (KernelOp op : group) {
      made.kernels.push_back(llvm::find(all, op) - all.begin());
      if (op != group.front())
        kernels[made.kernels.back()].mayBeBeside = kernels[made.kernels.front()].name;
    }
  }
  // Only now: a kernel that is joined is gone.
  for (Beside &made : *beside)
    made.joined = graph::shapeOf(
        graph::joinKernels(llvm::map_to_vector(made.kernels, [&](unsigned i) { return all[i]; })));
}

FusedProgram &FusedProgram::besideForSizes(const Bindings &sizes, const Target &target) {
  if (!beside)
    findBeside();
  if (beside->empty())
    return *this;
  if (lastBeside.program && lastBeside.sizes == sizes && lastBeside.target == &target)
    return *lastBeside.program;
  std::vector<bool> which;
  for (const Beside &one : *beside) {
    auto apart = llvm::map_to_vector(
        one.kernels, [&](unsigned i) -> const KernelShape * { return &products.find(i)->second; });
    which.push_back(tile::isBestSideBySide(one.joined, apart, sizes, target));
  }
  lastBeside = {sizes, &target, &withBeside(which)};
  return *lastBeside.program;
}

FusedProgram &FusedProgram::withBeside(const std::vector<bool> &which) {
  if (!llvm::is_contained(which, true))
    return *this;
  std::unique_ptr<FusedProgram> &made = joined[which];
  if (made)
    return *made;
  std::string name = mark + "beside";
  for (bool is : which)
    name += is ? '1' : '0';
  made = copy(name + ";");
  made->beside.emplace(); // nothing more
  made->chains = graph::Chains::None;
  SmallVector<KernelOp> all = kernelsOf(*made->module);
  for (auto [one, is] : llvm::zip_equal(*beside, which))
    if (is)
      graph::joinKernels(llvm::map_to_vector(one.kernels, [&](unsigned i) { return all[i]; }));
  made->signature = signature;
  made->describe(signature);
  return *made;
}

//===----------------------------------------------------------------------===//
// What programs share: inner dimensions of products, and rows
//===----------------------------------------------------------------------===//

TensorProgram &FusedProgram::forSizes(const Bindings &sizes, const Target &target) {
  FusedProgram &whole = wholeForSizes(sizes, target);
  std::vector<int64_t> parts(whole.kernels.size(), 1);
  std::vector<TensorPlace> places(whole.buffers.size());
  for (auto &[kernel, plain] : whole.products) {
    std::string layout;
    const KernelShape &shape = whole.shapeFor(kernel, places, sizes, layout);
    if (std::optional<Extents> extents = extentsOf(shape, sizes))
      parts[kernel] = isBestScattered(shape, *extents, target)
                          ? kScattered
                          : tile::shareInner(shape, *extents, target);
  }
  for (auto &[kernel, shape] : whole.rows)
    if (std::optional<Extents> extents = extentsOf(shape, sizes))
      parts[kernel] = tile::shareRows(shape, *extents, target);
  return whole.withParts(parts);
}

FusedProgram &FusedProgram::withParts(ArrayRef<int64_t> parts) {
  if (llvm::all_of(parts, [](int64_t count) { return count == 1; }))
    return *this;
  std::unique_ptr<FusedProgram> &made = shared[parts.vec()];
  if (!made) {
    made = copy(mark); // what is not shared is the same kernel
    made->beside.emplace();
    made->describe(signature);
    for (auto [one, own] : llvm::zip_equal(made->kernels, kernels))
      one.mayBeBeside = own.mayBeBeside;
    made->shareInner(parts);
  }
  return *made;
}

/// Buffers of sums come behind all others, which keep their numbers.
void FusedProgram::shareInner(ArrayRef<int64_t> parts) {
  std::vector<TensorKernel> before = std::exchange(kernels, {});
  std::vector<Origin> beforeOrigins = std::exchange(origins, {});
  for (auto [i, kernel] : llvm::enumerate(before)) {
    std::vector<TensorKernel> made = {kernel};
    if (parts[i] == kScattered)
      made = scatterKernels(i, kernel);
    if (parts[i] > 1) {
      kernel.parts = parts[i];
      auto row = rows.find(i);
      made = row == rows.end() ? sharedKernels(i, kernel) : stepsOf(row->second, kernel);
    }
    for (TensorKernel &one : made) {
      origins.push_back(beforeOrigins[i]);
      kernels.push_back(std::move(one));
    }
  }
  products.clear();
  rows.clear();
}

/// Whether the sums of a product that adds rows are the kernel's result, as they are.
static bool endsInSums(const KernelShape &shape) {
  KernelOp op = shape.op;
  Block &body = op.getBody().front();
  graph::MatmulOp product = shape.product->op;
  return body.getTerminator()->getNumOperands() == 1 &&
         body.getTerminator()->getOperand(0) == product.getResult() &&
         product.getType().getElement().isF32() && !graph::writesParameters(op);
}

unsigned FusedProgram::kernelsIn(unsigned kernel, int64_t parts) const {
  if (parts == 1)
    return 1;
  if (parts == kScattered)
    return endsInSums(products.find(kernel)->second) ? 2 : 3;
  auto row = rows.find(kernel);
  return row == rows.end() ? 2 : graph::RowSteps(row->second).count();
}

/// Operands of its products that may be stored.
static unsigned operandsOf(const KernelShape &shape) {
  llvm::SmallDenseSet<Value> values;
  for (graph::MatmulOp op : graph::productsOf(shape))
    for (Value operand : op->getOperands())
      if (Value value = graph::valueToStore(operand))
        values.insert(value);
  return values.size();
}

unsigned FusedProgram::mostOwnKernels() {
  unsigned count = kernels.size() + products.size();
  if (!ofParts().empty())
    count = std::max(count, withRows(ofParts())->mostOwnKernels());
  for (auto &[kernel, shape] : products) {
    count += graph::rowsAddedTo(shape) ? 1 : 0;
    if (graph::canStoreOperands(shape))
      count += operandsOf(shape);
  }
  for (auto &[kernel, shape] : rows)
    count += kernelsIn(kernel, 2) - 1;
  FusedProgram *other = chained.empty() ? nullptr : withoutChains();
  return other ? std::max(count, other->mostOwnKernels()) : count;
}

/// What a step reads and writes, besides what programs share.
void FusedProgram::describeStep(TensorKernel &kernel, graph::RowSteps &steps,
                                const KernelShape &shape, const TensorKernel &whole) const {
  unsigned step = kernel.step;
  kernel.name = graph::nameOfKernel(shape, graph::Share::Step, step);
  kernel.isAlone = !steps.goesAlong(step);
  kernel.buffers.clear();
  kernel.bytesRead = kernel.bytesWritten = Size();
  kernel.operations.clear();
  SmallVector<graph::ReduceOp> known = steps.known(step), reduced = steps.reduced(step);
  if (!known.empty() || !steps.scannedBefore(step).empty())
    kernel.operations.push_back("what parts add up to");
  for (Operation &inner : KernelOp(shape.op).getBody().front().without_terminator()) {
    std::string name = nameOfOperation(inner);
    if (name.empty() || !steps.needed(step).contains(inner.getResult(0)) ||
        llvm::is_contained(known, &inner))
      continue;
    bool isPart = llvm::is_contained(reduced, &inner);
    kernel.operations.push_back(isPart ? formatted("{} in parts", name) : name);
  }
  if (step > 0)
    kernel.reasons.clear();
  for (unsigned array : graph::arraysOf(shape, graph::Share::Step, step)) {
    bool isRead = array < whole.numRead;
    Value value = isRead ? KernelOp(shape.op)->getOperand(array)
                         : KernelOp(shape.op)->getResult(array - whole.numRead);
    if (isRead && shape.isNumber(array))
      continue;
    Size &bytes = isRead ? kernel.bytesRead : kernel.bytesWritten;
    bytes = bytes + bytesOfValue(value);
  }
}

std::vector<TensorKernel> FusedProgram::stepsOf(const KernelShape &shape,
                                                const TensorKernel &whole) {
  graph::RowSteps steps(shape);
  DenseMap<Operation *, unsigned> sharedBy; // buffers, by reduction
  Sizes sizes = {graph::product(shape.rows), Size(whole.parts)};
  std::vector<TensorKernel> made;
  for (unsigned step = 0, end = steps.count(); step < end; ++step) {
    TensorKernel kernel = whole;
    kernel.step = int(step);
    describeStep(kernel, steps, shape, whole);
    auto share = [&](Operation *op, Size &bytes) {
      auto result = cast<graph::GraphTensorType>(op->getResult(0).getType());
      Type type = graph::computeType(result.getElement());
      auto [entry, isNew] = sharedBy.try_emplace(op, buffers.size());
      if (isNew)
        buffers.push_back({TensorBuffer::Kind::Intermediate, 0, sizes, tensors::dtypeOf(type)});
      kernel.buffers.push_back(entry->second);
      bytes = bytes + graph::product(sizes) * Size(graph::bytesOf(type));
    };
    std::vector<unsigned> written;
    for (unsigned array : graph::arraysOf(shape, graph::Share::Step, step))
      (array < whole.numRead ? kernel.buffers : written).push_back(whole.buffers[array]);
    for (graph::ReduceOp reduce : steps.known(step))
      share(reduce, kernel.bytesRead);
    for (graph::ScanOp scan : steps.scannedBefore(step))
      share(scan, kernel.bytesRead);
    kernel.numRead = kernel.buffers.size();
    for (graph::ReduceOp reduce : steps.reduced(step))
      share(reduce, kernel.bytesWritten);
    for (graph::ScanOp scan : steps.scanned(step))
      share(scan, kernel.bytesWritten);
    llvm::append_range(kernel.buffers, written);
    made.push_back(std::move(kernel));
  }
  return made;
}

std::vector<TensorKernel> FusedProgram::sharedKernels(unsigned number, const TensorKernel &whole) {
  const KernelShape &shape = products.find(number)->second;
  TensorKernel first = whole, second = whole;
  std::vector<unsigned> sums;
  Size sumBytes;
  for (graph::MatmulOp op : graph::productsOf(shape)) {
    Sizes sizes = graph::shapeOfSums(op, whole.parts);
    sums.push_back(buffers.size());
    buffers.push_back({TensorBuffer::Kind::Intermediate, 0, sizes, *eval::DType::parse("fp32")});
    sumBytes = sumBytes + graph::product(sizes) * Size(4);
  }
  auto fill = [&](TensorKernel &kernel, graph::Share share) {
    kernel.addsParts = share == graph::Share::Sum;
    kernel.name = graph::nameOfKernel(shape, share);
    kernel.buffers.clear();
    kernel.bytesRead = Size();
    std::vector<unsigned> written;
    for (unsigned array : graph::arraysOf(shape, share)) {
      bool isRead = array < whole.numRead;
      (isRead ? kernel.buffers : written).push_back(whole.buffers[array]);
      if (isRead && !shape.isNumber(array))
        kernel.bytesRead = kernel.bytesRead + bytesOfValue(KernelOp(shape.op)->getOperand(array));
    }
    kernel.numRead = kernel.buffers.size();
    llvm::append_range(kernel.buffers, sums);
    llvm::append_range(kernel.buffers, written);
    kernel.operations.clear();
    for (Operation &inner : KernelOp(shape.op).getBody().front().without_terminator()) {
      bool isBehind = shape.forms.count(inner.getResult(0)) && !isa<graph::MatmulOp>(inner);
      std::string name = nameOfOperation(inner);
      if (!name.empty() && isBehind == (share == graph::Share::Sum))
        kernel.operations.push_back(name);
    }
  };
  fill(first, graph::Share::Parts);
  first.bytesWritten = sumBytes;
  first.reasons.clear();
  fill(second, graph::Share::Sum);
  second.numRead += sums.size();
  second.bytesRead = second.bytesRead + sumBytes;
  second.operations.insert(second.operations.begin(), "sum of parts");
  std::vector<TensorKernel> made;
  made.push_back(std::move(first));
  made.push_back(std::move(second));
  return made;
}

/// One that clears the sums, one that adds to them, and one that does the rest.
std::vector<TensorKernel> FusedProgram::scatterKernels(unsigned number, const TensorKernel &whole) {
  const KernelShape &shape = products.find(number)->second;
  std::vector<TensorKernel> made = sharedKernels(number, whole);
  TensorKernel clear = made.front();
  unsigned sums = clear.buffers.back();
  clear.scatter = TensorKernel::Scatter::Clears;
  clear.name = graph::nameOfKernel(shape, graph::Share::Clear);
  clear.buffers = {sums};
  clear.numRead = 0;
  clear.bytesRead = Size();
  clear.operations = {"zeros"};
  TensorKernel &add = made.front(), &rest = made.back();
  add.scatter = TensorKernel::Scatter::Adds;
  add.name = graph::nameOfKernel(shape, graph::Share::Scatter);
  Size added = shape.product->inner * graph::product(shape.columns) * Size(4);
  add.bytesRead = add.bytesRead + added;
  add.bytesWritten = added;
  llvm::replace(add.operations, std::string("matmul"), std::string("atomic add"));
  llvm::replace(rest.operations, std::string("sum of parts"), std::string("sums"));
  if (endsInSums(shape)) {
    clear.buffers = {whole.buffers.back()};
    add.buffers.back() = whole.buffers.back();
    made.pop_back();
  }
  made.insert(made.begin(), std::move(clear));
  return made;
}

void FusedProgram::chooseParts(Bindings &sizes, const Target &target) const {
  for (const KernelShape &shape : inParts)
    if (std::optional<Extents> extents = extentsOf(shape, sizes))
      sizes[*shape.parts->name()] = tile::chooseParts(shape, *extents, target);
}
