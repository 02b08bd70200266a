//===- TunerTest.cpp - choosing configurations, timing --------------------===//
#include "runtime/Tuner.h"
#include "DecimalComma.h"
#include "TestSupport.h"
#include "runtime/Timing.h"
#include <atomic>
#include <limits>

using namespace tile;
using namespace tile::test;

namespace {

TuneConfig block(int size, int warps = 4) {
  TuneConfig config;
  config.constexprs = {{"BLOCK", std::to_string(size)}};
  config.numWarps = warps;
  return config;
}

/// Times come from a table; what was prepared and measured is counted.
struct Race {
  std::vector<double> times;
  std::atomic<unsigned> prepared = 0;
  unsigned measured = 0;
  std::vector<unsigned> infeasible = {};
  std::vector<double> estimates = {};  ///< 0: not known; empty: no cost model
  std::atomic<unsigned> estimated = 0; ///< how often the model was asked

  llvm::Expected<TuneResult> run(Tuner &tuner, const TuneProblem &problem) {
    auto estimate = [&](unsigned i) -> std::optional<double> {
      ++estimated;
      return estimates[i] > 0 ? std::optional(estimates[i]) : std::nullopt;
    };
    return tuner.tune(
        problem,
        [&](unsigned i) -> llvm::Error {
          ++prepared;
          if (llvm::is_contained(infeasible, i))
            return makeError(ErrorCode::Resources, "too much shared memory");
          return llvm::Error::success();
        },
        [&](unsigned i) -> llvm::Expected<double> {
          ++measured;
          if (times[i] < 0)
            return makeError(ErrorCode::Driver, "an illegal memory access");
          return times[i];
        },
        estimates.empty() ? Tuner::Estimate() : Tuner::Estimate(estimate));
  }
};

TuneProblem problem(std::vector<TuneConfig> configs) {
  return {"add", "identity of add", "n=1024", std::move(configs)};
}

TEST(Tuner, FastestWins) {
  Tuner tuner("machine", "");
  Race race{{3, 1, 2}};
  TuneResult result = valueOf(race.run(tuner, problem({block(1), block(2), block(4)})));
  EXPECT_EQ(result.best, 1u);
  EXPECT_TRUE(result.measured);
  EXPECT_EQ(race.prepared, 3u);
  EXPECT_EQ(result.candidates[2].milliseconds, 2);
}

TEST(Tuner, FirstOfEqualsWins) {
  Tuner tuner("machine", "");
  Race race{{2, 1, 1}};
  EXPECT_EQ(valueOf(race.run(tuner, problem({block(1), block(2), block(4)}))).best, 1u);
}

TEST(Tuner, InfeasibleConfigurationsAreOut) {
  Tuner tuner("machine", "");
  Race race{{1, 5, std::numeric_limits<double>::infinity()}};
  race.infeasible = {0};
  TuneResult result = valueOf(race.run(tuner, problem({block(1), block(2), block(4)})));
  EXPECT_EQ(result.best, 1u);
  EXPECT_EQ(result.candidates[0].failure, "too much shared memory");
  EXPECT_NE(result.candidates[2].failure, "");
}

TEST(Tuner, NoneFeasibleNamesEach) {
  Tuner tuner("machine", "");
  Race race{{1, 1}};
  race.infeasible = {0, 1};
  ErrorParts error = errorOf(race.run(tuner, problem({block(1), block(2, 8)})));
  EXPECT_EQ(error.message, "none of the 2 configurations of `add` works\n"
                           "  BLOCK: 1, num_warps: 4, num_stages: 3: too much shared memory\n"
                           "  BLOCK: 2, num_warps: 8, num_stages: 3: too much shared memory");
  EXPECT_THAT(errorOf(race.run(tuner, problem({}))).message, HasSubstr("no configurations"));
}

std::vector<TuneConfig> blocks(int count) {
  std::vector<TuneConfig> configs;
  for (int i = 0; i < count; ++i)
    configs.push_back(block(i + 1));
  return configs;
}

TEST(RankedTuner, ThePromisingOnesAreTimedAndTheRestIsNot) {
  Tuner tuner("machine", "");
  // The cost model's order is from the last to the first; its third is the fastest.
  Race race{std::vector<double>(20, 5.0)};
  for (int i = 0; i < 20; ++i)
    race.estimates.push_back(20 - i);
  race.times[17] = 3;
  race.times[0] = 1; // nobody looks there
  TuneResult result = valueOf(race.run(tuner, problem(blocks(20))));
  EXPECT_EQ(result.best, 17u);
  EXPECT_EQ(race.measured, 12u) << "four, and twice four that brought nothing";
  EXPECT_EQ(race.prepared, 12u) << "the others are not compiled, either";
  EXPECT_THAT(result.candidates[0].failure, HasSubstr("not timed: the cost model ranks it lower"));
  EXPECT_EQ(result.reason(), "3.0000 ms, the fastest of 12, 20 in all; "
                             "the cost model's first takes 5.0000 ms");
}

TEST(RankedTuner, WhatGainsGoesOn) {
  Tuner tuner("machine", "");
  Race race{{}};
  for (int i = 0; i < 20; ++i) {
    race.estimates.push_back(i + 1);
    race.times.push_back(40 - i); // the model has it the wrong way round
  }
  EXPECT_EQ(valueOf(race.run(tuner, problem(blocks(20)))).best, 19u);
  EXPECT_EQ(race.measured, 20u);
}

TEST(RankedTuner, AllAreTimedIfAsked) {
  TemporaryFolder folder;
  Race race{std::vector<double>(20, 5.0)};
  race.estimates.assign(20, 1.0);
  race.times[19] = 1;
  {
    Tuner tuner("machine", folder.path.str().str());
    EXPECT_NE(valueOf(race.run(tuner, problem(blocks(20)))).best, 19u);
  }
  Tuner tuner("machine", folder.path.str().str());
  tuner.setExhaustive();
  TuneResult result = valueOf(race.run(tuner, problem(blocks(20))));
  EXPECT_TRUE(result.measured) << "a record that left some out does not count";
  EXPECT_EQ(result.best, 19u);
}

TEST(RankedTuner, WithoutTimingTheModelsFirstThatWorks) {
  TemporaryFolder folder;
  Race race{{1, 1, 1, 1}};
  race.estimates = {3, 2, 1, 0}; // nothing is known of the last
  race.infeasible = {2};
  for (unsigned asked : {4u, 4u}) { // estimates are kept
    Tuner tuner("machine", folder.path.str().str());
    tuner.setTimeless();
    TuneResult result = valueOf(race.run(tuner, problem(blocks(4))));
    EXPECT_EQ(result.best, 1u);
    EXPECT_EQ(race.measured, 0u);
    EXPECT_EQ(race.estimated, asked);
    EXPECT_EQ(result.reason(), "the first of 4 by the cost model, about 2.0000 ms; not timed");
  }
}

TEST(RankedTuner, OneThatAllFailAtOnceIsGoneBy) {
  Tuner tuner("machine", "");
  Race race{std::vector<double>(12, 2.0)};
  race.estimates.assign(12, 1.0);
  for (unsigned i = 0; i < 11; ++i)
    race.infeasible.push_back(i);
  EXPECT_EQ(valueOf(race.run(tuner, problem(blocks(12)))).best, 11u);
}

TEST(Tuner, FaultOnTheDeviceEndsIt) {
  Tuner tuner("machine", "");
  Race race{{1, -1, 1}};
  ErrorParts error = errorOf(race.run(tuner, problem({block(1), block(2), block(4)})));
  EXPECT_THAT(error.message, HasSubstr("tuning `add` with BLOCK: 2"));
  EXPECT_EQ(race.measured, 2u);
}

TEST(Tuner, DecisionsArePerKeyAndKept) {
  TemporaryFolder folder;
  Tuner tuner("machine", folder.path.str().str());
  TuneProblem first = problem({block(1), block(2)});
  TuneProblem second = first;
  second.key = "n=2048";
  Race race{{2, 1}};
  valueOf(race.run(tuner, first));
  race.times = {1, 2};
  EXPECT_EQ(valueOf(race.run(tuner, second)).best, 0u);
  EXPECT_EQ(race.measured, 4u);
  TuneResult again = valueOf(race.run(tuner, first));
  EXPECT_EQ(again.best, 1u);
  EXPECT_FALSE(again.measured);
  EXPECT_EQ(race.measured, 4u) << "from memory";

  Tuner later("machine", folder.path.str().str());
  EXPECT_EQ(valueOf(race.run(later, first)).best, 1u);
  EXPECT_EQ(valueOf(race.run(later, second)).best, 0u);
  EXPECT_EQ(race.measured, 4u) << "from disk";
}

TEST(Tuner, RecordsAreTheSameInEveryLanguage) {
  TemporaryFolder folder;
  Race race{{2.5, 1.25}};
  auto tune = [&](const char *key) {
    Tuner tuner("machine", folder.path.str().str());
    TuneProblem what = problem({block(1), block(2)});
    what.key = key;
    return valueOf(race.run(tuner, what)).measured;
  };
  EXPECT_TRUE(tune("before"));
  {
    DecimalComma comma;
    if (!comma.made)
      GTEST_SKIP() << "no language with a decimal comma can be made here";
    EXPECT_FALSE(tune("before")) << "what a plain process has written is read";
    EXPECT_TRUE(tune("meanwhile"));
    EXPECT_FALSE(tune("meanwhile"));
  }
  EXPECT_FALSE(tune("meanwhile")) << "a plain process reads what was written";
}

TEST(Tuner, OtherMachineOrSourceMeasuresAgain) {
  TemporaryFolder folder;
  TuneProblem original = problem({block(1), block(2)});
  Race race{{2, 1}};
  auto tuneOn = [&](const char *machine, const TuneProblem &what) {
    Tuner tuner(machine, folder.path.str().str());
    return valueOf(race.run(tuner, what)).measured;
  };
  EXPECT_TRUE(tuneOn("one", original));
  EXPECT_FALSE(tuneOn("one", original));
  EXPECT_TRUE(tuneOn("another", original));
  TuneProblem edited = original;
  edited.identity = "edited";
  EXPECT_TRUE(tuneOn("one", edited));
}

TEST(Tuner, ChangedListOfConfigurations) {
  TemporaryFolder folder;
  Race race{{2, 1, 0.5}};
  auto tune = [&](std::vector<TuneConfig> configs) {
    Tuner tuner("machine", folder.path.str().str());
    return valueOf(race.run(tuner, problem(std::move(configs))));
  };
  tune({block(1), block(2)});
  EXPECT_FALSE(tune({block(2)}).measured) << "a part of what was timed";
  EXPECT_EQ(tune({block(2), block(1)}).best, 0u) << "found by what they are, not by number";
  TuneResult wider = tune({block(1), block(2), block(4)});
  EXPECT_TRUE(wider.measured) << "all again: times of different runs are not compared";
  EXPECT_EQ(wider.best, 2u);
}

TEST(Tuner, DamagedRecordMeasuresAgain) {
  TemporaryFolder folder;
  Race race{{2, 1}};
  auto tune = [&] {
    Tuner tuner("machine", folder.path.str().str());
    return valueOf(race.run(tuner, problem({block(1), block(2)}))).measured;
  };
  EXPECT_TRUE(tune());
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(folder.path, code), end; it != end && !code;
       it.increment(code))
    if (it->type() == llvm::sys::fs::file_type::regular_file) {
      llvm::raw_fd_ostream stream(it->path(), code);
      stream << "{}";
    }
  EXPECT_TRUE(tune());
}

