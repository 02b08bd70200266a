//===- Algebra.cpp - numbers of a ring for floating-point ones -------------===//
#include "ir/Algebra.h"

using namespace tile;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

std::optional<APInt> algebra::image(const APFloat &value) {
  unsigned width = APFloat::getSizeInBits(value.getSemantics());
  if (value.isNaN())
    return std::nullopt;
  if (value.isInfinity())
    return value.isNegative() ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  if (value.isZero())
    return APInt(width, 0); // of both signs: what sums begin with adds nothing
  APFloat wide = value;
  bool isExact = true, isLossy = false;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isLossy);
  APSInt whole(64, /*isUnsigned=*/false);
  if (wide.convertToInteger(whole, APFloat::rmTowardZero, &isExact) == APFloat::opOK && isExact)
    return whole.trunc(width);
  return APInt(64, mix(seedOf("constant"), int64_t(wide.bitcastToAPInt().getZExtValue())))
      .trunc(width);
}

uint64_t algebra::seedOf(llvm::StringRef function) {
  uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a
  for (char c : function)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3ull;
  return hash;
}

llvm::StringRef algebra::functionOf(llvm::StringRef symbol, unsigned width) {
  symbol.consume_front("__tile_");
  symbol.consume_front("__nv_");
  symbol.consume_front("fast_");
  if (width == 32)
    symbol.consume_back("f");
  symbol.consume_back("_absolute");
  return symbol;
}
