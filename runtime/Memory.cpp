//===- Memory.cpp ---------------------------------------------------------===//
#include "runtime/Memory.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using cuda::Result;

/// "640 bytes", "1.5 GiB".
static std::string formatBytes(uint64_t bytes) {
  const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return formatted("{} bytes", bytes);
  double value = bytes / 1024.0;
  unsigned unit = 0;
  for (; value >= 1024 && unit < 3; ++unit)
    value /= 1024;
  return formatted("{:.1f} {}", value, units[unit]);
}

llvm::Expected<cuda::DevicePtr> runtime::allocateDevice(const Context &context, size_t bytes) {
  const cuda::CudaApi &api = context.api();
  TILE_ENTER_CONTEXT(api, context.handle());
  if (bytes == 0)
    return cuda::DevicePtr(0);
  cuda::DevicePtr pointer = 0;
  Result result = api.cuMemAlloc(&pointer, bytes);
  if (result != Result::OutOfMemory) {
    if (result != Result::Success)
      return api.check(result, "cuMemAlloc");
    return pointer;
  }
  size_t free = 0, total = 0;
  std::string situation;
  if (api.cuMemGetInfo(&free, &total) == Result::Success)
    situation = formatted(": {} of {} are free", formatBytes(free), formatBytes(total));
  return makeError(ErrorCode::OutOfMemory,
                   formatted("out of device memory: cannot allocate {} on {}{}", formatBytes(bytes),
                             context.device().name, situation),
                   result);
}

llvm::Error runtime::freeDevice(const Context &context, cuda::DevicePtr pointer) {
  if (!pointer)
    return llvm::Error::success();
  TILE_ENTER_CONTEXT(context.api(), context.handle());
  TILE_CUDA_TRY(context.api(), cuMemFree(pointer));
  return llvm::Error::success();
}

llvm::Error runtime::copyToDevice(const Context &context, cuda::DevicePtr to, const void *from,
                                  size_t bytes, cuda::Stream stream) {
  if (bytes == 0)
    return llvm::Error::success();
  TILE_ENTER_CONTEXT(context.api(), context.handle());
  TILE_CUDA_TRY(context.api(), cuMemcpyHtoDAsync(to, from, bytes, stream));
  TILE_CUDA_TRY(context.api(), cuStreamSynchronize(stream));
  return llvm::Error::success();
}

llvm::Error runtime::copyToHost(const Context &context, void *to, cuda::DevicePtr from,
                                size_t bytes, cuda::Stream stream) {
  if (bytes == 0)
    return llvm::Error::success();
  TILE_ENTER_CONTEXT(context.api(), context.handle());
  TILE_CUDA_TRY(context.api(), cuMemcpyDtoHAsync(to, from, bytes, stream));
  TILE_CUDA_TRY(context.api(), cuStreamSynchronize(stream));
  return llvm::Error::success();
}

llvm::Error runtime::copyOnDevice(const Context &context, cuda::DevicePtr to, cuda::DevicePtr from,
                                  size_t bytes, cuda::Stream stream) {
  if (bytes == 0)
    return llvm::Error::success();
  TILE_ENTER_CONTEXT(context.api(), context.handle());
  TILE_CUDA_TRY(context.api(), cuMemcpyDtoDAsync(to, from, bytes, stream));
  return llvm::Error::success();
}

llvm::Error runtime::fillDevice(const Context &context, cuda::DevicePtr to, unsigned char byte,
                                size_t bytes, cuda::Stream stream) {
  if (bytes == 0)
    return llvm::Error::success();
  TILE_ENTER_CONTEXT(context.api(), context.handle());
  TILE_CUDA_TRY(context.api(), cuMemsetD8Async(to, byte, bytes, stream));
  return llvm::Error::success();
}

llvm::Error runtime::synchronize(const Context &context, cuda::Stream stream) {
  TILE_ENTER_CONTEXT(context.api(), context.handle());
  if (stream)
    TILE_CUDA_TRY(context.api(), cuStreamSynchronize(stream));
  else
    TILE_CUDA_TRY(context.api(), cuCtxSynchronize());
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// DeviceBuffer
//===----------------------------------------------------------------------===//

llvm::Expected<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<Context> context,
                                                    size_t bytes) {
  auto pointer = allocateDevice(*context, bytes);
  if (!pointer)
    return pointer.takeError();
  return DeviceBuffer(std::move(context), *pointer, bytes);
}

DeviceBuffer::~DeviceBuffer() {
  if (owner)
    llvm::consumeError(freeDevice(*owner, value)); // a destructor cannot report
}

llvm::Error DeviceBuffer::checkRange(const char *what, size_t count, size_t offset) const {
  if (offset <= bytes && count <= bytes - offset)
    return llvm::Error::success();
  return makeError(ErrorCode::InvalidArgument,
                   formatted("{} of {} bytes at offset {} passes the end of a buffer of {} bytes",
                             what, count, offset, bytes));
}

llvm::Error DeviceBuffer::upload(const void *from, size_t count, size_t offset) {
  if (llvm::Error error = checkRange("an upload", count, offset))
    return error;
  return count ? copyToDevice(*owner, value + offset, from, count) : llvm::Error::success();
}

llvm::Error DeviceBuffer::download(void *to, size_t count, size_t offset) const {
  if (llvm::Error error = checkRange("a download", count, offset))
    return error;
  return count ? copyToHost(*owner, to, value + offset, count) : llvm::Error::success();
}

llvm::Error DeviceBuffer::fill(unsigned char byte) {
  return bytes ? fillDevice(*owner, value, byte, bytes) : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// StreamHandle, EventHandle
//===----------------------------------------------------------------------===//

llvm::Expected<StreamHandle> StreamHandle::create(std::shared_ptr<Context> context) {
  TILE_ENTER_CONTEXT(context->api(), context->handle());
  cuda::Stream stream = nullptr;
  TILE_CUDA_TRY(context->api(), cuStreamCreate(&stream, cuda::StreamNonBlocking));
  return StreamHandle(std::move(context), stream);
}

StreamHandle::~StreamHandle() {
  if (value)
    (void)api().cuStreamDestroy(value);
}

llvm::Expected<EventHandle> EventHandle::create(std::shared_ptr<Context> context) {
  TILE_ENTER_CONTEXT(context->api(), context->handle());
  cuda::Event event = nullptr;
  TILE_CUDA_TRY(context->api(), cuEventCreate(&event, cuda::EventDefault));
  return EventHandle(std::move(context), event);
}

EventHandle::~EventHandle() {
  if (value)
    (void)api().cuEventDestroy(value);
}

llvm::Error EventHandle::record(cuda::Stream stream) {
  TILE_ENTER_CONTEXT(api(), owner->handle());
  TILE_CUDA_TRY(api(), cuEventRecord(value, stream));
  return llvm::Error::success();
}

llvm::Error EventHandle::wait() {
  TILE_CUDA_TRY(api(), cuEventSynchronize(value));
  return llvm::Error::success();
}

llvm::Expected<double> EventHandle::elapsed(const EventHandle &start, const EventHandle &end) {
  float milliseconds = 0;
  TILE_CUDA_TRY(start.api(), cuEventElapsedTime(&milliseconds, start.value, end.value));
  return static_cast<double>(milliseconds);
}