TEST(TuneConfig, AppliesOverTheOptions) {
  CompileOptions options;
  options.constexprs = {{"A", "1"}, {"BLOCK", "9"}};
  TuneConfig config = block(64, 8);
  config.constexprs.push_back({"C", "2"});
  config.maxRegisters = 128;
  config.applyTo(options);
  EXPECT_EQ(options.constexprs, (std::vector<std::pair<std::string, std::string>>{
                                    {"A", "1"}, {"BLOCK", "64"}, {"C", "2"}}));
  EXPECT_EQ(options.numWarps, 8);
  EXPECT_EQ(options.maxRegisters, 128);
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

TEST(Timing, Summary) {
  Timing odd = summarize({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.minimum, 1);
  EXPECT_EQ(odd.maximum, 3);
  EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summarize({}).repeats, 0);
}

using StreamTiming = FakeDriverTest;

TEST_F(StreamTiming, MeasuresTheWorkAlone) {
  std::shared_ptr<Context> context = primary();
  StreamHandle stream = valueOf(StreamHandle::create(context));
  TimingOptions options;
  options.warmupMilliseconds = 10;
  options.repeatMilliseconds = 100;
  int runs = 0;
  Timing timing = valueOf(timeOnStream(
      context, stream.handle(),
      [&] {
        cuda.clock += runs++ == 0 ? 500 : 2; // the first run loads
        return true;
      },
      options));
  EXPECT_DOUBLE_EQ(timing.median, 2);
  EXPECT_DOUBLE_EQ(timing.maximum, 2) << "the first run does not count";
  EXPECT_EQ(timing.repeats, 50);
  EXPECT_EQ(runs, 1 + 3 + 5 + 50);
  EXPECT_EQ(cuda.numCalls("cuMemsetD8Async"), runs) << "the cache is emptied before each";
}

/// The time that is asked for is all of it: of short work most is for emptying the cache.
TEST_F(StreamTiming, EmptyingTheCacheTakesPartOfTheTime) {
  cuda.fillMilliseconds = 3;
  TimingOptions options;
  options.warmupMilliseconds = 8;
  options.repeatMilliseconds = 100;
  Timing timing = valueOf(timeOnStream(
      primary(), nullptr,
      [&] {
        cuda.clock += 1;
        return true;
      },
      options));
  EXPECT_DOUBLE_EQ(timing.median, 1);
  EXPECT_EQ(timing.repeats, 25);
  EXPECT_LT(cuda.clock, 140);
}

TEST_F(StreamTiming, ManyRepeatsOfShortWorkAndFewOfLong) {
  std::shared_ptr<Context> context = primary();
  TimingOptions options;
  options.flushCache = false;
  options.minimumRepeats = 7;
  auto repeats = [&](double milliseconds) {
    return valueOf(timeOnStream(
                       context, nullptr,
                       [&] {
                         cuda.clock += milliseconds;
                         return true;
                       },
                       options))
        .repeats;
  };
  EXPECT_EQ(repeats(1e-6), 2000);
  EXPECT_EQ(repeats(5000), 7);
  EXPECT_EQ(cuda.numCalls("cuMemsetD8Async"), 0);
}

TEST_F(StreamTiming, WorkThatGivesUp) {
  EXPECT_THAT(errorOf(timeOnStream(primary(), nullptr, [] { return false; }, {})).message,
              HasSubstr("gave up"));
}

TEST_F(StreamTiming, NoMemoryToFlushWithIsNoError) {
  cuda.memoryBytes = 1024;
  EXPECT_GT(valueOf(timeOnStream(primary(), nullptr,
                                 [&] {
                                   cuda.clock += 50;
                                   return true;
                                 },
                                 {}))
                .repeats,
            0);
}

} // namespace
