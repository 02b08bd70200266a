//===- DebugKernels.cpp - assertions and printing -------------------------===//
#include "runtime/interp/Check.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace tile::interp;

static void assertAll(Frame &f, const Instruction &i, uint32_t n) {
  const uint8_t *condition = f.reg<uint8_t>(i.a);
  auto *bad = static_cast<const uint8_t *>(std::memchr(condition, 0, n));
  if (!bad || f.failed)
    return;
  const auto &info = *static_cast<const MessageInfo *>(i.aux);
  int64_t lane = bad - condition;
  std::string text = "assertion failed";
  if (!info.message.empty())
    text += ": " + info.message;
  if (std::string where = describeLane(lane, info.shape); !where.empty())
    text += ", " + where;
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

static void print(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const PrintInfo *>(i.aux);
  llvm::raw_string_ostream os(f.printed);
  auto head = [&](uint64_t element, llvm::ArrayRef<int64_t> shape) {
    os << "pid (" << f.programId[0] << ", " << f.programId[1] << ", " << f.programId[2]
       << ") idx (";
    std::string index;
    for (int64_t size : llvm::reverse(shape)) {
      index = std::to_string(element % size) + (index.empty() ? "" : ", ") + index;
      element /= size;
    }
    os << index << ")" << info.prefix;
  };
  if (info.operands.empty()) {
    head(0, {});
    os << "\n";
  }
  for (auto [number, o] : llvm::enumerate(info.operands)) {
    uint64_t count = 1;
    for (int64_t size : o.shape)
      count *= size;
    for (uint64_t k = 0; k < count; ++k) {
      head(k, o.shape);
      if (info.operands.size() > 1)
        os << "(operand " << number << ") ";
      printElement(os, f.base + o.src + k * byteSize(o.type), o, info.hex);
      os << "\n";
    }
  }
}

Kernel tile::interp::assertKernel() { return assertAll; }
Kernel tile::interp::printKernel() { return print; }
