//===- Timing.h - how long work on a stream takes -------------------------===//
#ifndef TILE_RUNTIME_TIMING_H
#define TILE_RUNTIME_TIMING_H

#include "runtime/Device.h"
#include "runtime/Memory.h"

namespace tile::runtime {

/// Median, least and most of some times in milliseconds.
Timing summarize(std::vector<double> milliseconds);

/// One configuration among others: tells apart what is worth telling apart.
inline constexpr TimingOptions kTuningTime = {.warmupMilliseconds = 10, .repeatMilliseconds = 40};

/// Runs `enqueue`, which puts work on `stream`, over and over between events.
/// The first runs (`warmupMilliseconds` of them) are not counted; the milliseconds are those of
/// all that is done. With `flushCache`, a write of twice the L2 cache goes before each run: it
/// empties the cache and gives the host time to enqueue the run behind it, so that the events see
/// the device's time, not the host's.
llvm::Expected<Timing> timeOnStream(std::shared_ptr<Context> context, cuda::Stream stream,
                                    llvm::function_ref<bool()> enqueue,
                                    const TimingOptions &options);

/// The median in milliseconds of one configuration among others (`kTuningTime`); the error of
/// `enqueue` if there is one.
llvm::Expected<double> timeForTuning(std::shared_ptr<Context> context, cuda::Stream stream,
                                     llvm::function_ref<llvm::Error()> enqueue);

} // namespace tile::runtime

#endif // TILE_RUNTIME_TIMING_H
