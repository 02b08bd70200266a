//===- Rehearsal.cpp ------------------------------------------------------===//
#include "runtime/Rehearsal.h"
#include "compiler/functions/Workspace.h"

using namespace tile;
using namespace tile::runtime;
using Kind = TensorBuffer::Kind;

Rehearsal::Rehearsal(const TuningCall &call, TensorProgram &whole, TuningMachine *machine)
    : call(call), whole(whole), on(machine), allSizes(call.sizes), all(whole.buffers.size()) {
  whole.chooseParts(allSizes, call.target);
  for (auto [buffer, place] : llvm::zip_equal(whole.buffers, all))
    if (buffer.kind == Kind::Tensor)
      place = call.parameters[buffer.index];
  shareMemory();
  if (!writesWithoutGaps())
    on = nullptr;
}

/// Buffers in the memory of others are where those are.
void Rehearsal::shareMemory() {
  for (unsigned i = 0; i < all.size(); ++i)
    if (unsigned memory = whole.memoryOf(i); memory != i) {
      all[i].address = all[memory].address;
      if (whole.buffers[memory].kind == Kind::Tensor)
        all[i].strides = all[memory].strides;
    }
}

uint64_t Rehearsal::bytesOf(const TensorBuffer &buffer) const {
  auto elements = graph::product(buffer.shape).evaluate(allSizes);
  return uint64_t(elements.value_or(0)) * buffer.type.itemSize();
}

llvm::Expected<uint64_t> Rehearsal::allocate(uint64_t bytes) {
  auto memory = on->allocate(bytes);
  isShort = !memory;
  if (memory)
    owned.push_back(*memory);
  return memory;
}

/// Parameters that the function writes.
static std::vector<unsigned> writtenParameters(const TensorProgram &program) {
  std::vector<unsigned> out;
  for (auto [made, parameter] : program.updates)
    if (!llvm::is_contained(out, parameter))
      out.push_back(parameter);
  return out;
}

bool Rehearsal::writesWithoutGaps() const {
  return llvm::all_of(writtenParameters(whole),
                      [&](unsigned parameter) { return all[parameter].strides.empty(); });
}

llvm::Error Rehearsal::keepParameters() {
  for (unsigned parameter : writtenParameters(whole)) {
    uint64_t bytes = bytesOf(whole.buffers[parameter]);
    if (bytes == 0)
      continue;
    auto copy = allocate(bytes);
    if (!copy)
      return copy.takeError();
    if (llvm::Error error = on->copy(*copy, all[parameter].address, bytes))
      return error;
    kept.push_back({all[parameter].address, bytes, *copy});
  }
  return llvm::Error::success();
}

llvm::Error Rehearsal::begin() {
  hasBegun = true;
  if (llvm::Error error = keepParameters())
    return error;
  std::vector<int64_t> offsets;
  std::optional<int64_t> between = planWorkspace(whole, allSizes, offsets);
  if (!between)
    return makeError(ErrorCode::InvalidArgument, "the workspace is too large");
  auto workspace = allocate(std::max<int64_t>(*between, 1));
  if (!workspace)
    return workspace.takeError();
  for (auto [i, buffer] : llvm::enumerate(whole.buffers)) {
    if (buffer.kind == Kind::Intermediate)
      all[i].address = *workspace + uint64_t(offsets[i]);
    if (buffer.kind != Kind::Result || buffer.sameAs >= 0)
      continue;
    auto memory = allocate(std::max<uint64_t>(bytesOf(buffer), 1));
    if (!memory)
      return memory.takeError();
    all[i].address = *memory;
  }
  shareMemory();
  return llvm::Error::success();
}

llvm::Error Rehearsal::reach(unsigned kernel) {
  if (!hasBegun)
    if (llvm::Error error = begin())
      return error;
  for (; next < kernel; ++next) {
    auto launch = whole.launch(next, allSizes, all, call.target);
    if (!launch)
      return launch.takeError();
    if (launch->grid[0] == 0)
      continue;
    if (llvm::Error error = on->prepare(*launch))
      return error;
    if (llvm::Error error = on->launch(whole, *launch, all))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<TensorPlace>> Rehearsal::placesOf(const TensorProgram &form,
                                                             unsigned kernel) {
  std::vector<TensorPlace> out = all;
  out.resize(form.buffers.size());
  std::vector<std::pair<unsigned, uint64_t>> offsets;
  uint64_t bytes = 0;
  auto place = [&](unsigned buffer) {
    offsets.emplace_back(buffer, bytes);
    bytes += llvm::alignTo(bytesOf(form.buffers[buffer]), kWorkspaceAlignment);
  };
  const TensorKernel &of = whole.kernels[kernel];
  for (unsigned written : llvm::ArrayRef(of.buffers).drop_front(of.numRead))
    if (whole.buffers[whole.memoryOf(written)].kind == Kind::Tensor)
      place(written);
  for (unsigned sums = all.size(); sums < form.buffers.size(); ++sums)
    place(sums);
  if (bytes > bytesApart) {
    auto memory = allocate(bytes);
    if (!memory)
      return memory.takeError();
    apart = *memory;
    bytesApart = bytes;
  }
  for (auto [buffer, offset] : offsets)
    out[buffer] = {apart + offset, {}};
  return out;
}

llvm::Error Rehearsal::finish() {
  llvm::Error failed = llvm::Error::success();
  for (const Kept &one : kept)
    failed = llvm::joinErrors(std::move(failed), on->copy(one.address, one.copy, one.bytes));
  for (uint64_t memory : owned)
    failed = llvm::joinErrors(std::move(failed), on->free(memory));
  kept.clear();
  owned.clear();
  return failed;
}
