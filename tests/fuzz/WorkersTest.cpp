//===- WorkersTest.cpp - cases in processes that die, and go on ------------===//
#include "tests/fuzz/Workers.h"
#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace tile::fuzz;

namespace {

/// Numbers that all processes see.
class Seen {
public:
  Seen() {
    values = static_cast<std::atomic<long> *>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Seen() { munmap(values, kBytes); }
  std::atomic<long> &operator[](size_t i) { return values[i]; }

private:
  static constexpr size_t kBytes = 1 << 16;
  std::atomic<long> *values;
};

struct Outcome {
  int64_t failures;
  Work work;
  std::map<uint64_t, std::string> failed;
  std::string error;
};

Outcome runPlan(const Job &job, const Plan &plan) {
  Outcome o;
  o.failures = runCases(
      job, plan, o.work, [&](uint64_t i, const std::string &why) { o.failed[i] = why; }, o.error);
  return o;
}

Plan planOf(uint64_t count, unsigned processes) {
  Plan plan;
  plan.count = count;
  plan.processes = processes;
  return plan;
}

TEST(Workers, EachCaseRunsOnceWhateverBecomesOfOthers) {
  Seen times;
  Job job{nullptr, [&](uint64_t i) -> std::string {
            ++times[i];
            if (i % 100 == 7)
              raise(SIGKILL);
            if (i % 100 == 13)
              _exit(3);
            return i % 100 == 20 ? "wrong" : "";
          }};
  Outcome o = runPlan(job, planOf(1300, 3)); // more than one process may have
  EXPECT_EQ(o.failures, 39);
  EXPECT_EQ(o.work.cases, 1300u);
  EXPECT_EQ(o.work.through, 1300u);
  EXPECT_EQ(o.failed.size(), 39u);
  EXPECT_EQ(o.failed[7], "crash: Killed");
  EXPECT_EQ(o.failed[113], "the process ended with 3");
  EXPECT_EQ(o.failed[1220], "wrong");
  for (unsigned i = 0; i < 1300; ++i)
    EXPECT_EQ(times[i], 1) << i;
}

TEST(Workers, NothingRunsInAProcessWhereSomethingFailed) {
  Seen processOf;
  Job job{nullptr,
          [&](uint64_t i) -> std::string {
            processOf[i] = getpid();
            return i % 4 == 1 ? "wrong" : i % 4 == 2 ? "refused" : "";
          },
          [](const std::string &why) { return why == "refused"; }};
  Outcome o = runPlan(job, planOf(40, 1));
  EXPECT_EQ(o.failures, 10);
  EXPECT_EQ(o.work.refused, 10u);
  EXPECT_EQ(o.work.cases, 40u);
  for (unsigned i = 1; i < 40; ++i)
    EXPECT_EQ(processOf[i] == processOf[i - 1], (i - 1) % 4 != 1) << i;
}

TEST(Workers, WhatIsCutShortSaysWhereToGoOn) {
  Seen begun;
  Job job{nullptr, [&](uint64_t i) -> std::string {
            ++begun[i];
            return i % 10 == 9 ? "wrong" : "";
          }};
  Plan plan = planOf(1000, 2);
  plan.failures = 3;
  Outcome o = runPlan(job, plan);
  EXPECT_GE(o.failures, 3);
  EXPECT_LT(o.work.through, 1000u);
  for (unsigned i = 0; i < 1000; ++i)
    EXPECT_EQ(begun[i], i < o.work.through) << i;
}

TEST(Workers, WhatHangsIsEndedAndTheRestRuns) {
  Plan plan = planOf(6, 2);
  plan.limits = {1, 0, 2};
  Outcome o = runPlan({nullptr,
                       [](uint64_t i) -> std::string {
                         volatile bool forEver = i == 2;
                         while (forEver) {
                         }
                         return "";
                       }},
                      plan);
  EXPECT_EQ(o.failures, 1);
  EXPECT_EQ(o.failed[2], "hang: more than 1 s");
  EXPECT_EQ(o.work.cases, 6u);
}

TEST(Workers, ProcessesThatAreNotReadyEndTheRun) {
  auto nothing = [](uint64_t) { return std::string(); };
  Outcome o = runPlan({[] { return std::string("there is no GPU"); }, nothing}, planOf(1000, 2));
  EXPECT_EQ(o.failures, -1);
  EXPECT_EQ(o.error, "there is no GPU");
  o = runPlan({[] { return raise(SIGKILL) ? std::string() : std::string(); }, nothing},
              planOf(1000, 2));
  EXPECT_EQ(o.failures, -1);
  EXPECT_EQ(o.error, "a process is not ready for its first case: crash: Killed");
  EXPECT_EQ(o.work.cases, 0u);
}

} // namespace
