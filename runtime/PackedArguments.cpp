//===- PackedArguments.cpp - a launch's arguments as the C interface has them //
#include "runtime/PackedArguments.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;
using namespace tile::runtime;

/// The bits of a floating-point argument as its parameter has it.
static uint64_t floatBits(double value, llvm::StringRef type) {
  llvm::APFloat number(value);
  bool lost = false;
  auto to = [&](const llvm::fltSemantics &format) {
    number.convert(format, llvm::APFloat::rmNearestTiesToEven, &lost);
  };
  if (type == "fp32")
    to(llvm::APFloat::IEEEsingle());
  else if (type == "fp16")
    to(llvm::APFloat::IEEEhalf());
  else if (type == "bf16")
    to(llvm::APFloat::BFloat());
  return number.bitcastToAPInt().getZExtValue();
}

PackedArguments::PackedArguments(const KernelMetadata &metadata, llvm::ArrayRef<LaunchArg> args)
    : metadata(metadata) {
  for (auto [index, arg] : llvm::enumerate(args)) {
    llvm::SmallVector<int, 4> path;
    top.push_back(pack(arg, int(index), path));
  }
}

const void *PackedArguments::pack(const LaunchArg &arg, int index,
                                  llvm::SmallVectorImpl<int> &path) {
  switch (arg.kind) {
  case LaunchArg::Kind::None:
    return nullptr;
  case LaunchArg::Kind::Pointer:
  case LaunchArg::Kind::Int:
    return &scalars.emplace_back(arg.bits); // narrower ones are the low bytes
  case LaunchArg::Kind::Float:
    return &scalars.emplace_back(floatBits(arg.number, typeOf(index, path)));
  case LaunchArg::Kind::Tuple: {
    std::vector<const void *> &elements = tuples.emplace_back();
    for (auto [i, element] : llvm::enumerate(arg.elements)) {
      path.push_back(i);
      elements.push_back(pack(element, index, path));
      path.pop_back();
    }
    return elements.data();
  }
  case LaunchArg::Kind::Descriptor: {
    tile_descriptor &descriptor = descriptors.emplace_back();
    descriptor = {};
    descriptor.base = reinterpret_cast<void *>(arg.bits);
    descriptor.rank = std::min<size_t>(arg.shape.size(), std::size(descriptor.shape));
    for (int i = 0; i < descriptor.rank; ++i) {
      descriptor.shape[i] = arg.shape[i];
      descriptor.strides[i] = i < static_cast<int>(arg.strides.size()) ? arg.strides[i] : 1;
    }
    return &descriptor;
  }
  }
  return nullptr;
}

llvm::StringRef PackedArguments::typeOf(int index, llvm::ArrayRef<int> path) const {
  for (const KernelParameter &parameter : metadata.params)
    if (parameter.kind == KernelParameter::Kind::Arg && parameter.index == index &&
        path == llvm::ArrayRef<int>(parameter.path))
      return parameter.type;
  return "fp32"; // not read by the kernel
}
