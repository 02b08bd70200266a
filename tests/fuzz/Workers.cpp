//===- Workers.cpp - running cases in processes that may die ---------------===//
#include "tests/fuzz/Workers.h"
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

using namespace tile::fuzz;
using Clock = std::chrono::steady_clock;

namespace {
/// What a process tells its parent, in memory that both see.
struct Board {
  enum State : int { Starting, Running, Failed, Finished, Unusable };
  volatile int state;
  volatile uint64_t current;  ///< the case being run
  volatile uint64_t finished; ///< counts up with every case: a sign of life
  char text[1 << 14];
};
struct Worker {
  pid_t pid = -1;
  Board *board = nullptr;
  uint64_t next = 0, seen = 0;
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
         Clock::now() - since > std::chrono::seconds(20 * limits.seconds);
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

static Board *newBoard() {
  void *memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Board();
}

/// Where lines are counted (tools/fuzz coverage), writes the counts: no process of ours ends by
/// `exit`.
extern "C" __attribute__((weak)) int __llvm_profile_write_file();

[[noreturn]] static void leave() {
  if (__llvm_profile_write_file)
    __llvm_profile_write_file();
  _exit(0);
}

/// The child's life: cases `next`, `next + step`, ... A failure waits for the
/// parent to have read it.
[[noreturn]] static void work(const Job &job, Board &board, uint64_t next, uint64_t count,
                              uint64_t step, const Limits &limits, Clock::time_point end) {
  limit(limits);
  board.current = next;
  if (std::string problem = job.prepare ? job.prepare() : ""; !problem.empty()) {
    say(board, problem);
    board.state = Board::Unusable;
    leave();
  }
  board.state = Board::Running;
  for (uint64_t i = next; i < count && Clock::now() < end; i += step) {
    board.current = i;
    std::string why = job.run(i);
    if (!why.empty()) {
      say(board, why);
      board.state = Board::Failed;
      while (board.state == Board::Failed)
        usleep(1000);
    }
    board.finished = board.finished + 1;
  }
  board.state = Board::Finished;
  leave();
}

static std::string deathOf(int status) {
  if (WIFSIGNALED(status))
    return std::string("crash: ") + strsignal(WTERMSIG(status));
  return "the process ended with " + std::to_string(WEXITSTATUS(status));
}

static void start(Worker &w, const Job &job, uint64_t count, uint64_t step, const Limits &limits,
                  Clock::time_point end) {
  w.board->state = Board::Starting;
  w.seen = w.board->finished;
  w.pid = fork();
  if (w.pid == 0)
    work(job, *w.board, w.next, count, step, limits, end);
  w.beginCase();
}

int64_t tile::fuzz::runCases(const Job &job, uint64_t count, unsigned processes,
                             const Limits &limits, unsigned seconds, Work &work,
                             const std::function<void(uint64_t, const std::string &)> &failed,
                             std::string &error) {
  auto end = seconds ? Clock::now() + std::chrono::seconds(seconds) : Clock::time_point::max();
  double before = secondsOfChildren();
  std::vector<Worker> workers(processes);
  for (unsigned k = 0; k < processes; ++k) {
    workers[k].board = newBoard();
    workers[k].next = k;
    if (k < count)
      start(workers[k], job, count, processes, limits, end);
  }
  int64_t failures = 0, deaths = 0;
  auto fail = [&](Worker &w, const std::string &why) {
    ++failures;
    failed(w.board->current, why);
  };
  // Goes on after the case that was being run.
  auto restart = [&](Worker &w) {
    w.next = w.board->current + processes;
    w.pid = -1;
    if (w.next < count)
      start(w, job, count, processes, limits, end);
  };
  for (bool busy = true; busy;) {
    busy = false;
    for (Worker &w : workers) {
      if (w.pid < 0)
        continue;
      busy = true;
      if (w.board->state == Board::Failed) {
        fail(w, w.board->text);
        w.board->state = Board::Running;
        w.beginCase();
      }
      int status = 0;
      if (waitpid(w.pid, &status, WNOHANG) == w.pid) {
        if (w.board->state == Board::Unusable) {
          error = w.board->text;
          failures = -1;
        }
        if (w.board->state == Board::Finished || w.board->state == Board::Unusable) {
          w.pid = -1;
          continue;
        }
        ++deaths;
        fail(w, deathOf(status));
        restart(w);
        continue;
      }
      if (w.board->finished != w.seen || w.board->state == Board::Starting) {
        w.seen = w.board->finished;
        w.beginCase();
      } else if (w.hangs(limits)) {
        kill(w.pid, SIGKILL);
        waitpid(w.pid, &status, 0);
        ++deaths;
        fail(w, "hang: more than " + std::to_string(limits.seconds) + " s");
        restart(w);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (Worker &w : workers) {
    work.cases += w.board->finished;
    munmap(w.board, sizeof(Board));
  }
  work.cases += uint64_t(deaths);
  work.seconds += secondsOfChildren() - before;
  return failures;
}

std::string tile::fuzz::runAlone(const std::function<std::string()> &function,
                                 const Limits &limits) {
  std::string result, error;
  Job job{nullptr, [&](uint64_t) { return function(); }};
  Work work;
  runCases(
      job, 1, 1, limits, 0, work, [&](uint64_t, const std::string &why) { result = why; }, error);
  return result;
}
