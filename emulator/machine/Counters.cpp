//===- Counters.cpp - what the memory system would have to do -------------===//
//
// Lanes run one after another, so the accesses of one warp instruction come
// apart in time. They are put together again by count: the n-th time that each
// lane comes to an instruction is one request of the warp. Lanes that branch
// around an instruction make this approximate.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Memory.h"
#include "text/Format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <array>

using namespace tile::emu;

namespace tile::emu {
class AccessLog {
public:
  void access(Thread &t, SiteId site, bool shared, bool write, uint64_t address, uint32_t bytes);
  void skip(Thread &t, SiteId site, bool shared, bool write) {
    access(t, site, shared, write, 0, 0);
  }
  void instruction(Thread &t, SiteId site);
  void finish(Counters &counters, llvm::ArrayRef<Site> sites);

private:
  using LaneCounts = std::array<uint64_t, 32>;
  using Place = std::pair<const Warp *, SiteId>;
  struct Request {
    uint32_t came = 0, active = 0, bytes = 0;
    uint64_t address[32];
  };
  struct Stream {
    bool shared = false, write = false;
    uint64_t first = 0; ///< number of the first open request
    LaneCounts counts{};
    std::deque<Request> open;
  };
  void close(const Stream &s, const Request &r);

  llvm::DenseMap<Place, std::unique_ptr<Stream>> streams;
  llvm::DenseMap<Place, LaneCounts> instructions; ///< but accesses to memory
  Counters sum;
};
} // namespace tile::emu

LogPtr tile::emu::makeAccessLog() { return LogPtr(new AccessLog); }

void AccessLog::close(const Stream &s, const Request &r) {
  if (!s.shared) {
    sum.globalLanes += llvm::popcount(r.active);
    sum.globalMaskedLanes += llvm::popcount(r.came & ~r.active);
  }
  if (!r.active)
    return;
  uint64_t total = uint64_t(llvm::popcount(r.active)) * r.bytes;
  if (!s.shared) {
    llvm::SmallDenseSet<uint64_t, 64> sectors;
    for (uint32_t rest = r.active; rest; rest &= rest - 1) {
      uint64_t a = r.address[llvm::countr_zero(rest)];
      for (uint64_t sector = a / 32; sector <= (a + r.bytes - 1) / 32; ++sector)
        sectors.insert(sector);
    }
    ++(s.write ? sum.globalStores : sum.globalLoads);
    (s.write ? sum.globalStoreSectors : sum.globalLoadSectors) += sectors.size();
    (s.write ? sum.globalStoreBytes : sum.globalLoadBytes) += total;
    return;
  }
  // 32 banks of four bytes; a wide access takes the warp in parts that fill the
  // banks once; the same word is read once for all.
  unsigned lanesAtOnce = r.bytes >= 16 ? 8 : r.bytes == 8 ? 16 : 32;
  uint64_t wavefronts = 0;
  for (unsigned first = 0; first < 32; first += lanesAtOnce) {
    llvm::SmallDenseSet<uint64_t, 64> words[32];
    size_t most = 0;
    for (unsigned lane = first; lane < first + lanesAtOnce; ++lane)
      if (r.active >> lane & 1)
        for (uint64_t w = r.address[lane] / 4; w <= (r.address[lane] + r.bytes - 1) / 4; ++w) {
          words[w % 32].insert(w);
          most = std::max<size_t>(most, words[w % 32].size());
        }
    wavefronts += most;
  }
  ++(s.write ? sum.sharedStores : sum.sharedLoads);
  (s.write ? sum.sharedStoreWavefronts : sum.sharedLoadWavefronts) += wavefronts;
  (s.write ? sum.sharedStoreBytes : sum.sharedLoadBytes) += total;
}

void AccessLog::access(Thread &t, SiteId site, bool shared, bool write, uint64_t address,
                       uint32_t bytes) {
  auto &slot = streams[{t.warp, site}];
  if (!slot)
    slot = std::make_unique<Stream>();
  Stream &s = *slot;
  s.shared = shared, s.write = write;
  uint64_t number = s.counts[t.lane]++;
  while (s.first + s.open.size() <= number)
    s.open.emplace_back();
  Request &r = s.open[size_t(number - s.first)];
  r.came |= 1u << t.lane;
  if (bytes) {
    r.active |= 1u << t.lane;
    r.bytes = bytes;
    r.address[t.lane] = address;
  }
  uint32_t all = t.warp->numThreads() == 32 ? ~0u : (1u << t.warp->numThreads()) - 1;
  while (!s.open.empty() && s.open.front().came == all) {
    close(s, s.open.front());
    s.open.pop_front();
    ++s.first;
  }
}

