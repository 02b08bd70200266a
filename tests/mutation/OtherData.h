//===- OtherData.h - a launch's memory with other numbers in it ------------===//
//
// What a launch finds in memory is what its test wanted to see: often numbers of which
// many are the same, or of which only the largest counts, or a sum's sign. A fault in who
// reads what then leaves the result as it is. Mutants are compared with the kernel that
// they were made of, so any numbers will do, as long as that kernel bears them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_MUTATION_OTHERDATA_H
#define TILE_TESTS_MUTATION_OTHERDATA_H

#include <cstdint>
#include <string>
#include <vector>

namespace tile::mutation {

/// The bytes of each range of memory of a launch.
using Image = std::vector<std::vector<uint8_t>>;

/// How many kinds of other numbers there are.
constexpr unsigned kOtherData = 8;

/// An image with the numbers of each range in another order (`kind` 0 and 1: of 8 and 4 bytes;
/// 2 and 3: of 4 and 2 bytes, and with a random highest bit, which is the sign of a float), or
/// where they are with random low bits (4 and 5: of 4 and 2 bytes), as where all are one, or with
/// random exponents (6 and 7: of fp32 and fp16), by which some come to far more than others.
/// Indices and pointers stay indices and pointers of the range with the first two kinds, and small
/// ones stay what they are with the last two. The same for the same seed.
Image withOtherData(const Image &image, unsigned kind, uint64_t seed);

/// Which NaN an operation gives of two is not defined on the host, and other numbers come to NaN
/// often.
enum class NaNs { AsTheyAre, AllTheSame };

/// The first 4 bytes in which two images of the same sizes differ, in words; empty if none do.
/// With NaNs::AllTheSame, 4 bytes that are a NaN of fp32 in both, or 2 that are one of fp16 or of
/// bf16 in both, do not.
std::string differenceOf(const Image &is, const Image &was, NaNs nans);

} // namespace tile::mutation

#endif // TILE_TESTS_MUTATION_OTHERDATA_H
