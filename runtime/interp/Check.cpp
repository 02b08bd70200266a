//===- Check.cpp - watching memory ----------------------------------------===//
#include "runtime/interp/Check.h"
#include "text/Format.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tile::interp;

std::string tile::interp::describeLane(int64_t lane, llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "";
  if (shape.size() == 1)
    return formatted("lane {}", lane);
  std::string text;
  for (int64_t size : llvm::reverse(shape)) {
    text = std::to_string(lane % size) + (text.empty() ? "" : ", ") + text;
    lane /= size;
  }
  return formatted("lane ({})", text);
}

CheckState::CheckState(Launch &launch, MemoryMap &memory)
    : launch(launch), memory(memory), granule(launch.program->granule),
      firstEvent(memory.firstEvent()), latest(launch.program->numInstructions()),
      overlapWatched(argumentsOverlap()), lanesWatched(launch.program->isAsWritten) {
  racesWatched = launch.grid.count() < 0xffffffffu;
}
CheckState::~CheckState() { memory.endEvents(firstEvent + uint32_t(events.size())); }

/// Most occurrences repeat a finding: they are counted, not put into words.
void CheckState::add(const Lane &lane, FindingKind kind,
                     llvm::function_ref<std::string()> message) {
  if (launch.findings.repeat(lane.frame, lane.i, kind))
    return;
  Finding &finding = launch.findings.add(lane.frame, lane.i, kind, lane.index, message());
  if (std::string text = describeLane(lane.index, lane.info.shape); !text.empty())
    finding.where += formatted(", {}", text);
}

/// The kernel's argument that the lane's pointer comes from, or nothing.
std::string CheckState::argumentOf(const AccessInfo &info) const {
  if (info.rootPointer == kNone)
    return "";
  const Parameter &parameter = launch.program->parameters[info.rootIndex];
  return parameter.name.empty() ? formatted("argument {}", info.rootIndex)
                                : formatted("`{}`", parameter.name);
}

std::string CheckState::nameOf(const Lane &lane, const MemoryMap::Buffer &buffer) const {
  if (!buffer.name.empty())
    return formatted("`{}`", buffer.name);
  std::string argument = argumentOf(lane.info);
  return argument.empty() ? "the buffer" : argument;
}

//===----------------------------------------------------------------------===//
// Bounds, alignment, initialisation
//===----------------------------------------------------------------------===//

