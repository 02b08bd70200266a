//===- Timing.cpp ---------------------------------------------------------===//
#include "runtime/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tile;
using namespace tile::runtime;

Timing runtime::summarize(std::vector<double> milliseconds) {
  Timing timing;
  timing.repeats = milliseconds.size();
  if (milliseconds.empty())
    return timing;
  llvm::sort(milliseconds);
  size_t middle = milliseconds.size() / 2;
  timing.median = milliseconds.size() % 2 ? milliseconds[middle]
                                          : (milliseconds[middle - 1] + milliseconds[middle]) / 2;
  timing.minimum = milliseconds.front();
  timing.maximum = milliseconds.back();
  timing.samples = std::move(milliseconds);
  return timing;
}

namespace {
/// Repeats of work on one stream, each between its own two events.
class StreamTimer {
public:
  StreamTimer(std::shared_ptr<Context> context, cuda::Stream stream,
              llvm::function_ref<bool()> enqueue)
      : context(std::move(context)), stream(stream), enqueue(enqueue) {}

  /// Emptying the cache is given up quietly where memory is too short for it.
  void prepareFlush() {
    auto buffer = DeviceBuffer::allocate(context, 2 * size_t(context->device().l2Bytes));
    if (buffer)
      flushed = std::move(*buffer);
    else
      llvm::consumeError(buffer.takeError());
  }

  /// Milliseconds of each of `count` runs.
  llvm::Expected<std::vector<double>> run(int count) {
    while (static_cast<int>(starts.size()) < count) {
      auto start = EventHandle::create(context), end = EventHandle::create(context);
      if (!start || !end)
        return llvm::joinErrors(start.takeError(), end.takeError());
      starts.push_back(std::move(*start));
      ends.push_back(std::move(*end));
    }
    for (int i = 0; i < count; ++i) {
      if (flushed)
        if (llvm::Error error = fillDevice(*context, flushed.pointer(), 0, flushed.size(), stream))
          return std::move(error);
      if (llvm::Error error = starts[i].record(stream))
        return std::move(error);
      if (!enqueue())
        return makeError(ErrorCode::InvalidArgument, "the timed work gave up");
      if (llvm::Error error = ends[i].record(stream))
        return std::move(error);
    }
    if (llvm::Error error = synchronize(*context, stream))
      return std::move(error);
    std::vector<double> milliseconds;
    for (int i = 0; i < count; ++i) {
      auto elapsed = EventHandle::elapsed(starts[i], ends[i]);
      if (!elapsed)
        return elapsed.takeError();
      milliseconds.push_back(*elapsed);
    }
    return milliseconds;
  }

  /// Milliseconds from one of the last `count` runs to the next, emptying the cache between them
  /// included.
  llvm::Expected<double> period(int count) const {
    auto all = EventHandle::elapsed(starts.front(), starts[count - 1]);
    if (!all)
      return all.takeError();
    return *all / (count - 1);
  }

private:
  std::shared_ptr<Context> context;
  cuda::Stream stream;
  llvm::function_ref<bool()> enqueue;
  DeviceBuffer flushed;
  std::vector<EventHandle> starts, ends;
};
} // namespace

/// How many runs fill `milliseconds`, within reason.
static int repeatsFor(double milliseconds, double each, int atLeast) {
  constexpr int atMost = 2000;
  if (each <= 0)
    return std::max(atLeast, atMost);
  return std::clamp(static_cast<int>(std::min<double>(milliseconds / each, atMost)), atLeast,
                    std::max(atLeast, atMost));
}

llvm::Expected<Timing> runtime::timeOnStream(std::shared_ptr<Context> context, cuda::Stream stream,
                                             llvm::function_ref<bool()> enqueue,
                                             const TimingOptions &options) {
  StreamTimer timer(context, stream, enqueue);
  if (options.flushCache)
    timer.prepareFlush();
  // One run alone pays for lazy loading; the next few say how long a run takes.
  if (auto first = timer.run(1); !first)
    return first.takeError();
  constexpr int trials = 3;
  auto trial = timer.run(trials);
  if (!trial)
    return trial.takeError();
  auto period = timer.period(trials);
  if (!period)
    return period.takeError();
  double each = std::max(summarize(*trial).median, *period);
  if (auto warm = timer.run(repeatsFor(options.warmupMilliseconds, each, 1)); !warm)
    return warm.takeError();
  auto counted =
      timer.run(repeatsFor(options.repeatMilliseconds, each, std::max(1, options.minimumRepeats)));
  if (!counted)
    return counted.takeError();
  return summarize(std::move(*counted));
}

llvm::Expected<double> runtime::timeForTuning(std::shared_ptr<Context> context, cuda::Stream stream,
                                              llvm::function_ref<llvm::Error()> enqueue) {
  std::optional<ErrorParts> failure;
  auto timing = timeOnStream(
      std::move(context), stream,
      [&] {
        if (llvm::Error error = enqueue())
          failure = takeError(std::move(error));
        return !failure;
      },
      kTuningTime);
  if (failure) {
    llvm::consumeError(timing.takeError());
    return makeError(failure->code, failure->message, failure->result);
  }
  if (!timing)
    return timing.takeError();
  return timing->median;
}
