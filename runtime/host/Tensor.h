//===- Tensor.h - tensors of host functions -------------------------------===//
//
// A tensor is a strided view of shared storage. The storage lives on the host,
// on the device, or on both: it moves when somebody looks, and a launch leaves
// the device's copy as the only valid one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_TENSOR_H
#define TILE_RUNTIME_HOST_TENSOR_H

#include "frontend/eval/Extrema.h"
#include "runtime/Device.h"
#include "runtime/host/Array.h"
#include "runtime/host/ElementBits.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cstdlib>

namespace tile::host {

using eval::CallArgs;
using eval::Evaluator;
using eval::PyValue;
using eval::Result;

class Storage;

/// One launch or copy of a measured function, to be repeated without running
/// the function again.
struct DeviceWork {
  runtime::Kernel *kernel = nullptr; ///< null: a copy
  runtime::LaunchConfig config;
  runtime::DevicePtr to = 0, from = 0;
  uint64_t bytes = 0;
  std::vector<std::shared_ptr<Storage>> storages; ///< kept alive
};

/// What all tensors of a run share. The device must outlive every tensor.
struct HostContext {
  explicit HostContext(runtime::Device &device) : device(device) {}
  runtime::Device &device;
  Memory memory = Memory::ofThisMachine();
  /// The first error of the device since it was last taken; empty if none.
  std::string deviceError;
  uint64_t randomTensors = 0; ///< made in this case: the default seeds

  llvm::StringRef function; ///< of `tile.*`, being called: for messages

  /// Storage whose address the program asked for: any kernel may find it.
  llvm::SmallPtrSet<Storage *, 8> exposed;

  /// Of all kernels that are launched (CompileOptions).
  bool eachLaneArrives = false;
  // Of functions of whole tensors:
  bool asBuilt = false;       ///< they run in code for other sizes, if it serves
  bool inFastestCuts = false; ///< measured where there is a GPU
  int otherCuts = 0;          ///< which of the cuts beside the model's they run in; 0: the model's
  std::function<void(llvm::StringRef)> print;
  /// The device compares what launches leave by itself; references mean nothing.
  bool ignoresReferences = false;
  /// Nothing is computed with large tensors of random numbers: they stay empty.
  bool skipsLargeRandom = false;

  std::vector<DeviceWork> *recording = nullptr; ///< where launches are noted, if anywhere

  void note(llvm::Error error);
};
using ContextPtr = std::shared_ptr<HostContext>;

class Storage {
public:
  /// Undefined content: poison bytes for whoever looks.
  Storage(ContextPtr context, uint64_t bytes);
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  uint64_t size() const { return bytes; }
  const ContextPtr &context() const { return owner; }
  /// The host's copy, up to date; null if there is no room for it (see HostContext).
  const uint8_t *read();
  /// As `read`, but it becomes the only valid one, of the bytes that `wrote` names.
  uint8_t *write();
  void wrote(uint64_t at, uint64_t count);
  /// As `write`, without fetching what the device holds: all of it is going to
  /// be overwritten.
  uint8_t *overwrite();
  /// The device's copy, up to date; 0 if that failed (see HostContext).
  runtime::DevicePtr devicePointer();
  /// After the device wrote: drops the host's copy.
  void deviceWrote();
  /// From here on every kernel may read and write it.
  void expose() { owner->exposed.insert(this); }

private:
  enum class Holder { Nobody, Host, Device, Both };
  bool reserve(); ///< of the host's memory, for one copy; notes an error
  bool allocateHost();
  void releaseHost();
  bool allocateDevice();
  void upload();

