//===- ElementKernels.cpp - descriptors, gather, histogram, mapping --------===//
#include "runtime/interp/Check.h"
#include "runtime/interp/Functors.h"
#include "text/Format.h"
#include <cstring>

using namespace tile::interp;
using tile::formatted;

namespace {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// What the hardware demands of a descriptor, put to the test.
void checkDescriptor(Frame &f, const Instruction &i, const DescriptorInfo &info) {
  auto broken = [&](std::string text) {
    if (!f.launch->findings.repeat(f, i, FindingKind::BrokenPromise))
      f.launch->findings.add(f, i, FindingKind::BrokenPromise, 0, std::move(text));
  };
  uint64_t base = *f.reg<uint64_t>(i.a);
  if (base % 16)
    broken("the base of the tensor descriptor is not aligned to 16 bytes");
  for (size_t d = 0; d < info.block.size(); ++d) {
    int64_t stride = *f.reg<int64_t>(info.strides[d]);
    bool last = d + 1 == info.block.size();
    if (last ? stride != 1 : stride % 16 * info.bytes % 16 != 0)
      broken(formatted("stride {} of the tensor descriptor is {}{}", d, stride,
                       last ? " elements, but the last one must be 1"
                            : " elements, which is no multiple of 16 bytes"));
  }
}

/// dst: addresses, b: whether an element lies inside.
void descriptorAddress(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const DescriptorInfo *>(i.aux);
  if (f.check)
    checkDescriptor(f, i, info);
  uint64_t base = *f.reg<uint64_t>(i.a);
  uint64_t *address = f.reg<uint64_t>(i.dst);
  uint8_t *inside = f.reg<uint8_t>(i.b);
  size_t rank = info.block.size();
  for (uint32_t k = 0; k < n; ++k) {
    int64_t rest = k;
    uint64_t offset = 0; // strides may be any number: it wraps, as addresses do
    bool in = true;
    for (size_t d = rank; d-- > 0;) {
      int64_t at = rest % info.block[d];
      rest /= info.block[d];
      if (info.rows == kNone)
        at += *f.reg<int32_t>(info.offsets[d]);
      else if (d == 0)
        at = f.reg<int32_t>(info.rows)[at];
      else
        at += *f.reg<int32_t>(info.column);
      in &= at >= 0 && at < *f.reg<int32_t>(info.shape[d]);
      offset += uint64_t(at) * *f.reg<uint64_t>(info.strides[d]);
    }
    address[k] = base + offset * info.bytes;
    inside[k] = in;
  }
}

//===----------------------------------------------------------------------===//
// Gather, histogram
//===----------------------------------------------------------------------===//

int64_t readSigned(const uint8_t *at, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  unsigned shift = 64 - 8 * bytes;
  return int64_t(bits << shift) >> shift;
}

template <class T> void gather(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const GatherInfo *>(i.aux);
  T *d = f.reg<T>(i.dst);
  const T *src = f.reg<T>(i.a);
  const uint8_t *index = f.base + i.b;
  for (uint32_t k = 0; k < n; ++k) {
    uint32_t inner = k % info.inner, outer = k / info.inner / info.picked;
    int64_t at = readSigned(index + size_t(k) * info.indexBytes, info.indexBytes);
    bool outside = at < 0 || at >= int64_t(info.length);
    if (outside && f.check && !f.launch->findings.repeat(f, i, FindingKind::OutOfBounds)) {
      Finding &finding = f.launch->findings.add(
          f, i, FindingKind::OutOfBounds, k,
          formatted("index {} of a gather is outside of 0 to {}", at, info.length - 1));
      if (std::string lane = describeLane(k, info.shape); !lane.empty())
        finding.where += formatted(", {}", lane);
    }
    // Unspecified, but as on a GPU where the dimension is a power of two.
    at = int64_t(uint64_t(at) % info.length);
    d[k] = src[(size_t(outer) * info.length + size_t(at)) * info.inner + inner];
  }
}

template <class T> void histogram(Frame &f, const Instruction &i, uint32_t n) {
  const T *v = f.reg<T>(i.a);
  const uint8_t *mask = i.b == kNone ? nullptr : f.reg<uint8_t>(i.b);
  uint32_t *d = f.reg<uint32_t>(i.dst);
  std::memset(d, 0, size_t(i.imm) * 4);
  for (uint32_t k = 0; k < n; ++k) {
    if (mask && !mask[k])
      continue;
    if (v[k] < uint64_t(i.imm))
      ++d[v[k]];
    else if (f.check && !f.launch->findings.repeat(f, i, FindingKind::OutOfBounds))
      f.launch->findings
          .add(f, i, FindingKind::OutOfBounds, k,
               formatted("value {} of a histogram is outside of its bins, 0 to {}",
                         readSigned(reinterpret_cast<const uint8_t *>(v + k), sizeof(T)),
                         i.imm - 1))
          .where += formatted(", lane {}", k);
  }
}

//===----------------------------------------------------------------------===//
// Functions of elements
//===----------------------------------------------------------------------===//

void map(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const MapInfo *>(i.aux);
  for (uint32_t k = 0; k < n; k += info.pack) {
    // A block smaller than `pack` hands its last element over again.
    auto position = [&](size_t field) {
      return size_t(std::min<uint32_t>(k + field % info.pack, n - 1));
    };
    for (size_t j = 0; j < info.inputs.size(); ++j) {
      const MapInfo::Field &in = info.inputs[j];
      std::memcpy(f.base + in.element, f.base + in.block + position(j) * in.bytes, in.bytes);
    }
    uint32_t pc = 0;
    if (execute(f, info.code.data(), pc, 1) != Outcome::Finished)
      return;
    for (size_t j = info.outputs.size(); j-- > 0;) {
      const MapInfo::Field &out = info.outputs[j];
      std::memcpy(f.base + out.block + position(j) * out.bytes, f.base + out.element, out.bytes);
    }
  }
}

void checkAssume(Frame &f, const Instruction &i, uint32_t) {
  if (!*f.reg<uint8_t>(i.a) && !f.launch->findings.repeat(f, i, FindingKind::BrokenPromise))
    f.launch->findings.add(f, i, FindingKind::BrokenPromise, 0,
                           "broken promise: what is assumed here does not hold");
}

} // namespace

Kernel tile::interp::descriptorAddressKernel() { return descriptorAddress; }
Kernel tile::interp::gatherKernel(unsigned bytes) {
  return forSize(bytes, []<class T>() -> Kernel { return gather<T>; });
}
Kernel tile::interp::histogramKernel(unsigned bytes) {
  return forSize(bytes, []<class T>() -> Kernel { return histogram<T>; });
}
Kernel tile::interp::mapKernel() { return map; }
Kernel tile::interp::checkAssumeKernel() { return checkAssume; }
