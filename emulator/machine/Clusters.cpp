//===- Clusters.cpp - threads from their start to the end of a launch -----===//
//
// Workers take cluster after cluster: a fiber for each thread, registers and shared memory as at
// the start of a kernel, and what is left when all have ended.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Machine.h"
#include "emulator/machine/Memory.h"
#include "emulator/machine/Scheduler.h"
#include "text/Format.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <thread>

using namespace tile::emu;
using tile::formatted;

static void exitThread(Thread &t) {
  checkAsyncAtExit(t);
  t.exited = true;
  if (!t.cluster->goesRound)
    spend(*t.cluster->launch, (kTurnsAtOnce - t.registers[kTurnsLeft]) * kTurnWork);
  t.cluster->launch->idleTurns = 0;
  t.warp->runnable &= ~(1u << t.lane);
  --t.cta->liveThreads;
  --t.cluster->liveThreads;
  leaveClusterBarrier(t);
  checkVisitorsAtExit(t);
  leaveWarp(t);
  block(t); // for ever
  abandon(t);
}

/// The kernel's code is made at run time: it has no word in front of it that says of what type it
/// is, and there may be no memory where a sanitizer would look for it.
__attribute__((no_sanitize("function"))) static void threadMain(void *argument) {
  Thread &t = *static_cast<Thread *>(argument);
  Launch &launch = *t.cluster->launch;
  launch.entry(&t, launch.config.parameters.data());
  exitThread(t);
}

Component Cluster::newComponent(std::string name) {
  componentNames.push_back(std::move(name));
  return nextComponent++;
}

static void setRegisters(Thread &t, const Cta &cta, const LaunchConfig &config,
                         uint64_t clusterId) {
  uint32_t *r = t.registers;
  const auto &grid = config.grid, &cl = config.cluster;
  r[kTidX] = t.index, r[kNtidX] = config.threads, r[kNtidY] = r[kNtidZ] = 1;
  for (unsigned a = 0; a < 3; ++a) {
    r[kCtaidX + a] = cta.id[a];
    r[kNctaidX + a] = grid[a];
    r[kClusterCtaidX + a] = cta.id[a] % cl[a];
    r[kClusterNctaidX + a] = cl[a];
    r[kClusteridX + a] = cta.id[a] / cl[a];
    r[kNclusteridX + a] = grid[a] / cl[a];
  }
  r[kTurnsLeft] = kTurnsAtOnce;
  r[kLaneid] = t.lane, r[kWarpid] = t.index / 32, r[kNwarpid] = (config.threads + 31) / 32;
  r[kSmid] = uint32_t(clusterId % 132), r[kNsmid] = 132, r[kGridid] = 1;
  r[kClusterCtarank] = cta.rank, r[kClusterNctarank] = cl[0] * cl[1] * cl[2];
  r[kDynamicSmemSize] = config.sharedBytes;
  r[kTotalSmemSize] = config.sharedBytes + kSharedReserved;
  uint32_t bit = 1u << t.lane;
  r[kLanemaskEq] = bit, r[kLanemaskLt] = bit - 1, r[kLanemaskLe] = bit | (bit - 1);
  r[kLanemaskGe] = ~(bit - 1), r[kLanemaskGt] = ~(bit | (bit - 1));
}

/// False when there is no memory for the threads' stacks.
static bool setUpCta(Cta &cta, Cluster &c, const LaunchConfig &config, uint64_t clusterId) {
  cta.cluster = &c;
  cta.sharedBytes = kSharedReserved + config.sharedBytes;
  cta.shared.reset(new uint8_t[cta.sharedBytes + 16]);
  std::fill_n(cta.shared.get(), cta.sharedBytes + 16, kUnwritten);
  if (c.launch->options.check && config.sharedBytes)
    cta.shadow = std::make_unique<Shadow>(cta.sharedBytes);
  if (c.launch->options.check && config.threads > 1)
    cta.globalShadow = std::make_unique<GlobalShadow>();
  cta.liveThreads = config.threads;
  for (uint32_t i = 0; i < config.threads; ++i) {
    if (i % 32 == 0) {
      Warp &w = cta.warps.emplace_back();
      w.cta = &cta, w.index = i / 32;
      c.warps.push_back(&w);
    }
    Thread &t = cta.threads.emplace_back();
    t.warp = &cta.warps.back(), t.cta = &cta, t.cluster = &c;
    t.lane = i % 32, t.index = i;
    t.component = 1 + cta.rank * config.threads + i;
    t.warp->lanes.push_back(&t);
    t.warp->live |= 1u << t.lane;
    t.warp->runnable |= 1u << t.lane;
    setRegisters(t, cta, config, clusterId);
    t.stack = c.worker->stacks.take();
    if (!t.stack)
      return false;
    t.context = makeFiber(t.stack, c.worker->stacks.bytesOfEach(), threadMain, &t);
  }
  return true;
}

static void endCluster(Cluster &c) {
  for (Cta &cta : c.ctas)
    for (Thread &t : cta.threads)
      if (t.stack)
        c.worker->stacks.give(t.stack);
}

