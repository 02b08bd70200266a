//===- Execute.cpp - running programs -------------------------------------===//
//
// Each thread takes the next program of the grid, in order, and runs it on a
// frame of its own. A program that goes round a `while` loop for long gives
// way: its frame is set aside as it is and the thread turns to other programs,
// so that programs which wait for one another all move on, however few threads
// there are. If nothing but such loops runs and memory stays as it is, the
// launch is stuck, and says so.
//
// Code that runs as a whole begins by accounting for what it does (Control::Spend),
// a loop that counts for all of its turns. The sum is the same in whatever order
// programs run, so that whether a launch does more than it may is not a matter of luck.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Launch.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cfenv>
#include <cstring>
#include <deque>
#include <thread>

using namespace tile::interp;
using tile::formatted;

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

/// Loop iterations a program may spend before it gives way.
static constexpr uint32_t kTurn = 1024;

/// Accounts for a turn's worth of loop iterations; false if the launch is stuck.
static bool keepGoing(Frame &frame, const Instruction &i) {
  Launch &launch = *frame.launch;
  if (frame.changedMemory) {
    frame.changedMemory = false;
    launch.idleSteps.store(0, std::memory_order_relaxed);
    return true;
  }
  uint64_t idle = launch.idleSteps.fetch_add(kTurn, std::memory_order_relaxed) + kTurn;
  if (idle <= launch.options.stepLimit)
    return true;
  frame.fail(FindingKind::Stuck, i, 0,
             formatted("stuck: all programs together went round loops {} times while none of them "
                       "ended or changed memory; if they wait for one another, they wait for ever",
                       idle));
  return false;
}

/// Work that a frame does before it adds it to the launch's.
static constexpr uint64_t kWorkAtOnce = 1 << 16;

/// Adds the frame's work to the launch's; false if that is more than it may do.
static bool account(Frame &frame, const Instruction &i, uint64_t ofThis) {
  Launch &launch = *frame.launch;
  uint64_t limit = launch.options.workLimit, work = std::exchange(frame.work, 0);
  if (!limit)
    return true;
  if (work <= limit && launch.work.fetch_add(work, std::memory_order_relaxed) + work <= limit)
    return true;
  launch.exhausted = true;
  if (ofThis > limit && i.a != kNone)
    frame.fail(FindingKind::TooMuchWork, i, 0,
               formatted("this loop is too long: its {} turns come to more than {} operations, "
                         "which is what a launch may do; take smaller sizes, or raise that "
                         "(`--launch-limit`)",
                         *frame.reg<uint64_t>(i.a), limit));
  frame.failed = launch.stop = true;
  return false;
}

/// Accounts for the code behind `i`, which runs on so many lanes at once if it is a combiner's.
static bool spend(Frame &frame, const Instruction &i, uint32_t lanes) {
  uint64_t work = uint64_t(i.imm) + uint64_t(i.n) * lanes;
  if (i.a != kNone)
    work = llvm::SaturatingMultiply(work, *frame.reg<uint64_t>(i.a));
  frame.work = llvm::SaturatingAdd(frame.work, work);
  return frame.work < kWorkAtOnce || account(frame, i, work);
}

Outcome tile::interp::execute(Frame &frame, const Instruction *code, uint32_t &pc, uint32_t lanes) {
  uint32_t turn = 0, beat = 0;
  for (;;) {
    const Instruction &i = code[pc++];
    switch (i.control) {
    case Control::Run:
      i.kernel(frame, i, lanes ? lanes : i.n);
      break;
    case Control::RunChecked:
      i.kernel(frame, i, lanes ? lanes : i.n);
      if (frame.failed)
        return Outcome::Failed;
      break;
    case Control::Jump:
      pc = i.target;
      break;
    case Control::JumpIfFalse:
      if (!*frame.reg<uint8_t>(i.a))
        pc = i.target;
      break;
    case Control::JumpIfDone:
      if (!*frame.reg<uint64_t>(i.a))
        pc = i.target;
      break;
    case Control::ForBack:
      pc = i.target;
      if (++beat % 64 == 0) {
        frame.launch->idleSteps.store(0, std::memory_order_relaxed);
        if (frame.launch->exhausted.load(std::memory_order_relaxed)) {
          frame.failed = true;
          return Outcome::Failed;
        }
      }
      break;
    case Control::LoopBack:
      pc = i.target;
      if (++turn < kTurn)
        break;
      turn = 0;
      if (!keepGoing(frame, i))
        return Outcome::Failed;
      if (frame.launch->stop.load(std::memory_order_relaxed))
        return Outcome::Failed;
      if (!lanes) // combiners run to their end
        return Outcome::Suspended;
      break;
    case Control::Spend:
      if (!spend(frame, i, lanes))
        return Outcome::Failed;
      break;
    case Control::Return:
      return Outcome::Finished;
    }
  }
}

void Frame::fail(FindingKind kind, const Instruction &i, int64_t lane, std::string message) {
  launch->findings.add(*this, i, kind, lane, std::move(message));
  failed = true;
  launch->stop = true;
}

//===----------------------------------------------------------------------===//
// All programs
//===----------------------------------------------------------------------===//

namespace {

/// Hands out programs and frames to threads.
class Scheduler {
public:
  Scheduler(Launch &launch, CheckState *check) : launch(launch), check(check) {
    // Set-aside programs keep their frames; a gigabyte is enough.
    uint64_t bytes = std::max<uint64_t>(launch.program->frameBytes, 1);
    maxFrames = std::clamp<uint64_t>((uint64_t(1) << 30) / bytes, 8, 1 << 16);
  }

