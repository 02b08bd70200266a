//===- Aliases.cpp - arrays of a call that lie in each other --------------===//
//
// A function that writes a parameter counts on nobody else's elements being there.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/TensorProgram.h"
#include "text/Format.h"

using namespace tile;

namespace {
/// The bytes from the first to behind the last element; none: nothing.
struct Range {
  uint64_t begin = 0, end = 0;
  bool meets(const Range &other) const { return begin < other.end && other.begin < end; }
};
} // namespace

/// `repeats`: some elements are in one place.
static Range rangeOf(const TensorBuffer &buffer, const TensorPlace &place,
                     const graph::Bindings &sizes, bool &repeats) {
  int64_t low = 0, high = 0, step = 1;
  repeats = false;
  for (size_t dim = buffer.shape.size(); dim-- > 0;) {
    int64_t size = buffer.shape[dim].evaluate(sizes).value_or(0);
    if (size <= 0)
      return {};
    int64_t stride = place.strides.empty() ? step : place.strides[dim];
    (stride < 0 ? low : high) += (size - 1) * stride;
    repeats |= size > 1 && stride == 0;
    step *= size;
  }
  int64_t bytes = buffer.type.itemSize();
  return {place.address + low * bytes, place.address + (high + 1) * bytes};
}

std::string TensorProgram::unsafeUpdate(const graph::Bindings &sizes,
                                        llvm::ArrayRef<TensorPlace> places,
                                        const tensors::Signature &signature) const {
  auto nameOf = [&](unsigned buffer) {
    const TensorBuffer &of = buffers[buffer];
    return of.kind == TensorBuffer::Kind::Tensor
               ? formatted("`{}`", signature.parameters[of.index].name)
               : formatted("result {}", of.index);
  };
  for (auto [made, parameter] : updates) {
    bool repeats, ignored;
    Range own = rangeOf(buffers[parameter], places[parameter], sizes, repeats);
    if (repeats)
      return formatted("{} is written, and some of its elements lie in one place: give it memory "
                       "of its own, as `.clone()` does",
                       nameOf(parameter));
    for (unsigned i = 0; i < buffers.size(); ++i) {
      bool counts = buffers[i].kind == TensorBuffer::Kind::Tensor ||
                    buffers[i].kind == TensorBuffer::Kind::Result;
      if (counts && i != parameter && rangeOf(buffers[i], places[i], sizes, ignored).meets(own))
        return formatted(
            "{} is written, and {} lies in the same memory: give each its own, as `.clone()` does",
            nameOf(parameter), nameOf(i));
    }
  }
  return "";
}