/// Null when there is no memory for it.
static std::unique_ptr<Cluster> startCluster(Worker &worker, uint64_t id) {
  Launch &launch = *worker.launch;
  const LaunchConfig &config = launch.config;
  const auto &grid = config.grid, &cl = config.cluster;
  auto c = std::make_unique<Cluster>();
  c->launch = &launch, c->worker = &worker, c->linearId = id;
  if (launch.options.seed) {
    c->randomOrder = true;
    c->random.seed(uint32_t(*launch.options.seed * 2654435761u + id * 97 + 1));
  }
  uint64_t inX = grid[0] / cl[0], inY = grid[1] / cl[1];
  uint32_t at[3] = {uint32_t(id % inX), uint32_t(id / inX % inY), uint32_t(id / inX / inY)};
  uint32_t count = cl[0] * cl[1] * cl[2];
  spend(launch, count * config.threads * kThreadWork);
  for (uint32_t rank = 0; rank < count; ++rank) {
    Cta &cta = c->ctas.emplace_back();
    cta.rank = rank;
    uint32_t inside[3] = {rank % cl[0], rank / cl[0] % cl[1], rank / cl[0] / cl[1]};
    for (unsigned a = 0; a < 3; ++a)
      cta.id[a] = at[a] * cl[a] + inside[a];
    if (!setUpCta(cta, *c, config, id)) {
      endCluster(*c);
      return nullptr;
    }
  }
  c->liveThreads = count * config.threads;
  c->currentLane = 31; // the first turn is lane 0's
  c->firstAsyncComponent = c->nextComponent = 1 + c->liveThreads;
  return c;
}

/// Goes on with a cluster until it ends or gives up its turn.
static void resume(Cluster &c) {
  c.outcome = Outcome::Running;
  if (Thread *next = nextThread(c, false))
    switchFiber(c.host, next->context);
}

static void workerMain(Worker &worker) {
  Launch &launch = *worker.launch;
  constexpr size_t kMaxResident = 64;
  // With a seed, a few CTAs take turns from the start.
  size_t wanted = launch.options.seed ? 3 : 1;
  auto current = worker.resident.begin();
  while (!launch.stop) {
    while (worker.resident.size() < wanted) {
      uint64_t id = launch.nextCluster.fetch_add(1);
      if (id >= launch.numClusters)
        break;
      std::unique_ptr<Cluster> started = startCluster(worker, id);
      if (!started) {
        launch.findings.add(FindingKind::Stuck, 0, "the launch",
                            "there is no memory for the stacks of more threads");
        launch.stop = true;
        break;
      }
      current = worker.resident.insert(current, std::move(started));
    }
    if (worker.resident.empty())
      break;
    if (current == worker.resident.end())
      current = worker.resident.begin();
    Cluster &c = **current;
    resume(c);
    if (c.outcome == Outcome::Suspended) {
      ++current;
      wanted = std::min(kMaxResident, std::max(wanted, worker.resident.size() + 1));
      continue;
    }
    if (c.outcome == Outcome::Failed)
      launch.stop = true;
    endCluster(c);
    current = worker.resident.erase(current);
    if (!launch.options.seed)
      wanted = std::max<size_t>(1, worker.resident.size());
  }
  for (auto &c : worker.resident)
    endCluster(*c);
  worker.resident.clear();
}

/// Room for what the machine itself calls, and for how code that was compiled for the host spills.
static size_t stackBytes(const Launch &launch) {
  constexpr uint64_t kOfMachine = 256 * 1024, kLeast = 512 * 1024;
  return llvm::alignTo(std::max(launch.translation->frameBytes + kOfMachine, kLeast), 64 * 1024);
}

Worker::Worker(Launch *launch) : launch(launch), stacks(stackBytes(*launch)) {}

void tile::emu::runLaunch(Launch &launch) {
  const auto &grid = launch.config.grid, &cl = launch.config.cluster;
  launch.numClusters =
      uint64_t(grid[0] / cl[0]) * uint64_t(grid[1] / cl[1]) * uint64_t(grid[2] / cl[2]);
  if (launch.options.check && launch.numClusters > 1 &&
      launch.numClusters <= GlobalOrder::kMaxClusters)
    launch.order = std::make_unique<GlobalOrder>(launch.config.memory);
  if (launch.options.sortSums && launch.translation->sums)
    launch.sums = std::make_unique<SortedSums>();
  // All threads are known to start: what they alone come to is known before the first does.
  if (uint64_t limit = launch.options.workLimit;
      limit && llvm::SaturatingMultiply(launch.numClusters * cl[0] * cl[1] * cl[2],
                                        launch.config.threads * kThreadWork) > limit) {
    spend(launch, limit + 1);
    return;
  }
  uint64_t cores = launch.options.threads ? launch.options.threads
                                          : std::max(1u, std::thread::hardware_concurrency());
  uint64_t n = launch.options.seed ? 1 : std::min(cores, launch.numClusters);
  launch.isParallel = n > 1;
  std::deque<Worker> workers;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < n; ++i) {
    Worker &worker = workers.emplace_back(&launch);
    if (launch.options.counters)
      worker.log = makeAccessLog();
    if (i > 0)
      threads.emplace_back([&worker] { workerMain(worker); });
  }
  if (n)
    workerMain(workers.front());
  for (std::thread &t : threads)
    t.join();
  if (launch.sums)
    launch.sums->finish();
  for (Worker &worker : workers) {
    finishLog(worker);
    launch.counters.add(worker.counters);
  }
}
