//===- Filled.h - new tensors, element by element -------------------------===//
#ifndef TILE_RUNTIME_HOST_FILLED_H
#define TILE_RUNTIME_HOST_FILLED_H

#include "frontend/eval/Methods.h"
#include "runtime/host/Tensor.h"
#include "llvm/Support/Parallel.h"

namespace tile::host {

/// The element type that a `dtype` argument names; None: the other one.
std::unique_ptr<eval::EvalError> readDType(const PyValue &value, DType fallback, DType &out);

/// The first two arguments of most functions that make tensors.
std::unique_ptr<eval::EvalError> readShapeAndType(const PyValue &shapeValue,
                                                  const PyValue &typeValue, DType fallback,
                                                  Shape &shape, DType &type);

/// What a new tensor is by the first two arguments of a function.
struct NewTensor {
  Shape shape;
  DType type;

  std::unique_ptr<eval::EvalError> read(eval::ArgReader &r) {
    return r ? readShapeAndType(r[0], r.get(1), DType::Kind::Float32, shape, type) : r.error();
  }
};

/// The bits of a number in a type: rounded, or truncated and saturated.
uint64_t encode(const DType &type, double value);

/// Fills a new contiguous tensor: `bits(i)` is element i. Large ones on all cores.
template <typename Fn>
Result filled(const ContextPtr &context, const DType &type, const Shape &shape, Fn bits) {
  Result made = Tensor::create(context, type, shape);
  if (!made)
    return made;
  auto *tensor = made->dynExtension<Tensor>();
  uint8_t *bytes = tensor->storage().overwrite();
  if (!bytes)
    return made; // the context has the error
  unsigned width = type.itemSize();
  constexpr int64_t chunk = 1 << 16;
  int64_t size = tensor->size();
  auto fill = [&](size_t c) {
    for (int64_t i = c * chunk, end = std::min(size, i + chunk); i < end; ++i)
      storeBits(bytes + i * width, bits(i), width);
  };
  size_t chunks = (size + chunk - 1) / chunk;
  if (chunks > 4)
    llvm::parallelFor(0, chunks, fill);
  else
    for (size_t c = 0; c < chunks; ++c)
      fill(c);
  return made;
}

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_FILLED_H
