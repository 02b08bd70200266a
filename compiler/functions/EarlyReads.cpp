//===- EarlyReads.cpp - what a kernel may read before others have ended ---===//
//
// A kernel that starts while the one before it still runs knows that all others have ended: the one
// before announces it when it has waited for them.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/EarlyReads.h"

using namespace tile;

namespace {
/// Bytes of memory, from the first to behind the last.
struct Bytes {
  uint64_t begin = 0, end = 0;
};
} // namespace

static bool isEmpty(const TensorBuffer &buffer, const graph::Bindings &sizes) {
  return llvm::any_of(
      buffer.shape, [&](const graph::Size &size) { return size.evaluate(sizes).value_or(0) <= 0; });
}

/// Where a buffer that is not empty lies.
static Bytes bytesOf(const TensorBuffer &buffer, const TensorPlace &place,
                     const graph::Bindings &sizes) {
  int64_t below = 0, above = 1, all = 1; // elements
  for (auto [dim, size] : llvm::enumerate(buffer.shape)) {
    int64_t count = size.evaluate(sizes).value_or(1);
    all *= count;
    if (!place.strides.empty())
      (place.strides[dim] < 0 ? below : above) += (count - 1) * place.strides[dim];
  }
  int64_t item = buffer.type.itemSize();
  return {place.address + uint64_t(below * item),
          place.address + uint64_t((place.strides.empty() ? all : above) * item)};
}

/// Whether one of the first kernels writes there: what lies in the workspace is nobody's else.
static bool isWritten(const TensorProgram &program, llvm::ArrayRef<TensorKernel> kernels,
                      const Bytes &there, const graph::Bindings &sizes,
                      llvm::ArrayRef<TensorPlace> places) {
  return llvm::any_of(kernels, [&](const TensorKernel &kernel) {
    auto written = llvm::ArrayRef(kernel.buffers).drop_front(kernel.numRead);
    return llvm::any_of(written, [&](unsigned buffer) {
      const TensorBuffer &of = program.buffers[buffer];
      if (program.buffers[program.memoryOf(buffer)].kind == TensorBuffer::Kind::Intermediate ||
          isEmpty(of, sizes))
        return false;
      Bytes own = bytesOf(of, places[buffer], sizes);
      return own.begin < there.end && there.begin < own.end;
    });
  });
}

bool tile::isThereEarly(const TensorProgram &program, unsigned index, unsigned array,
                        const graph::Bindings &sizes, llvm::ArrayRef<TensorPlace> places) {
  const TensorKernel &kernel = program.kernels[index];
  if (index == 0 || !kernel.multiplies || kernel.chains || kernel.addsParts ||
      array >= kernel.numRead)
    return false;
  const TensorKernel &before = program.kernels[index - 1];
  unsigned buffer = kernel.buffers[array];
  const TensorBuffer &of = program.buffers[buffer];
  auto isMade = [&](unsigned written) { return !isEmpty(program.buffers[written], sizes); };
  return program.buffers[program.memoryOf(buffer)].kind == TensorBuffer::Kind::Tensor &&
         !before.hand &&
         llvm::any_of(llvm::ArrayRef(before.buffers).drop_front(before.numRead), isMade) &&
         !isEmpty(of, sizes) &&
         !isWritten(program, llvm::ArrayRef(program.kernels).take_front(index),
                    bytesOf(of, places[buffer], sizes), sizes, places);
}
