//===- Machine.h - the emulated machine -----------------------------------===//
//
// A cluster of CTAs runs on one host thread from start to end. Its threads are
// fibers: one runs until it has to wait, marks itself so, and the scheduler
// switches to another. Whoever makes the last arrival of a collective operation
// performs it for everybody.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_MACHINE_H
#define TILE_EMULATOR_MACHINE_MACHINE_H

#include "emulator/Emulator.h"
#include "emulator/machine/Addresses.h"
#include "emulator/machine/Barriers.h"
#include "emulator/machine/Clock.h"
#include "emulator/machine/Fiber.h"
#include "emulator/machine/GlobalOrder.h"
#include "emulator/machine/GlobalShadow.h"
#include "emulator/machine/LoadsInFlight.h"
#include "emulator/machine/Shadow.h"
#include "emulator/machine/SortedSums.h"
#include "emulator/machine/Translation.h"
#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <unordered_map>

namespace tile::emu {

struct Cluster;
struct Cta;
struct Launch;
struct Warp;
struct Worker;

/// What memory and registers are full of at first: no zeros, on which a kernel could rely by
/// accident, and no accumulator in flight.
constexpr uint8_t kUnwritten = 0xcd;

enum class Wait : uint8_t { None, WarpOp, Barrier, MBarrier, AsyncGroup, ClusterBarrier };

/// A collective operation of a warp, as one lane asks for it.
struct LaneRequest {
  void (*perform)(Warp &, uint32_t lanes) = nullptr;
  uint64_t qualifiers = 0; ///< must agree between the lanes
  uint32_t mask = 0;
  SiteId site = 0;
  void *operands = nullptr;
  bool aligned = false; ///< the whole warp must be at this instruction
};

/// The asynchronous groups of one thread: what is open, what is committed, what
/// is known to be over. Groups are numbered by ticks of a component.
struct AsyncGroups {
  Component component = 0; ///< 0: none was ever started
  Tick open = 1;           ///< of the group being collected
  Tick done = 0;           ///< every group up to this one has been waited for
  Tick lastUsed = 0;       ///< the last group with anything in it
  SiteId lastSite = 0;
  uint32_t lastOffset = 0;                      ///< in shared memory
  std::vector<std::function<void()>> collected; ///< the open group's work
  std::vector<std::function<void()>> writes;    ///< ... on global memory, of bulk stores
  Tick written = 0; ///< every group up to this one is known to have arrived there
};

/// A bulk store that nobody is known to have waited for until it arrived.
struct StoreInFlight {
  Component component = 0;
  Tick group = 0;
  SiteId site = 0;
  bool reduces = false;
  std::vector<MemoryRange> rows; ///< of global memory, in order
};

struct FreeMemory {
  void operator()(uint8_t *bytes) const { std::free(bytes); }
};

struct Thread {
  uint32_t registers[kSpecialRegisters] = {};
  Warp *warp = nullptr;
  Cta *cta = nullptr;
  Cluster *cluster = nullptr;
  FiberContext context = nullptr;
  void *stack = nullptr;
  std::unique_ptr<uint8_t, FreeMemory> privateMemory; ///< once it is used
  uint32_t lane = 0;
  uint32_t index = 0; ///< in the CTA
  Wait wait = Wait::None;
  bool exited = false;
  SiteId waitSite = 0;
  uint64_t waitKey = 0;
  LaneRequest request;
  Component component = 0;
  Tick tick = 1;
  Clock clock;
  /// Fences: what the thread knew at its last one, which relaxed accesses and arrivals
  /// after it leave for others, and what relaxed ones have seen, for the next fence to
  /// acquire. First those of any scope, then those wider than the CTA.
  Clock fenced[2], seen[2];
  Clock initialised;     ///< mbarriers, at the last fence for that
  AsyncGroups copyAsync; ///< cp.async
  AsyncGroups bulk;      ///< cp.async.bulk into groups
  uint32_t maxRegisters = 0;
  uint64_t turns = 0; ///< of loops, about so many since it last waited for somebody
};

/// So many turns of loops a thread takes before the machine is asked, at first.
constexpr uint32_t kTurnsAtOnce = 1 << 16;

/// The work of a thread without loops, and of a turn of one, as so many operations.
constexpr uint64_t kThreadWork = 4096, kTurnWork = 64;

struct Warp {
  Cta *cta = nullptr;
  uint32_t index = 0;
  uint32_t live = 0;      ///< lanes that have not exited
  uint32_t runnable = 0;  ///< lanes that can go on
  uint32_t waiting = 0;   ///< lanes in a collective operation
  uint32_t atBarrier = 0; ///< lanes that wait at an aligned barrier of the CTA
  std::vector<Thread *> lanes;
  LoadsInFlight loads;
  uint32_t numThreads() const { return uint32_t(lanes.size()); }
};

/// Asynchronous work in flight. `complete` moves the data and signals; it is
/// called once, at a moment that the scheduler picks.
struct AsyncOperation {
  std::function<void()> complete;
  /// What must come first; operations of one stream end in order.
  uint64_t stream = 0;
  Tick group = 0;
};

struct Cta {
  Cluster *cluster = nullptr;
  uint32_t rank = 0;
  uint32_t id[3] = {0, 0, 0};
  std::deque<Thread> threads;
  std::deque<Warp> warps;
  std::unique_ptr<uint8_t[]> shared; ///< the window from its reserved start
  uint32_t sharedBytes = 0;          ///< of the window
  std::unique_ptr<Shadow> shadow;
  std::unique_ptr<GlobalShadow> globalShadow;
  NamedBarrier barriers[16];
  std::unordered_map<uint32_t, MBarrier> mbarriers;
  uint32_t firstMBarrier = UINT32_MAX, endOfMBarriers = 0; ///< all lie in between
  uint32_t liveThreads = 0;
  std::vector<std::shared_ptr<struct Warpgroup>> warpgroups; ///< made when first used
  /// What other CTAs of the cluster did here: the last tick and place of each. Its
  /// memory ends with the CTA, so all of it must be known to be over by then.
  std::map<Component, std::pair<Tick, SiteId>> visitors;
  ClockGathering ends; ///< what threads knew when they ended
};

/// What strong accesses have left at an address of shared memory.
struct OrderingWord {
  std::map<const Cta *, Clock> near; ///< for threads of the same CTA
  Clock far;                         ///< for those of others
};

enum class Outcome { Running, Finished, Suspended, Failed };

struct Cluster {
  Launch *launch = nullptr;
  Worker *worker = nullptr;
  uint64_t linearId = 0;
  std::deque<Cta> ctas;
  std::vector<Warp *> warps;
  Component nextComponent = 0;
  std::vector<std::string> componentNames; ///< from the first that is no thread
  Component firstAsyncComponent = 0;
  std::vector<AsyncOperation> pending;
  std::vector<StoreInFlight> stores;
  std::unordered_map<uint64_t, OrderingWord> words; ///< by address
  ClusterOrder order;
  ClusterBarrier barrier;
  uint32_t liveThreads = 0;
  unsigned currentWarp = 0, currentLane = 0;
  Outcome outcome = Outcome::Running;
  uint64_t spins = 0;
  bool goesRound = false;           ///< a thread has taken as many turns of loops as it may alone
  uint32_t barriersSinceStrong = 0; ///< since a volatile or synchronising access
  FiberContext host = nullptr;
  std::minstd_rand random;
  bool randomOrder = false;

