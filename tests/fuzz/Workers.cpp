//===- Workers.cpp - running cases in processes that may die ---------------===//
//
// Processes take the next case from a number that all of them see, so that none is left with
// many while others have ended, and so that a run that is cut short has done all cases up to
// some number, from which another one may go on. A process ends behind a failure, and after some
// hundred cases, whatever they have left in it; the next one takes its place.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Workers.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

using namespace tile::fuzz;
using Clock = std::chrono::steady_clock;

/// Cases after which a process ends: caches and uniqued types of hundreds of kernels add up.
static constexpr unsigned kCasesOfProcess = 500;
static constexpr std::chrono::minutes kBetweenTells(1);

namespace {
/// What a process tells its parent, in memory that both see.
struct Board {
  enum State : int { Starting, Running, Failed, Ended, Unusable };
  volatile int state;
  volatile uint64_t current;  ///< the case being run, or one before the next
  volatile uint64_t finished; ///< counts up with every case: a sign of life
  volatile uint64_t refused;
  char text[1 << 14];
};
/// What all processes share.
struct Shared {
  std::atomic<uint64_t> next; ///< the first case that nobody has begun
  std::atomic<bool> stop;     ///< none is to be begun any more
};
struct Worker {
  pid_t pid = -1;
  Board *board = nullptr;
  uint64_t seen = 0;
  bool started = false; ///< has been seen to be prepared
  Clock::time_point since;
  double usedBefore = 0; ///< processor seconds when the case began

  double used() const;
  void beginCase() { since = Clock::now(), usedBefore = used(); }
  bool hangs(const Limits &limits) const;
};
} // namespace

/// Seconds of processor time that the process has had.
double Worker::used() const {
  clockid_t clock;
  timespec time;
  if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
    return 0;
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/// Too much work, or a long wait: a busy machine makes neither of short work.
bool Worker::hangs(const Limits &limits) const {
  return used() - usedBefore > limits.seconds ||
         Clock::now() - since > std::chrono::seconds(limits.patience * limits.seconds);
}

static void say(Board &board, const std::string &text) {
  std::strncpy(board.text, text.c_str(), sizeof board.text - 1);
  board.text[sizeof board.text - 1] = 0;
}

static void limit(const Limits &limits) {
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (limits.megabytes) {
    rlimit memory{limits.megabytes << 20, limits.megabytes << 20};
    setrlimit(RLIMIT_DATA, &memory);
  }
}

/// Processor time of the children that have ended.
static double secondsOfChildren() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  auto seconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Zeroed memory that children see, too; null if there is none.
template <typename T> static T *share() {
  void *memory =
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) T();
}

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

/// Where lines are counted (tools/fuzz coverage), writes the counts: no process of ours ends by
/// `exit`.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the runtime's name
extern "C" __attribute__((weak)) int __llvm_profile_write_file();

[[noreturn]] static void leave() {
  if (__llvm_profile_write_file)
    __llvm_profile_write_file();
  _exit(0);
}

/// A failure waits for the parent to have read it.
static void fail(Board &board, const std::string &why) {
  say(board, why);
  board.state = Board::Failed;
  while (board.state == Board::Failed)
    usleep(1000);
}