  ContextPtr owner;
  uint64_t bytes;
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> hostBytes; ///< null: there are none
  runtime::DevicePtr pointer = 0;
  Holder holder = Holder::Nobody;
  /// The bytes that only the host's copy has, on devices that know which bytes somebody has
  /// written; empty: all of them.
  llvm::BitVector written;
};

/// Every tensor lies inside its storage: there is no other way to make one than
/// through checks of its shape, strides and offset.
class Tensor : public eval::Extension {
  struct Checked {}; ///< only members make one

public:
  Tensor(Checked, std::shared_ptr<Storage> storage, DType type, llvm::ArrayRef<int64_t> shape,
         llvm::ArrayRef<int64_t> strides, int64_t offset);
  /// A view of some storage.
  static Result create(std::shared_ptr<Storage> storage, const DType &type,
                       llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                       int64_t offset = 0);
  /// A new contiguous tensor with undefined content.
  static Result create(const ContextPtr &context, const DType &type, llvm::ArrayRef<int64_t> shape);
  /// A new tensor with these values, rounded or wrapped to `type`.
  static Result create(const ContextPtr &context, const DType &type, const Array &values);
  /// A reference result: fp64, int64 or int1.
  static Result value(const ContextPtr &context, const Array &values);

  static bool classof(const Extension *e) { return e->classId() == &id; }

  const DType &type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return dims; }
  llvm::ArrayRef<int64_t> strides() const { return steps; }
  int64_t offset() const { return start; }
  size_t rank() const { return dims.size(); }
  int64_t size() const { return numElements(dims); }
  bool isContiguous() const;
  Storage &storage() const { return *memory; }
  const std::shared_ptr<Storage> &sharedStorage() const { return memory; }
  const ContextPtr &context() const { return memory->context(); }

  /// The values, exact, if there is room for them.
  std::unique_ptr<eval::EvalError> values(Array &out) const;
  /// Of a tensor of one element.
  Result onlyValue() const;
  /// Writes values that broadcast to the shape, rounded or wrapped.
  std::unique_ptr<eval::EvalError> assign(const Array &values);
  /// The address of the first element on the device.
  runtime::DevicePtr devicePointer() const;
  /// The same memory, seen differently.
  Result view(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, Extent offset) const;

  std::string typeName() const override { return "tensor"; }
  std::string repr() const override;
  Result unary(ast::UnaryOp op) override;
  Result binary(ast::BinaryOp op, const PyValue &other, bool reflected) override;
  Result compare(ast::CompareOp op, const PyValue &other) override;
  Result truth() override;
  Result number() override;
  Result length() override;
  Result iterate(std::vector<PyValue> &elements) override;
  Result subscript(Evaluator *evaluator, const PyValue &index) override;
  Result assignSubscript(const PyValue &index, const PyValue &value) override;
  Result attribute(llvm::StringRef name) override;
  Result callMethod(Evaluator &evaluator, llvm::StringRef name, const CallArgs &args) override;

  void forgetOrigin() override { extrema = nullptr; }

  std::shared_ptr<const eval::Extrema> extrema; ///< of what `max` or `min` has just given

private:
  static char id;
  /// x[index], whatever the tensor has been given by.
  Result part(const PyValue &index) const;
  Result selectRows(const Tensor &index) const;
  Result assignMasked(const Tensor &mask, const Array &given);
  Result selectElements(llvm::ArrayRef<PyValue> indices) const;
  Result basicIndex(llvm::ArrayRef<PyValue> indices) const;

  std::shared_ptr<Storage> memory;
  DType elementType;
  Shape dims, steps;
  int64_t start;
};

/// The values of a tensor, a number, or nested sequences of numbers.
std::unique_ptr<eval::EvalError> toArray(const PyValue &value, Array &out);
/// One element as a Python value; of a tensor of `type`, which says whether integers have a sign.
PyValue elementValue(const Array &array, int64_t i, DType type = DType(DType::Kind::Int64));
/// A shape given as an int or a sequence of ints; what it is for checks that there is room.
std::unique_ptr<eval::EvalError> toShape(const PyValue &value, Shape &out);
/// Strides given likewise; they may be negative.
std::unique_ptr<eval::EvalError> toStrides(const PyValue &value, Shape &out);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_TENSOR_H