static std::string countBytes(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

/// The argument that an access is an offset from, or null.
static uint64_t rootOf(Frame &frame, const AccessInfo &info) {
  return info.rootPointer == kNone ? 0 : *frame.reg<uint64_t>(info.rootPointer);
}

/// The buffer that `length` bytes at `address` lie in, or null. Where the
/// pointer comes from a kernel argument, it is that argument's buffer they must
/// lie in: one that happens to lie next to it will not do.
MemoryMap::Buffer *CheckState::locate(uint64_t root, uint64_t address, uint64_t length) {
  auto holds = [&](const MemoryMap::Buffer *b) {
    return b && address >= b->base && length <= b->bytes && address - b->base <= b->bytes - length;
  };
  bool sameRoot =
      recent && (!root || (root >= recent->base && root - recent->base < recent->bytes));
  if (sameRoot && holds(recent))
    return recent;
  MemoryMap::Buffer *buffer = memory.find(root ? root : address);
  return holds(buffer) ? recent = buffer : nullptr;
}

std::string CheckState::describeOutOfBounds(const Lane &lane) {
  const char *what = reads(lane.access)             ? "read"
                     : lane.access == Access::Write ? "write"
                                                    : "atomic access";
  std::string text = formatted("out-of-bounds {} of {}: ", what, countBytes(lane.bytes));
  uint64_t root = rootOf(lane.frame, lane.info);
  const std::string argument = argumentOf(lane.info);
  MemoryMap::Buffer *buffer = argument.empty() ? memory.findBelow(lane.address)
                              : root           ? memory.find(root)
                                               : nullptr;
  if (!buffer) {
    text += formatted("address {:#x} is in no buffer", lane.address);
    if (!argument.empty())
      text += formatted(" ({}{})", argument, root ? " points to none" : " is null");
    return text;
  }
  const std::string name = argument.empty() ? nameOf(lane, *buffer) : argument;
  if (lane.address < buffer->base)
    return text + formatted("{} before the start of {}, which has {}",
                            countBytes(buffer->base - lane.address), name,
                            countBytes(buffer->bytes));
  return text + formatted("at byte {} of {}, which has {}", lane.address - buffer->base, name,
                          countBytes(buffer->bytes));
}

void CheckState::initialized(const Lane &lane, MemoryMap::Buffer &buffer) {
  uint8_t *written = buffer.written.data() + (lane.address - buffer.base);
  if (lane.access != Access::Write && std::memchr(written, 0, lane.bytes))
    add(lane, FindingKind::Uninitialized, [&] {
      return formatted("read of memory that nobody wrote: {} at byte {} of {}",
                       countBytes(lane.bytes), lane.address - buffer.base, nameOf(lane, buffer));
    });
  if (!reads(lane.access))
    std::memset(written, 1, lane.bytes);
}

/// One lane; false if it must not touch memory.
bool CheckState::checkLane(const Lane &lane) {
  MemoryMap::Buffer *buffer = locate(rootOf(lane.frame, lane.info), lane.address, lane.bytes);
  if (!buffer) {
    add(lane, FindingKind::OutOfBounds, [&] { return describeOutOfBounds(lane); });
    return false;
  }
  if (lane.address % lane.bytes)
    add(lane, FindingKind::Misaligned, [&] {
      return formatted("misaligned address {0:#x}: an access of {1} bytes must be aligned to {1}",
                       lane.address, lane.bytes);
    });
  if (!buffer->written.empty())
    initialized(lane, *buffer);
  if (racesWatched)
    race(lane, 1, *buffer);
  return true;
}

/// `count` lanes at consecutive addresses from `lane` on. As long as all is
/// well the run is one access; otherwise each lane is looked at by itself.
void CheckState::checkRun(Lane lane, uint32_t count) {
  uint64_t length = uint64_t(count) * lane.bytes;
  MemoryMap::Buffer *buffer = locate(rootOf(lane.frame, lane.info), lane.address, length);
  bool fine = buffer && lane.address % lane.bytes == 0;
  if (fine && !buffer->written.empty()) {
    uint8_t *written = buffer->written.data() + (lane.address - buffer->base);
    fine = lane.access == Access::Write || !std::memchr(written, 0, length);
    if (fine && !reads(lane.access))
      std::memset(written, 1, length);
  }
  if (fine) {
    if (racesWatched)
      race(lane, count, *buffer);
    return;
  }
  for (uint32_t k = 0; k < count; ++k, ++lane.index, lane.address += lane.bytes)
    allowed[lane.index] = checkLane(lane);
}

const uint8_t *CheckState::check(Frame &frame, const Instruction &i, uint32_t n, unsigned bytes,
                                 Access access, const uint8_t *mask) {
  const auto &info = *static_cast<const AccessInfo *>(i.aux);
  const uint64_t *pointers = frame.reg<uint64_t>(i.a);
  ++turn;
  if (mask)
    allowed.assign(mask, mask + n);
  else
    allowed.assign(n, 1);
  if (info.wrapped != kNone) {
    const uint8_t *wrapped = frame.reg<uint8_t>(info.wrapped);
    for (uint32_t k = 0; k < n; ++k)
      if (wrapped[info.isOfBase ? 0 : k] && allowed[k])
        add({frame, i, info, access, pointers[k], bytes, k}, FindingKind::AddressOverflow, [] {
          return "the offset of this address does not fit 32 bits and wraps; compute it in 64 bits";
        });
  }
  const bool isConstant = info.rootPointer != kNone && !reads(access) &&
                          launch.program->parameters[info.rootIndex].isConstant;
  for (uint32_t k = 0; k < n;) {
    if (!allowed[k]) {
      ++k;
      continue;
    }
    uint32_t end = k + 1;
    while (end < n && allowed[end] && pointers[end] == pointers[end - 1] + bytes)
      ++end;
    if (isConstant)
      constantWritten({frame, i, info, access, pointers[k], bytes, k});
    checkRun({frame, i, info, access, pointers[k], bytes, k}, end - k);
    k = end;
  }
  return allowed.data();
}