[[noreturn]] static void work(const Job &job, const Plan &plan, Board &board, Shared &shared,
                              Clock::time_point end) {
  // The parent decides when to end; without it, nobody would.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  limit(plan.limits);
  if (std::string problem = job.prepare ? job.prepare() : ""; !problem.empty()) {
    say(board, problem);
    board.state = Board::Unusable;
    leave();
  }
  board.state = Board::Running;
  for (unsigned n = 0; n < kCasesOfProcess && !shared.stop && Clock::now() < end; ++n) {
    uint64_t i = shared.next.fetch_add(1);
    if (i >= plan.count)
      break;
    board.current = i;
    std::string why = job.run(i);
    bool isFailure = !why.empty() && !(job.isRefusal && job.isRefusal(why));
    if (isFailure)
      fail(board, why);
    else if (!why.empty())
      board.refused = board.refused + 1;
    board.finished = board.finished + 1;
    if (isFailure)
      break;
  }
  board.state = Board::Ended;
  leave();
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t interrupted = 0;

namespace {
/// Catches what asks the run to end, while it lives.
class Interrupts {
public:
  Interrupts() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (size_t k = 0; k < 2; ++k)
      sigaction(kSignals[k], &action, &before[k]);
  }
  ~Interrupts() {
    for (size_t k = 0; k < 2; ++k)
      sigaction(kSignals[k], &before[k], nullptr);
  }

private:
  static constexpr int kSignals[2] = {SIGINT, SIGTERM};
  struct sigaction before[2];
};

class Run {
public:
  Run(const Job &job, const Plan &plan, Work &result,
      const std::function<void(uint64_t, const std::string &)> &failed)
      : job(job), plan(plan), result(result), failed(failed), workers(plan.processes),
        shared(share<Shared>()),
        end(plan.seconds ? Clock::now() + std::chrono::seconds(plan.seconds)
                         : Clock::time_point::max()) {
    for (Worker &w : workers)
      w.board = share<Board>();
  }
  ~Run() {
    for (Worker &w : workers)
      munmap(w.board, sizeof(Board));
    munmap(shared, sizeof(Shared));
  }

  int64_t all(std::string &error) {
    Clock::time_point told = Clock::now();
    for (Worker &w : workers)
      start(w);
    for (bool busy = true; busy;) {
      busy = false;
      for (Worker &w : workers)
        if (w.pid >= 0) {
          busy = true;
          look(w);
        }
      if (interrupted || uint64_t(failures) >= plan.failures)
        shared->stop = true;
      if (plan.tell && Clock::now() - told > kBetweenTells) {
        told = Clock::now();
        count();
        plan.tell(result);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    count();
    error = problem;
    return problem.empty() ? failures : -1;
  }

private:
  /// Processes that die before their first case, in a row: one may be bad luck.
  static constexpr unsigned kDeadStarts = 3;

  void start(Worker &w) {
    w.pid = -1;
    w.started = false;
    w.board->state = Board::Starting;
    w.seen = w.board->finished;
    w.board->current = shared->next.load();
    if (w.board->current >= plan.count || shared->stop || Clock::now() >= end)
      return;
    w.pid = fork();
    if (w.pid == 0)
      work(job, plan, *w.board, *shared, end);
    w.beginCase();
  }

  void giveUp(const std::string &why) {
    problem = why;
    shared->stop = true;
  }

  void fail(Worker &w, const std::string &why) {
    ++failures;
    failed(w.board->current, why);
  }

  /// A process that has not ended as it should.
  void bury(Worker &w, const std::string &why) {
    if (w.board->state == Board::Starting) {
      if (++deadStarts >= kDeadStarts)
        giveUp("a process is not ready for its first case: " + why);
    } else {
      ++deaths;
      fail(w, why);
    }
    start(w);
  }

  void look(Worker &w) {
    int state = w.board->state;
    if (state == Board::Failed) {
      fail(w, w.board->text);
      w.board->state = Board::Running;
    }
    int status = 0;
    if (waitpid(w.pid, &status, WNOHANG) == w.pid) {
      state = w.board->state;
      if (state == Board::Unusable)
        giveUp(w.board->text);
      if (state == Board::Ended || state == Board::Unusable)
        start(w);
      else
        bury(w, WIFSIGNALED(status)
                    ? std::string("crash: ") + strsignal(WTERMSIG(status))
                    : "the process ended with " + std::to_string(WEXITSTATUS(status)));
    } else if (w.board->finished != w.seen || (state != Board::Starting && !w.started)) {
      deadStarts = 0;
      w.started = true;
      w.seen = w.board->finished;
      w.beginCase();
    } else if (w.hangs(plan.limits)) {
      kill(w.pid, SIGKILL);
      waitpid(w.pid, &status, 0);
      bury(w, "hang: more than " + std::to_string(plan.limits.seconds) + " s");
    }
  }

  void count() {
    result.cases = deaths;
    result.refused = 0;
    result.interrupted = interrupted;
    result.through = std::min(plan.count, shared->next.load());
    for (Worker &w : workers) {
      result.cases += w.board->finished;
      result.refused += w.board->refused;
      if (w.pid >= 0)
        result.through = std::min(result.through, uint64_t(w.board->current));
    }
  }

  const Job &job;
  const Plan &plan;
  Work &result;
  const std::function<void(uint64_t, const std::string &)> &failed;
  std::vector<Worker> workers;
  Shared *shared;
  Clock::time_point end;
  int64_t failures = 0;
  uint64_t deaths = 0;
  unsigned deadStarts = 0;
  std::string problem;
  Interrupts interrupts;
};
} // namespace

int64_t tile::fuzz::runCases(const Job &job, const Plan &plan, Work &work,
                             const std::function<void(uint64_t, const std::string &)> &failed,
                             std::string &error) {
  double before = secondsOfChildren();
  int64_t failures = Run(job, plan, work, failed).all(error);
  work.seconds += secondsOfChildren() - before;
  return failures;
}

std::string tile::fuzz::runAlone(const std::function<std::string()> &function,
                                 const Limits &limits) {
  std::string result, error;
  Job job{nullptr, [&](uint64_t) { return function(); }};
  Plan plan;
  plan.limits = limits;
  Work work;
  runCases(job, plan, work, [&](uint64_t, const std::string &why) { result = why; }, error);
  return result.empty() ? error : result;
}
