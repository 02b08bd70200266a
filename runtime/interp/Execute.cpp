//===- Execute.cpp - running programs -------------------------------------===//
//
// Each thread takes the next program of the grid, in order, and runs it on a
// frame of its own. A program that goes round a `while` loop for long gives
// way: its frame is set aside as it is and the thread turns to other programs,
// so that programs which wait for one another all move on, however few threads
// there are. If nothing but such loops runs and memory stays as it is, the
// launch is stuck, and says so.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Launch.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
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
      if (++beat % 64 == 0)
        frame.launch->idleSteps.store(0, std::memory_order_relaxed);
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
  uint64_t count = launch.grid.count();
  if (count == 0)
    return;
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

  if (launch.printed.empty())
    return;
  llvm::sort(launch.printed, [](const auto &a, const auto &b) { return a.first < b.first; });
  llvm::raw_ostream &os = launch.options.printTo ? *launch.options.printTo : llvm::outs();
  for (const auto &[program, text] : launch.printed)
    os << text;
  os.flush();
}