  Component newComponent(std::string name);
  /// A number below `n`, from the seed.
  uint32_t choose(uint32_t n) { return uint32_t(random() % n); }
  bool oneIn(uint32_t n) { return randomOrder && choose(n) == 0; }
};

class AccessLog;
struct DeleteLog {
  void operator()(AccessLog *log) const;
};
using LogPtr = std::unique_ptr<AccessLog, DeleteLog>;

/// One host thread and what it runs.
struct Worker {
  explicit Worker(Launch *launch);
  Launch *launch;
  StackPool stacks;
  std::list<std::unique_ptr<Cluster>> resident;
  MemoryRange ranges[4] = {}; ///< recently touched buffers
  unsigned nextRange = 0;
  Counters counters;
  LogPtr log; ///< null unless counters are wanted
};

/// Findings of one launch, merged by kind and place.
class Findings {
public:
  void add(FindingKind kind, SiteId site, std::string where, std::string message,
           SiteId otherSite = 0, std::string otherNote = "");
  bool full() const { return total >= kFull; }
  Report take(llvm::ArrayRef<Site> sites, unsigned maxFindings);

private:
  static constexpr uint64_t kFull = 2000;
  struct Entry {
    FindingKind kind;
    SiteId site, otherSite;
    std::string where, message, otherNote;
    uint64_t occurrences;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  std::atomic<uint64_t> total{0};
};

using KernelEntry = void (*)(Thread *, const void *const *parameters);

/// Memory of the host that belongs to a program or a launch of it.
struct HostObject {
  uint64_t base, bytes;
  bool writable;
};

struct Launch {
  const ProgramImpl *program = nullptr;
  const Translation *translation = nullptr;
  std::vector<HostObject> objects; ///< variables of the module and parameters, by base
  KernelEntry entry = nullptr;
  llvm::ArrayRef<Site> sites;
  LaunchConfig config;
  RunOptions options;
  Findings findings;
  std::atomic<uint64_t> nextCluster{0};
  uint64_t numClusters = 0;
  bool isParallel = false; ///< its clusters run on several host threads
  std::atomic<uint64_t> idleTurns{0};
  std::atomic<uint64_t> work{0}; ///< done by all threads, but for loops that they are in
  std::atomic<bool> stop{false};
  std::mutex printMutex;
  std::unique_ptr<GlobalOrder> order; ///< null where it is not checked
  std::unique_ptr<SortedSums> sums;   ///< null where sums stay as they come
  Counters counters;
};

//===--- scheduling (Scheduler.cpp) ---------------------------------------===//

/// Lets others run until this thread is runnable again. The caller has marked
/// it as waiting.
void block(Thread &thread);
/// Lets others run; comes back when it is this thread's turn.
void yield(Thread &thread);
/// A turn of a loop that waits for memory to change: lets others run, other
/// CTAs too.
void spin(Thread &thread);
/// Adds to what the launch has done; if that is more than it may, ends it with a report. The sum
/// is the same in every order, but for loops that wait.
void spend(Launch &launch, uint64_t work);
/// Waits until somebody makes the thread runnable.
void waitFor(Thread &thread, Wait wait, uint64_t key, SiteId site);
/// With a seed: now and then lets others run.
inline void maybeYield(Thread &thread);
void makeRunnable(Thread &thread);
/// Ends one asynchronous operation, chosen by the schedule; false if there is none.
bool completeOne(Cluster &cluster);
/// Ends all of a stream's operations up to a group, in order.
void completeStream(Cluster &cluster, uint64_t stream, Tick group);
/// Gives up on the cluster: does not return.
[[noreturn]] void abandon(Thread &thread);
/// Runs a launch to its end.
void runLaunch(Launch &launch);

inline void maybeYield(Thread &thread) {
  if (thread.cluster->oneIn(24))
    yield(thread);
}

//===--- warps (Collectives.cpp) ---------------------------------------------===//

/// Performs a warp's collective operation when the last of its lanes asks.
void converge(Thread &thread, const LaneRequest &request);
/// Reports a lane that comes to a collective instruction while lanes of its warp
/// that should come along are elsewhere, or have ended. `mask`: who should.
void checkTogether(Thread &thread, uint32_t mask, bool aligned, SiteId site);
/// Reports that a lane comes to `site` while `other` of its warp waits for it at
/// another instruction; does not return.
[[noreturn]] void reportElsewhere(Thread &thread, SiteId site, const Thread &other);
/// A thread ends: its warp goes on without it.
void leaveWarp(Thread &thread);

//===--- barriers (HooksBarrier.cpp) --------------------------------------===//

/// The barriers of the CTA at which only a part of a warp has arrived where all of
/// it must: reports them.
void reportPartialWarps(Cta &cta);
/// Threads that end are not waited for.
void leaveClusterBarrier(Thread &thread);

//===--- the end of a CTA (CtaExit.cpp) ------------------------------------===//

/// Notes that somebody else than the CTA's own threads uses its shared memory.
void visit(Cta &cta, Component who, Tick tick, SiteId site);
/// A thread ends; with the last one, everything that used the CTA's shared memory
/// must be known to be over.
void checkVisitorsAtExit(Thread &thread);

//===--- reporting (Findings.cpp) -----------------------------------------===//

std::string describe(const Thread &thread);
/// Who a component is, for people.
std::string describeComponent(const Cluster &cluster, Component component);
void report(const Thread &thread, FindingKind kind, SiteId site, std::string message,
            SiteId otherSite = 0, std::string otherNote = "");

//===--- order between threads --------------------------------------------===//

/// What an instruction of this ordering (Memory.h) leaves behind, at the scope of the
/// CTA or, `far`, of the cluster; null if nothing.
const Clock *released(Thread &thread, uint32_t ordering, bool far, Clock &storage);
/// The thread's clock, to be left where others find it; what it does later is
/// not part of it.
Clock release(Thread &thread);

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_MACHINE_H
