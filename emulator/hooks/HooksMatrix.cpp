//===- HooksMatrix.cpp - matrix products of a warp, ldmatrix, stmatrix ----===//
//
// A warp's operands are gathered from the registers of its lanes into plain
// matrices, multiplied, and scattered back. The layouts of all shapes follow one
// rule: registers of 32 bits hold E = 32 / bits neighbours along k; lane l holds
// row l/4 and columns E * (l%4)...; further registers alternate between 8 rows
// on and 4 E columns on.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Matrix.h"
#include "emulator/machine/Memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>

using namespace tile::emu;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::optional<Element> tile::emu::parseElement(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Element>>(name)
      .Case("f16", Element::F16)
      .Case("bf16", Element::BF16)
      .Case("tf32", Element::TF32)
      .Case("f64", Element::F64)
      .Case("f32", Element::F32)
      .Case("e4m3", Element::E4M3)
      .Case("e5m2", Element::E5M2)
      .Case("s8", Element::S8)
      .Case("u8", Element::U8)
      .Case("s4", Element::S4)
      .Case("u4", Element::U4)
      .Case("s32", Element::S32)
      .Case("b1", Element::B1)
      .Default(std::nullopt);
}

unsigned tile::emu::elementBits(Element e) {
  switch (e) {
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::F64:
    return 64;
  case Element::E4M3:
  case Element::E5M2:
  case Element::S8:
  case Element::U8:
    return 8;
  case Element::S4:
  case Element::U4:
    return 4;
  case Element::B1:
    return 1;
  default:
    return 32;
  }
}

bool tile::emu::isInteger(Element e) { return e >= Element::S8; }

double tile::emu::elementValue(Element e, uint64_t word) {
  switch (e) {
  case Element::F16:
    return double(halfTable()[word & 0xffff]);
  case Element::BF16:
    return double(fromBF16(uint16_t(word)));
  case Element::TF32: // the low bits do not take part
    return decode(Format::TF32, word);
  case Element::F32:
    return double(llvm::bit_cast<float>(uint32_t(word)));
  case Element::F64:
    return llvm::bit_cast<double>(word);
  case Element::E4M3:
    return decode(Format::E4M3, word & 0xff);
  case Element::E5M2:
    return decode(Format::E5M2, word & 0xff);
  case Element::S8:
    return int8_t(word);
  case Element::U8:
    return uint8_t(word);
  case Element::S4:
    return double(int64_t(word << 60) >> 60);
  case Element::U4:
    return double(word & 15);
  case Element::S32:
    return int32_t(word);
  case Element::B1:
    return double(word & 1);
  }
  return 0;
}

unsigned MatrixShape::aRegisters() const { return std::max(1u, m * k * elementBits(a) / 32 / 32); }
unsigned MatrixShape::bRegisters() const { return std::max(1u, n * k * elementBits(b) / 32 / 32); }
unsigned MatrixShape::accumulatorRegisters() const {
  return std::max(1u, m * n * elementBits(accumulator) / 32 / 32);
}

uint64_t tile::emu::ringValue(Element e, uint64_t word) {
  unsigned unused = 64 - elementBits(e);
  bool isUnsigned = e == Element::U8 || e == Element::U4 || e == Element::B1;
  word <<= unused;
  return isUnsigned ? word >> unused : uint64_t(int64_t(word) >> unused);
}

double tile::emu::accumulatorValue(Element e, uint32_t low, uint32_t high) {
  return elementValue(e, e == Element::F64 ? low | uint64_t(high) << 32 : low);
}

