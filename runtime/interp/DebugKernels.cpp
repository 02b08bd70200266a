//===- DebugKernels.cpp - assertions and printing -------------------------===//
#include "ir/Printing.h"
#include "runtime/interp/Check.h"
#include "text/Format.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace tile::interp;
using tile::formatted;

static void assertAll(Frame &f, const Instruction &i, uint32_t n) {
  const uint8_t *condition = f.reg<uint8_t>(i.a);
  auto *bad = static_cast<const uint8_t *>(std::memchr(condition, 0, n));
  if (!bad || f.failed)
    return;
  const auto &info = *static_cast<const MessageInfo *>(i.aux);
  int64_t lane = bad - condition;
  std::string text = "assertion failed";
  if (!info.message.empty())
    text += formatted(": {}", info.message);
  if (std::string where = describeLane(lane, info.shape); !where.empty())
    text += formatted(", {}", where);
  f.fail(FindingKind::AssertFailed, i, lane, std::move(text));
}

static void printElement(llvm::raw_ostream &os, const uint8_t *at, const PrintInfo::Operand &o,
                         bool hex) {
  auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return value;
  };
  if (isFloat(o.type) && !hex) {
    double value = 0;
    switch (o.type) {
    case DType::F8E4M3:
      value = toFloat(read(E4M3{}));
      break;
    case DType::F8E5M2:
      value = toFloat(read(E5M2{}));
      break;
    case DType::F16:
      value = toFloat(read(Half{}));
      break;
    case DType::BF16:
      value = toFloat(read(BFloat{}));
      break;
    case DType::F32:
      value = read(0.0f);
      break;
    default:
      value = read(0.0);
    }
    os << llvm::format("%f", value);
    return;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, byteSize(o.type));
  unsigned width = 8 * byteSize(o.type);
  if (hex || o.isPointer)
    os << llvm::format_hex(bits, 2 + width / 4);
  else if (o.isSigned && o.type != DType::I1)
    os << (int64_t(bits << (64 - width)) >> (64 - width));
  else
    os << bits;
}

/// "[1, 0:16]" where a line begins; empty for a scalar.
static std::string lineIndex(uint64_t first, uint64_t length, llvm::ArrayRef<int64_t> shape) {
  std::string index;
  for (size_t d = shape.size(); d-- > 0;) {
    uint64_t at = first % uint64_t(shape[d]);
    first /= uint64_t(shape[d]);
    std::string text = std::to_string(at);
    if (d + 1 == shape.size())
      text += ":" + std::to_string(at + length);
    index = text + (index.empty() ? "" : ", ") + index;
  }
  return shape.empty() ? "" : formatted("[{}]", index);
}

static void print(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const PrintInfo *>(i.aux);
  llvm::raw_string_ostream os(f.printed);
  auto head = [&] {
    os << formatted("pid ({}, {}, {}) {}", f.programId[0], f.programId[1], f.programId[2],
                    info.prefix);
  };
  // Scalars share one line.
  if (llvm::all_of(info.operands, [](auto &o) { return o.shape.empty(); })) {
    head();
    os << (info.operands.empty() ? "" : ":");
    for (const PrintInfo::Operand &o : info.operands) {
      os << " ";
      printElement(os, f.base + o.src, o, info.hex);
    }
    os << "\n";
    return;
  }
  for (auto [number, o] : llvm::enumerate(info.operands)) {
    uint64_t count = 1;
    for (int64_t size : o.shape)
      count *= uint64_t(size);
    uint64_t length = uint64_t(tile::printedPerLine(o.shape));
    uint64_t shown = std::min<uint64_t>(count, tile::kMaxPrinted) / length * length;
    for (uint64_t k = 0; k < shown; k += length) {
      head();
      if (info.operands.size() > 1)
        os << formatted(" (operand {})", number);
      os << lineIndex(k, length, o.shape) << ":";
      for (uint64_t j = k; j < k + length; ++j) {
        os << " ";
        printElement(os, f.base + o.src + j * byteSize(o.type), o, info.hex);
      }
      os << "\n";
    }
    if (count > shown) {
      head();
      os << formatted(": {} more\n", count - shown);
    }
  }
}

Kernel tile::interp::assertKernel() { return assertAll; }
Kernel tile::interp::printKernel() { return print; }
