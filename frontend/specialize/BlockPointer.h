//===- BlockPointer.h - make_block_ptr and advance ------------------------===//
//
// A block pointer is a tuple of a base, shape, strides, offsets and the
// type of the block. It exists only while a kernel is specialised: an access through it is
// one through a block of pointers, with a mask for the bounds it checks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_BLOCKPOINTER_H
#define TILE_FRONTEND_SPECIALIZE_BLOCKPOINTER_H

#include "frontend/specialize/Builtins.h"

namespace tile::specialize {

bool isBlockPointer(const PyValue &value);
/// Its `dtype`: a pointer to its elements.
PyValue blockPointerType(const PyValue &pointer);

/// `p.advance`; nothing for other names.
std::optional<PyValue> blockPointerMethod(const PyValue &pointer, llvm::StringRef name);

struct BlockAccess {
  Tensor pointers;
  Tensor mask; ///< false if no dimension is checked
};
/// The pointers behind a block pointer; `boundary` is the tuple of dimensions
/// to check. Nothing after an error.
std::optional<BlockAccess> expandBlockPointer(BuiltinCall &call, const PyValue &pointer,
                                              const PyValue &boundary);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_BLOCKPOINTER_H
