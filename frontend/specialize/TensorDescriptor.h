//===- TensorDescriptor.h - make_tensor_descriptor and its methods --------===//
//
// A tensor descriptor is a tuple of a base, a shape (int32), strides (int64,
// the last one 1), the type of its blocks and a padding. It passes through
// branches, loops and calls as its parts; each access names them all.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_TENSORDESCRIPTOR_H
#define TILE_FRONTEND_SPECIALIZE_TENSORDESCRIPTOR_H

#include "frontend/specialize/Builtins.h"

namespace tile::specialize {

/// The most dimensions a descriptor may have.
constexpr size_t maxDescriptorRank = 5;

bool isTensorDescriptor(const PyValue &value);
/// Its parts as one value. `padding` is "zero" or "nan".
PyValue makeTensorDescriptor(PyValue base, std::vector<PyValue> shape, std::vector<PyValue> strides,
                             const DType &blockType, llvm::StringRef padding);
/// `dtype`, `block_shape` and methods; nothing for other names.
std::optional<PyValue> tensorDescriptorAttribute(const PyValue &descriptor, llvm::StringRef name);
/// The builtin behind a method, or null.
const Builtin *findTensorDescriptorMethod(llvm::StringRef name);
/// Whether a descriptor may have blocks of this type; if not, says why.
bool checkDescriptorBlock(const DType &element, llvm::ArrayRef<int64_t> block,
                          std::string &problem);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_TENSORDESCRIPTOR_H
