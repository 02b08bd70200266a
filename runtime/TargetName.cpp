//===- TargetName.cpp - what a target may be called ------------------------===//
#include "runtime/TargetName.h"
#include "runtime/Context.h"
#include "target/Devices.h"
#include "target/Target.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using llvm::StringRef;

llvm::Expected<std::string> runtime::nativeTarget() {
  auto api = cuda::CudaApi::get();
  if (!api)
    return api.takeError();
  cuda::Context context = nullptr;
  cuda::Device device = 0;
  if (api->cuCtxGetCurrent(&context) == cuda::Result::Success && context)
    (void)api->cuCtxGetDevice(&device);
  auto info = DeviceInfo::query(*api, device);
  if (!info)
    return info.takeError();
  return info->target();
}

std::string runtime::defaultTarget() {
  auto native = nativeTarget();
  if (native)
    return *native;
  llvm::consumeError(native.takeError());
  return fallbackTarget().name.str();
}

llvm::Expected<std::string> runtime::resolveTarget(StringRef name) {
  if (const Target *target = findTarget(name))
    return target->name.str();
  if (std::optional<std::string> target = targetOfBoard(name))
    return *target;
  if (name != "native")
    return llvm::createStringError(describeUnknownTarget(name));
  auto native = nativeTarget();
  if (native)
    return *native;
  return llvm::createStringError(formatted("target `native` is this machine's GPU, and there is "
                                           "none: {}; name a target, such as `h100` or `sm_90a`",
                                           llvm::toString(native.takeError())));
}