  void work() {
    // Whatever rounding or flushing the caller has set is not the programs'.
    std::fenv_t callers;
    std::fegetenv(&callers);
    std::fesetenv(FE_DFL_ENV);
    Frame *frame = nullptr;
    while (Frame *next = take(frame)) {
      frame = next;
      Outcome outcome = execute(*frame, launch.program->code.data(), frame->pc, 0);
      if (outcome == Outcome::Suspended) {
        giveWay(frame);
        frame = nullptr;
      } else {
        finish(*frame);
      }
    }
    std::fesetenv(&callers);
  }

  /// Of frames that have not added it to the launch's.
  uint64_t workLeft() const {
    uint64_t sum = 0;
    for (const auto &frame : frames)
      sum += frame->work;
    return sum;
  }

private:
  /// The next program to run, on `reuse` if it is a new one; null when there
  /// is none left. New programs and waiting ones take turns, lest either starve.
  Frame *take(Frame *reuse) {
    if (launch.stop.load(std::memory_order_relaxed))
      return nullptr;
    if (waitingCount.load(std::memory_order_relaxed))
      if (Frame *frame = takeWaiting(reuse, /*onlyIfDue=*/true))
        return frame;
    uint64_t linear = nextProgram.fetch_add(1, std::memory_order_relaxed);
    if (linear >= launch.grid.count())
      return takeWaiting(reuse, /*onlyIfDue=*/false);
    if (!reuse)
      reuse = newFrame();
    start(*reuse, linear);
    return reuse;
  }

  Frame *takeWaiting(Frame *reuse, bool onlyIfDue) {
    std::lock_guard lock(mutex);
    alternate = !alternate;
    if (waiting.empty() || (onlyIfDue && !alternate && frames.size() < maxFrames))
      return nullptr;
    Frame *frame = waiting.front();
    waiting.pop_front();
    --waitingCount;
    if (reuse)
      idle.push_back(reuse);
    return frame;
  }

  Frame *newFrame() {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      Frame *frame = idle.back();
      idle.pop_back();
      return frame;
    }
    frames.push_back(std::make_unique<Frame>());
    Frame *frame = frames.back().get();
    size_t bytes = launch.program->frameBytes + 64;
    memory.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes]));
    uintptr_t address = reinterpret_cast<uintptr_t>(memory.back().get());
    frame->base = memory.back().get() + (64 - address % 64) % 64;
    std::copy(launch.program->constants.begin(), launch.program->constants.end(), frame->base);
    frame->program = launch.program;
    frame->launch = &launch;
    frame->check = check;
    frame->grid[0] = launch.grid.x;
    frame->grid[1] = launch.grid.y;
    frame->grid[2] = launch.grid.z;
    return frame;
  }

  void start(Frame &frame, uint64_t linear) {
    frame.linearId = linear;
    frame.programId[0] = uint32_t(linear % launch.grid.x);
    frame.programId[1] = uint32_t(linear / launch.grid.x % launch.grid.y);
    frame.programId[2] = uint32_t(linear / launch.grid.x / launch.grid.y);
    frame.pc = 0;
    frame.failed = false;
    for (auto [parameter, bits] : llvm::zip(launch.program->parameters, launch.parameters))
      std::memcpy(frame.base + parameter.offset, &bits, byteSize(parameter.type));
  }

  void giveWay(Frame *frame) {
    std::lock_guard lock(mutex);
    waiting.push_back(frame);
    ++waitingCount;
  }

  void finish(Frame &frame) {
    launch.idleSteps.store(0, std::memory_order_relaxed);
    if (frame.printed.empty())
      return;
    std::lock_guard lock(launch.printMutex);
    launch.printed.emplace_back(frame.linearId, std::move(frame.printed));
    frame.printed.clear();
  }

  Launch &launch;
  CheckState *check;
  std::atomic<uint64_t> nextProgram{0};
  std::atomic<uint64_t> waitingCount{0};
  std::mutex mutex; ///< of all below
  std::deque<Frame *> waiting;
  std::vector<Frame *> idle;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  uint64_t maxFrames = 0;
  bool alternate = false;
};

} // namespace

void tile::interp::runGrid(Launch &launch, CheckState *check) {
  uint64_t count = launch.grid.count(), limit = launch.options.workLimit;
  if (count == 0)
    return;
  // Every program begins with its first piece of code.
  const Instruction &first = launch.program->code.front();
  if (limit && first.control == Control::Spend &&
      llvm::SaturatingMultiply(count, uint64_t(first.imm)) > limit) {
    launch.exhausted = true;
    return;
  }
  Scheduler scheduler(launch, check);
  unsigned threads = launch.options.numThreads ? launch.options.numThreads
                                               : std::max(1u, std::thread::hardware_concurrency());
  if (check)
    threads = 1;
  threads = unsigned(std::min<uint64_t>(threads, count));
  std::vector<std::thread> helpers;
  for (unsigned k = 1; k < threads; ++k)
    helpers.emplace_back([&] { scheduler.work(); });
  scheduler.work();
  for (std::thread &helper : helpers)
    helper.join();
  if (limit && launch.work + scheduler.workLeft() > limit)
    launch.exhausted = true;

  if (launch.printed.empty())
    return;
  llvm::sort(launch.printed, [](const auto &a, const auto &b) { return a.first < b.first; });
  llvm::raw_ostream &os = launch.options.printTo ? *launch.options.printTo : llvm::outs();
  for (const auto &[program, text] : launch.printed)
    os << text;
  os.flush();
}
