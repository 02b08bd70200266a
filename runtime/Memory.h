//===- Memory.h - device memory, streams and events -----------------------===//
//
// RAII over the driver's allocations, and the copies that host functions, the
// tuner and the self-test make. Every object keeps its context alive and
// enters it where the driver wants one.
//
//   class         CUDA object
//   DeviceBuffer  CUdeviceptr (cuMemAlloc)
//   StreamHandle  CUstream
//   EventHandle   CUevent
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_MEMORY_H
#define TILE_RUNTIME_MEMORY_H

#include "runtime/Context.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <utility>

namespace tile::runtime {

/// Shared by the RAII classes below: a handle, its context, and move-only use.
template <typename Handle> class ContextObject {
public:
  ContextObject() = default;
  ContextObject(ContextObject &&other) noexcept
      : owner(std::move(other.owner)), value(std::exchange(other.value, Handle())) {}
  ContextObject &operator=(ContextObject &&other) noexcept {
    std::swap(owner, other.owner);
    std::swap(value, other.value);
    return *this;
  }
  Handle handle() const { return value; }
  explicit operator bool() const { return value != Handle(); }

protected:
  ContextObject(std::shared_ptr<Context> context, Handle value)
      : owner(std::move(context)), value(value) {}
  ~ContextObject() = default;
  const cuda::CudaApi &api() const { return owner->api(); }
  std::shared_ptr<Context> owner;
  Handle value = Handle();
};

class DeviceBuffer : public ContextObject<cuda::DevicePtr> {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&) = default;
  DeviceBuffer &operator=(DeviceBuffer &&) = default;
  ~DeviceBuffer();
  /// Out of memory says how much was asked for and how much is free. Zero
  /// bytes make a buffer with a null pointer.
  static llvm::Expected<DeviceBuffer> allocate(std::shared_ptr<Context> context, size_t bytes);

  cuda::DevicePtr pointer() const { return value; }
  size_t size() const { return bytes; }
  /// Copies that return when done (with respect to the host).
  llvm::Error upload(const void *from, size_t count, size_t offset = 0);
  llvm::Error download(void *to, size_t count, size_t offset = 0) const;
  llvm::Error fill(unsigned char byte);

private:
  DeviceBuffer(std::shared_ptr<Context> context, cuda::DevicePtr pointer, size_t bytes)
      : ContextObject(std::move(context), pointer), bytes(bytes) {}
  llvm::Error checkRange(const char *what, size_t count, size_t offset) const;
  size_t bytes = 0;
};

/// Raw helpers for callers with their own bookkeeping; `stream` null is the
/// default stream.
llvm::Expected<cuda::DevicePtr> allocateDevice(const Context &context, size_t bytes);
llvm::Error freeDevice(const Context &context, cuda::DevicePtr pointer);
llvm::Error copyToDevice(const Context &context, cuda::DevicePtr to, const void *from, size_t bytes,
                         cuda::Stream stream = nullptr);
llvm::Error copyToHost(const Context &context, void *to, cuda::DevicePtr from, size_t bytes,
                       cuda::Stream stream = nullptr);
llvm::Error copyOnDevice(const Context &context, cuda::DevicePtr to, cuda::DevicePtr from,
                         size_t bytes, cuda::Stream stream = nullptr);
llvm::Error fillDevice(const Context &context, cuda::DevicePtr to, unsigned char byte, size_t bytes,
                       cuda::Stream stream = nullptr);
/// Waits for a stream; for the whole context if `stream` is null.
llvm::Error synchronize(const Context &context, cuda::Stream stream = nullptr);

class StreamHandle : public ContextObject<cuda::Stream> {
public:
  StreamHandle() = default;
  StreamHandle(StreamHandle &&) = default;
  StreamHandle &operator=(StreamHandle &&) = default;
  ~StreamHandle();
  static llvm::Expected<StreamHandle> create(std::shared_ptr<Context> context);

private:
  using ContextObject::ContextObject;
};

class EventHandle : public ContextObject<cuda::Event> {
public:
  EventHandle() = default;
  EventHandle(EventHandle &&) = default;
  EventHandle &operator=(EventHandle &&) = default;
  ~EventHandle();
  static llvm::Expected<EventHandle> create(std::shared_ptr<Context> context);
  llvm::Error record(cuda::Stream stream);
  llvm::Error wait();
  /// Milliseconds from `start` to `end`, both recorded and passed.
  static llvm::Expected<double> elapsed(const EventHandle &start, const EventHandle &end);

private:
  using ContextObject::ContextObject;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_MEMORY_H