uint64_t tile::emu::roundAccumulator(Element e, double value, bool saturate) {
  switch (e) {
  case Element::F16:
    return encode(Format::F16, value);
  case Element::F64:
    return llvm::bit_cast<uint64_t>(value);
  case Element::S32:
    if (saturate)
      return uint32_t(int32_t(std::fmin(std::fmax(value, -2147483648.0), 2147483647.0)));
    return uint32_t(int64_t(value));
  default:
    return llvm::bit_cast<uint32_t>(float(value));
  }
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {
/// D, A, B, C of one lane: registers of 32 bits, one behind the other.
struct MmaOperands {
  uint64_t shape;
  uint32_t *words;
};
} // namespace

/// Reads element `e` of register `r` of a lane.
static uint64_t piece(const uint32_t *words, unsigned r, unsigned e, unsigned bits) {
  if (bits == 64)
    return words[2 * r] | uint64_t(words[2 * r + 1]) << 32;
  return uint64_t(words[r]) >> (e * bits) & ((uint64_t(1) << bits) - 1);
}

/// Computes in T: double, or uint64_t for numbers of a ring.
template <typename T> static void performMmaIn(Warp &w) {
  auto operands = [&](unsigned lane) {
    return static_cast<MmaOperands *>(w.lanes[lane]->request.operands);
  };
  MatrixShape s = MatrixShape::unpack(operands(0)->shape);
  unsigned dWords = s.accumulatorRegisters(), aWords = s.aRegisters();
  T a[16 * 256], b[256 * 8], d[16 * 8];
  unsigned aBits = elementBits(s.a), bBits = elementBits(s.b), dBits = elementBits(s.accumulator);
  unsigned perA = std::max(1u, 32 / aBits), perB = std::max(1u, 32 / bBits);
  unsigned rowsAtOnce = s.m / 8; // 8 rows a register
  for (unsigned lane = 0; lane < 32; ++lane) {
    const uint32_t *words = operands(lane)->words;
    unsigned g = lane / 4, t = lane % 4;
    const uint32_t *aw = words + dWords, *bw = aw + aWords;
    for (unsigned r = 0; r < s.m * s.k / 32 / perA; ++r)
      for (unsigned e = 0; e < perA; ++e) {
        unsigned row = g + 8 * (r % rowsAtOnce);
        unsigned column = perA * t + 4 * perA * (r / rowsAtOnce) + e;
        a[row * s.k + column] = valueOf<T>(s.a, piece(aw, r, e, aBits));
      }
    for (unsigned r = 0; r < s.n * s.k / 32 / perB; ++r)
      for (unsigned e = 0; e < perB; ++e)
        b[(perB * t + 4 * perB * r + e) * s.n + g] = valueOf<T>(s.b, piece(bw, r, e, bBits));
  }
  auto forAccumulators = [&](auto body) {
    unsigned perLane = s.m * s.n / 32;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < perLane; ++i)
        body(lane, i, lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
  };
  unsigned perWord = dBits == 16 ? 2 : 1;
  forAccumulators([&](unsigned lane, unsigned i, unsigned row, unsigned column) {
    const uint32_t *c = operands(lane)->words + dWords + aWords + s.bRegisters();
    d[row * s.n + column] = valueOf<T>(s.accumulator, piece(c, i / perWord, i % perWord, dBits));
  });
  multiply(s.m, s.n, s.k, a, b, d);
  forAccumulators([&](unsigned lane, unsigned i, unsigned row, unsigned column) {
    uint32_t *out = operands(lane)->words;
    uint64_t v = roundAccumulator(s.accumulator, d[row * s.n + column], s.saturate);
    if (dBits == 64)
      out[2 * i] = uint32_t(v), out[2 * i + 1] = uint32_t(v >> 32);
    else if (dBits == 16)
      out[i / 2] = i % 2 ? (out[i / 2] & 0xffff) | uint32_t(v) << 16 : uint32_t(v);
    else
      out[i] = uint32_t(v);
  });
  Counters &counters = w.cta->cluster->worker->counters;
  ++counters.mmas;
  counters.multiplyAdds += uint64_t(s.m) * s.n * s.k;
}

static void performMma(Warp &w, uint32_t) {
  auto &first = *static_cast<MmaOperands *>(w.lanes[0]->request.operands);
  if (MatrixShape::unpack(first.shape).algebraic)
    performMmaIn<uint64_t>(w);
  else
    performMmaIn<double>(w);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

namespace {
struct MatrixMove {
  uint32_t address;
  uint32_t count; ///< matrices: 1, 2, 4
  bool transposed;
  uint32_t *words;
};
} // namespace

/// `access` is what happens to each row of 16 bytes, whose address lane 8j + i
/// gives.
template <typename Element>
static void forMatrixElements(Warp &w, uint32_t access, Element element) {
  auto move = [&](unsigned lane) {
    return static_cast<MatrixMove *>(w.lanes[lane]->request.operands);
  };
  unsigned count = move(0)->count;
  bool transposed = move(0)->transposed;
  for (unsigned j = 0; j < count; ++j) {
    uint16_t *rows[8];
    for (unsigned i = 0; i < 8; ++i) {
      Thread &t = *w.lanes[8 * j + i];
      rows[i] = static_cast<uint16_t *>(
          sharedAddress(t, move(8 * j + i)->address, 16, access, t.request.site));
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = lane / 4, column = 2 * (lane % 4) + e;
        if (transposed)
          std::swap(row, column);
        element(move(lane)->words[j], e, rows[row][column]);
      }
  }
}

static void performLoadMatrix(Warp &w, uint32_t) {
  forMatrixElements(w, kRead, [](uint32_t &word, unsigned e, uint16_t &cell) {
    word = e ? (word & 0xffff) | uint32_t(cell) << 16 : cell;
  });
}

static void performStoreMatrix(Warp &w, uint32_t) {
  forMatrixElements(w, kWrite, [](uint32_t &word, unsigned e, uint16_t &cell) {
    cell = uint16_t(word >> (16 * e));
  });
}

extern "C" {

void tileEmuMma(Thread *t, uint64_t shape, uint32_t *words, uint32_t site) {
  MmaOperands o{shape, words};
  converge(*t, {performMma, shape, ~0u, site, &o, /*aligned=*/true});
}

void tileEmuMoveMatrix(Thread *t, uint32_t address, uint32_t *words, uint32_t count,
                       uint32_t transposed, uint32_t store, uint32_t site) {
  MatrixMove o{address, count, bool(transposed), words};
  converge(*t, {store ? performStoreMatrix : performLoadMatrix, count | transposed << 8, ~0u, site,
                &o, /*aligned=*/true});
}
}

llvm::ArrayRef<Hook> tile::emu::matrixHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuMma), TILE_HOOK(tileEmuMoveMatrix)};
  return hooks;
}
