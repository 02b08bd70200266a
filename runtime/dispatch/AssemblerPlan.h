//===- AssemblerPlan.h - how NVIDIA's assembler is asked, and asked again -===//
//
// A text is assembled at the default level. What comes out with a large stack frame may be better
// made, or must not be relied on:
//
// - A bound of one program a multiprocessor makes the assembler load early whatever it can, with
//   all registers that there are. Where that ends in spills, it may have none without the bound (a
//   kernel with an unrolled loop of loads: 255 registers and 2,628 bytes of stack, 114 and none
//   without; 0.19 of the speed).
// - Of some 115,000 random kernels that ran on a GPU and on the interpreter, three were assembled
//   wrongly at the default level (and from level 2 on; by ptxas 12.3 to 13.0 and the drivers
//   alike): all three have threads with several hundred 64-bit values, of which most are spilled,
//   and some are read back by halves that were never stored. At level 1 the same texts run right.
//   They declare 1,283 to 8,235 values of 64 bits. A kernel that spills others is left as it is:
//   one with 285, mostly addresses, and 4 KB of stack takes three times as long at level 1.
//
// A very long text is assembled at level 1 at once: what takes minutes else (55,000 lines: 183 s
// and 17 s) is the schedule of straight-line code that spills.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DISPATCH_ASSEMBLERPLAN_H
#define TILE_RUNTIME_DISPATCH_ASSEMBLERPLAN_H

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace tile::dispatch {

/// The level at which what may be wrong else is assembled, and the one that assemblers take by
/// default.
constexpr int kCarefulLevel = 1, kDefaultLevel = 3;
/// Bytes of a thread's stack from which on a kernel is assembled again: twice what its registers
/// hold. The frames of the three were 3088, 3944 and 6904 bytes.
constexpr int kMostSpilledBytes = 2048;
/// Values of 64 bits that a text declares, from which on a frame of that size and all registers may
/// be full of them.
constexpr long kManyWideValues = (kMostSpilledBytes + 255 * 4) / 8;
/// Lines of PTX from which on the careful level is the first that is tried.
constexpr std::ptrdiff_t kLongPtx = 40000;

/// The level to begin with.
inline int firstAssemblerLevel(std::string_view ptx) {
  return std::count(ptx.begin(), ptx.end(), '\n') >= kLongPtx ? kCarefulLevel : kDefaultLevel;
}

/// Values of 64 bits in `.reg` lines: `.reg .b64 %rd<285>;`, or names with commas between them.
inline long wideValues(std::string_view ptx) {
  constexpr std::string_view kSpace = " \t";
  long sum = 0;
  for (size_t at = ptx.find(".reg"); at != ptx.npos; at = ptx.find(".reg", at + 1)) {
    std::string_view line = ptx.substr(at + 4, ptx.find(';', at) - (at + 4));
    line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
    if (line.size() < 4 || line[0] != '.' || line.substr(2, 2) != "64")
      continue;
    size_t many = line.find('<');
    sum += many == line.npos ? 1 + std::count(line.begin(), line.end(), ',')
                             : std::atol(std::string(line.substr(many + 1)).c_str());
  }
  return sum;
}

/// `ptx` without its bound of one program a multiprocessor; nothing if it has none, or deals out
/// registers to its warps by itself.
inline std::optional<std::string> withoutBoundOfOne(std::string_view ptx) {
  constexpr std::string_view kBound = ".minnctapersm 1\n";
  size_t at = ptx.find(kBound);
  if (at == ptx.npos || ptx.find("setmaxnreg") != ptx.npos)
    return std::nullopt;
  std::string text(ptx);
  return text.erase(at, kBound.size() - 1);
}

/// What to assemble, step by step:
///
///   AssemblerPlan plan(ptx);
///   while (plan.next()) {
///     made = assemble(plan.text(), plan.level());
///     if (plan.keeps(made.frameBytes))
///       best = made;
///   }
class AssemblerPlan {
public:
  /// `ptx` has to outlive the plan.
  explicit AssemblerPlan(std::string_view ptx) : ptx(ptx) {}

  /// Goes on to the next attempt; false when the best has been kept.
  bool next() {
    if (step == Step::Start)
      return attempt(Step::AsGiven, firstAssemblerLevel(ptx));
    if (levelNow == kCarefulLevel || best < kMostSpilledBytes)
      return false;
    if (step == Step::AsGiven)
      if ((unbound = withoutBoundOfOne(ptx)))
        return attempt(Step::Unbound, kDefaultLevel);
    return wideValues(ptx) >= kManyWideValues && attempt(Step::Careful, kCarefulLevel);
  }
  /// Ends with a null, as drivers want it, if the text that was given does.
  std::string_view text() const { return step == Step::Unbound ? *unbound : ptx; }
  int level() const { return levelNow; }

  /// Whether what was made, with a stack frame of `frameBytes`, is to replace what was kept.
  bool keeps(int frameBytes) {
    if (step == Step::Unbound && frameBytes >= best)
      return false;
    best = frameBytes;
    return true;
  }

private:
  enum class Step { Start, AsGiven, Unbound, Careful };
  bool attempt(Step which, int level) {
    step = which, levelNow = level;
    return true;
  }

  std::string_view ptx;
  std::optional<std::string> unbound;
  Step step = Step::Start;
  int levelNow = kDefaultLevel, best = 0;
};

} // namespace tile::dispatch

#endif // TILE_RUNTIME_DISPATCH_ASSEMBLERPLAN_H
