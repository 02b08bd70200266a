//===- AssemblerLevel.h - how hard NVIDIA's assembler shall try -----------===//
//
// Of some 115,000 random kernels that ran on a GPU and on the interpreter, three were assembled
// wrongly at the default level (and from level 2 on; by ptxas 12.3 to 13.0 and the drivers alike):
// all three have threads with several hundred 64-bit values, of which most are spilled, and some
// are read back by halves that were never stored. At level 1 the same texts run right. Such kernels
// wait for their spills at any level, so nothing is lost by it.
//
// A very long text is assembled at level 1 at once: what takes minutes else (55,000 lines: 183 s
// and 17 s) is the schedule of straight-line code that spills.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DISPATCH_ASSEMBLERLEVEL_H
#define TILE_RUNTIME_DISPATCH_ASSEMBLERLEVEL_H

#include <algorithm>
#include <string_view>

namespace tile::dispatch {

/// The level at which what spills a lot is assembled, and the one that assemblers take by default.
constexpr int kCarefulLevel = 1, kDefaultLevel = 3;
/// Bytes of a thread's stack from which on a kernel is assembled again: twice what its registers
/// hold. The frames of the three were 3088, 3944 and 6904 bytes.
constexpr int kMostSpilledBytes = 2048;
/// Lines of PTX from which on the careful level is the first that is tried.
constexpr std::ptrdiff_t kLongPtx = 40000;

/// The level to begin with.
inline int firstAssemblerLevel(std::string_view ptx) {
  return std::count(ptx.begin(), ptx.end(), '\n') >= kLongPtx ? kCarefulLevel : kDefaultLevel;
}

/// Whether what was assembled at `level`, with `localBytes` of stack a thread, is not to be relied
/// on.
inline bool spillsTooMuch(int level, int localBytes) {
  return level > kCarefulLevel && localBytes >= kMostSpilledBytes;
}

} // namespace tile::dispatch

#endif // TILE_RUNTIME_DISPATCH_ASSEMBLERLEVEL_H