void AccessLog::instruction(Thread &t, SiteId site) { ++instructions[{t.warp, site}][t.lane]; }

void AccessLog::finish(Counters &counters, llvm::ArrayRef<Site> sites) {
  // A warp has executed an instruction as often as the lane that did so most often.
  auto count = [&](SiteId site, const LaneCounts &lanes) {
    if (site < sites.size())
      sum.instructions[sites[site].instruction] += *llvm::max_element(lanes);
  };
  for (auto &[place, stream] : streams) {
    for (const Request &r : stream->open)
      close(*stream, r);
    count(place.second, stream->counts);
  }
  for (auto &[place, lanes] : instructions)
    count(place.second, lanes);
  streams.clear();
  instructions.clear();
  counters.add(sum);
  sum = Counters();
}

void tile::emu::countAccess(Thread &t, SiteId site, bool shared, bool write, uint64_t address,
                            uint32_t bytes) {
  t.cluster->worker->log->access(t, site, shared, write, address, bytes);
}
void tile::emu::countSkipped(Thread &t, SiteId site, bool shared, bool write) {
  t.cluster->worker->log->skip(t, site, shared, write);
}
void tile::emu::countInstruction(Thread &t, SiteId site) {
  t.cluster->worker->log->instruction(t, site);
}
void tile::emu::finishLog(Worker &worker) {
  if (worker.log)
    worker.log->finish(worker.counters, worker.launch->sites);
}
void tile::emu::DeleteLog::operator()(AccessLog *log) const { delete log; }

//===----------------------------------------------------------------------===//
// Sums and text
//===----------------------------------------------------------------------===//

namespace {
struct Field {
  const char *name, *unit;
  uint64_t Counters::*value;
};
} // namespace

static const Field fields[] = {
    {"global_loads", "warp requests", &Counters::globalLoads},
    {"global_load_sectors", "sectors of 32 bytes", &Counters::globalLoadSectors},
    {"global_load_bytes", "bytes asked for", &Counters::globalLoadBytes},
    {"global_stores", "warp requests", &Counters::globalStores},
    {"global_store_sectors", "sectors of 32 bytes", &Counters::globalStoreSectors},
    {"global_store_bytes", "bytes asked for", &Counters::globalStoreBytes},
    {"global_lanes", "lanes of those", &Counters::globalLanes},
    {"global_masked_lanes", "lanes that predicates kept off", &Counters::globalMaskedLanes},
    {"shared_loads", "warp requests", &Counters::sharedLoads},
    {"shared_load_wavefronts", "passes over the banks", &Counters::sharedLoadWavefronts},
    {"shared_load_bytes", "bytes asked for", &Counters::sharedLoadBytes},
    {"shared_stores", "warp requests", &Counters::sharedStores},
    {"shared_store_wavefronts", "passes over the banks", &Counters::sharedStoreWavefronts},
    {"shared_store_bytes", "bytes asked for", &Counters::sharedStoreBytes},
    {"bulk_copies", "instructions", &Counters::bulkCopies},
    {"bulk_load_bytes", "bytes", &Counters::bulkLoadBytes},
    {"bulk_store_bytes", "bytes", &Counters::bulkStoreBytes},
    {"mmas", "instructions", &Counters::mmas},
    {"multiply_adds", "operations", &Counters::multiplyAdds},
};

void Counters::add(const Counters &other) {
  for (const Field &f : fields)
    this->*f.value += other.*f.value;
  for (auto &[name, n] : other.instructions)
    instructions[name] += n;
}

void Counters::print(llvm::raw_ostream &os) const {
  for (const Field &f : fields)
    if (this->*f.value)
      os << formatted("{:<26} {:>14}  {}\n", f.name, this->*f.value, f.unit);
  if (globalLoads)
    os << formatted("{:<26} {:>14.2f}\n", "sectors per global load",
                    double(globalLoadSectors) / double(globalLoads));
  if (sharedLoads)
    os << formatted("{:<26} {:>14.2f}\n", "wavefronts per shared load",
                    double(sharedLoadWavefronts) / double(sharedLoads));
  for (auto &[name, n] : instructions)
    os << formatted("  {:<40} {:>14}\n", name, n);
}

llvm::json::Object Counters::toJson() const {
  llvm::json::Object object, classes;
  for (const Field &f : fields)
    object[f.name] = int64_t(this->*f.value);
  for (auto &[name, n] : instructions)
    classes[name] = int64_t(n);
  object["instructions"] = std::move(classes);
  return object;
}
