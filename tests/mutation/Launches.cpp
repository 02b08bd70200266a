//===- Launches.cpp - a kernel and its mutants on the same memory ----------===//
#include "tests/mutation/Launches.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace tile;
using namespace tile::mutation;

Image tile::mutation::save(const emu::LaunchConfig &config) {
  Image image;
  for (const emu::MemoryRange &r : config.memory) {
    auto *bytes = reinterpret_cast<const uint8_t *>(r.base);
    image.emplace_back(bytes, bytes + r.bytes);
  }
  return image;
}

void tile::mutation::restore(const emu::LaunchConfig &config, const Image &image) {
  for (auto [r, bytes] : llvm::zip(config.memory, image))
    if (r.bytes)
      std::memcpy(reinterpret_cast<void *>(r.base), bytes.data(), r.bytes);
}

uint64_t tile::mutation::programsOf(const emu::LaunchConfig &config) {
  return uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
}

/// The usual order and the random ones. Each on one core: processes run side by side.
emu::RunOptions tile::mutation::orderOf(unsigned i, const Launch &launch) {
  emu::RunOptions run;
  run.stepLimit = 1 << 16;
  run.turnLimit = 1 << 20;
  run.threads = 1;
  run.sortSums = true;
  run.workLimit = launch.workLimit;
  if (i)
    run.seed = i;
  return run;
}

/// More than eight times what the kernel does, and about a second: loops that wait take some turns.
static constexpr uint64_t kWorkBeside = 1 << 24;

/// With atomic operations the result may depend on the order. Gives back what is wrong, if
/// anything.
std::optional<std::string> tile::mutation::runOriginal(const emu::Program &program, Launch &launch,
                                                       unsigned schedules) {
  for (unsigned i = 0; i <= (program.dependsOnOrder() ? schedules : 0u); ++i) {
    restore(launch.config, launch.before);
    emu::RunOptions run = orderOf(i, launch);
    run.counters = i == 0;
    emu::Report report = program.run(launch.config, run);
    launch.counters.add(report.counters);
    if (launch.workLimit == 0)
      launch.workLimit = 8 * report.work + kWorkBeside;
    if (!report.ok())
      return report.str();
    Image after = save(launch.config);
    if (i == 0)
      launch.after = std::move(after);
    else
      launch.comparable &= differenceOf(after, launch.after, launch.nans).empty();
  }
  return std::nullopt;
}

std::string tile::mutation::whatCatches(const emu::Program &program, const Launch &launch,
                                        unsigned schedules) {
  for (unsigned i = 0; i <= schedules; ++i) {
    restore(launch.config, launch.before);
    emu::Report report = program.run(launch.config, orderOf(i, launch));
    if (!report.ok())
      return report.str();
    if (!launch.comparable)
      continue;
    if (auto what = differenceOf(save(launch.config), launch.after, launch.nans); !what.empty())
      return "another result: " + what;
  }
  return "";
}

/// The same on other numbers, as far as the kernel itself bears them.
std::string tile::mutation::whatCatchesWithOtherData(const emu::Program &original,
                                                     const emu::Program &mutant,
                                                     const Launch &launch, unsigned schedules,
                                                     unsigned seed, unsigned rounds) {
  for (unsigned i = 0; i < rounds * kOtherData; ++i) {
    unsigned kind = i % kOtherData, round = i / kOtherData;
    Launch other{launch.config, withOtherData(launch.before, kind, seed + round)};
    other.nans = NaNs::AllTheSame;
    other.workLimit = launch.workLimit;
    if (runOriginal(original, other, schedules))
      continue;
    if (std::string what = whatCatches(mutant, other, schedules); !what.empty())
      return what + " (with other data)";
  }
  return "";
}

/// Whether a launch leaves zeros alone, and many of them: where they lie they do not say.
static bool leavesZeros(const Launch &launch) {
  constexpr size_t many = 128;
  size_t zeros = 0;
  for (auto [before, after] : llvm::zip(launch.before, launch.after))
    for (auto [was, is] : llvm::zip(before, after)) {
      if (was != is && is != 0)
        return false;
      zeros += was != is;
    }
  return zeros >= many;
}

/// Whether the threads have something to do: where most lanes are masked off, as in
/// an array of one element, whatever is wrong with them is not seen, and rightly so.
bool tile::mutation::isBusy(const Launch &launch, bool readsMemory) {
  const emu::Counters &c = launch.counters;
  uint64_t bytes = c.globalLoadBytes + c.globalStoreBytes + c.bulkLoadBytes + c.bulkStoreBytes;
  uint64_t inAll = 0; // boxes of tensors may lie outside for the most part
  for (const emu::MemoryRange &r : launch.config.memory)
    inAll += r.bytes;
  uint64_t wanted = 4 * launch.config.threads;
  if ((readsMemory && c.globalLoadBytes + c.bulkLoadBytes == 0) || leavesZeros(launch))
    return false;
  return c.globalLanes >= c.globalMaskedLanes && inAll >= wanted &&
         bytes >= wanted * programsOf(launch.config);
}

/// Whether a kernel has loads of global memory, or copies from there.
bool tile::mutation::readsGlobalMemory(llvm::StringRef ir) {
  return llvm::any_of(llvm::split(ir, '\n'), [](llvm::StringRef line) {
    return line.contains("ld.global") || line.contains(".shared.global [") ||
           line.contains(".global.mbarrier::") ||
           (line.contains(" = load ") && line.contains("ptr addrspace(1)"));
  });
}
