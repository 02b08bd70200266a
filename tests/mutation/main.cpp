//===- main.cpp - tile-mutate: does the emulator catch planted faults? ----===//
//
// Runs the tests of .tile files on the emulator. Before each launch it runs
// mutants of the kernel on the same memory, and counts a mutant as caught if the
// emulator reports something, or if the result differs.
//
//===----------------------------------------------------------------------===//
#include "frontend/Parser.h"
#include "runtime/devices/EmuDevice.h"
#include "runtime/host/Suite.h"
#include "tests/mutation/Equivalents.h"
#include "tests/mutation/Launches.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <cstring>
#include <map>
#include <random>

using namespace tile;
using namespace tile::mutation;

static llvm::cl::OptionCategory category("Options");
static llvm::cl::list<std::string> files(llvm::cl::Positional, llvm::cl::desc("FILE..."),
                                         llvm::cl::OneOrMore, llvm::cl::cat(category));
static llvm::cl::list<std::string> tests("test", llvm::cl::desc("run this test function only"),
                                         llvm::cl::cat(category));
static llvm::cl::list<std::string> kinds("kind", llvm::cl::desc("plant faults of this kind only"),
                                         llvm::cl::cat(category));
static llvm::cl::opt<unsigned> perKernel("per-kernel", llvm::cl::init(12),
                                         llvm::cl::desc("mutants of one kernel"),
                                         llvm::cl::cat(category));
static llvm::cl::opt<unsigned>
    perFunction("per-function", llvm::cl::init(24),
                llvm::cl::desc("mutants of one kernel function, in all its configurations"),
                llvm::cl::cat(category));
static llvm::cl::opt<unsigned> perFile("per-file", llvm::cl::init(60),
                                       llvm::cl::desc("mutants of one file"),
                                       llvm::cl::cat(category));
static llvm::cl::opt<unsigned> schedules("schedules", llvm::cl::init(4),
                                         llvm::cl::desc("random orders for each mutant"),
                                         llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    equivalents("equivalents", llvm::cl::init(TILE_EQUIVALENT_MUTANTS),
                llvm::cl::desc("file of mutants that are no faults, with the reasons"),
                llvm::cl::cat(category));
static llvm::cl::opt<unsigned> wanted("at-least", llvm::cl::init(95),
                                      llvm::cl::desc("fail if fewer percent are caught"),
                                      llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    dump("dump", llvm::cl::desc("folder for the LLVM IR of kernels whose mutants survive"),
         llvm::cl::cat(category));
static llvm::cl::opt<unsigned> seed("seed", llvm::cl::init(1),
                                    llvm::cl::desc("of the choice of mutants"),
                                    llvm::cl::cat(category));

namespace {

struct Tally {
  unsigned planted = 0, caught = 0, unmet = 0, equal = 0;
  void add(const Tally &o) {
    planted += o.planted, caught += o.caught, unmet += o.unmet, equal += o.equal;
  }
  unsigned faults() const { return planted - unmet - equal; }
  double percent() const { return faults() ? 100.0 * caught / faults() : 100; }
};

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}
  bool readEquivalents(const std::string &path) { return known.read(path); }
  void beginFile(llvm::StringRef name, llvm::StringRef text) {
    file = name.str();
    lines.clear();
    for (llvm::StringRef line : llvm::split(text, '\n'))
      lines.push_back(line.trim().str());
    random.seed(seed); // the same mutants whatever came before
  }
  void endFile();
  bool launch(llvm::StringRef ir, const emu::LoadOptions &load, const emu::LaunchConfig &config);
  int conclude();

private:
  /// Begins the reason of what changes a result by a rounding, if at all.
  static constexpr llvm::StringLiteral kRounding = "rounding: ";
  /// Each mutant gets so many launches that meet its fault, of so many at most.
  static constexpr unsigned kLaunches = 16, kMostLaunches = 64;
  /// The first few of these with other numbers too, the first one with several of each kind.
  static constexpr unsigned kWithOtherData = 4, kRounds = 4;
  struct Mutant {
    std::string kind, where;
    Names names;
    std::string redundant; ///< why it is no fault, if the code itself says so
    std::unique_ptr<emu::Program> program;
    size_t number = 0;                   ///< of the mutation
    std::unique_ptr<emu::Program> probe; ///< traps where the fault is met; made when needed
    bool caught = false;
    std::string catches; ///< what is reported, or that the result is another one
    unsigned met = 0;    ///< launches that met the fault
    bool isDone() const { return caught || met >= kLaunches; }
  };
  struct KernelMutants {
    std::unique_ptr<emu::Program> original;
    std::vector<Mutant> mutants;
    unsigned launches = 0, comparable = 0; ///< of them, those that leave the same in every order
    std::vector<Names> names;              ///< of all mutations
    bool readsMemory = false;              ///< has loads of global memory, or copies from there
    std::string ir;                        ///< if it may have to be shown
    bool isDone() const {
      return launches >= kMostLaunches ||
             (launches && llvm::all_of(mutants, [](const Mutant &m) { return m.isDone(); }));
    }
  };
  void plant(llvm::StringRef ir, const emu::LoadOptions &load, const emu::LaunchConfig &config,
             KernelMutants &kernel);
  bool isMet(Mutant &mutant, llvm::StringRef ir, const emu::LoadOptions &load,
             const Launch &launch) const;

  void show(const Mutant &mutant, llvm::StringRef ir) const;
  std::vector<Names> meetMutations(llvm::StringRef ir);
  std::string reasonOf(const Mutant &mutant) const;

  std::string file;
  std::vector<std::string> lines; ///< of the file, from 0
  unsigned planted = 0;
  bool faulty = false;
  std::map<size_t, std::unique_ptr<KernelMutants>> kernels; ///< by the hash of their text
  std::map<std::string, unsigned> ofFunction;               ///< planted, by the kernel's name
  std::map<std::string, unsigned> kernelsOf;                ///< so far, by the kernel's name
  std::map<std::string, Tally> tallies;
  std::vector<std::string> survivors;
  Equivalents known; ///< mutants that are no faults
  bool contradicted = false;
  std::mt19937 random;
};

} // namespace

/// Barriers that the source asks for: whether a program needs its own is its author's matter, and
/// one that it lacks is found in the kernel as it is written (`unordered-lanes`).
static bool isAskedFor(const Mutation &mutation, const Names &names) {
  return mutation.kind == "barrier" && llvm::StringRef(names.front()).contains("debug_barrier(");
}

/// Chooses mutants of a kernel that is seen for the first time.
void Mutator::plant(llvm::StringRef ir, const emu::LoadOptions &load,
                    const emu::LaunchConfig &config, KernelMutants &kernel) {
  std::string name = llvm::formatv("{0}: {1} ({2} CTAs of {3} threads): ", file,
                                   kernel.original->name(), programsOf(config), config.threads);
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(ir, "kernel"), diagnostic, context);
  // All kinds in turn: there are many lane maps and few barriers.
  std::map<std::string, std::vector<size_t>> byKind;
  for (auto [i, mutation] : llvm::enumerate(findMutations(*module)))
    if ((kinds.empty() ? mutation.kind != "read" : llvm::is_contained(kinds, mutation.kind)) &&
        !isAskedFor(mutation, kernel.names[i]))
      byKind[mutation.kind].push_back(i);
  std::map<size_t, std::string> ordinals;
  for (auto &[kind, all] : byKind)
    for (auto [n, i] : llvm::enumerate(all))
      ordinals[i] = llvm::formatv("{0} {1} of {2}", kind, n + 1, all.size()).str();
  std::vector<std::vector<size_t> *> turns;
  for (auto &[kind, all] : byKind) {
    std::shuffle(all.begin(), all.end(), random);
    turns.push_back(&all);
  }
  // Another kind first in each kernel: few get as many mutants as there are kinds.
  std::shuffle(turns.begin(), turns.end(), random);
  std::vector<size_t> order;
  for (size_t round = 0, before = ~size_t(0); before != order.size(); ++round) {
    before = order.size();
    for (const std::vector<size_t> *all : turns)
      if (round < all->size())
        order.push_back((*all)[round]);
  }
  unsigned &ofThis = ofFunction[kernel.original->name().str()];
  order.resize(std::min<size_t>({order.size(), perKernel, perFile - planted,
                                 perFunction - std::min<unsigned>(perFunction, ofThis)}));
  for (size_t i : order) {
    Mutant &mutant = kernel.mutants.emplace_back();
    mutant.number = i;
    emu::LoadOptions broken = load;
    auto mutate = [&](llvm::Module &m) {
      std::vector<Mutation> all = findMutations(m);
      mutant.kind = all[i].kind;
      mutant.where = ordinals[i] + ": " + name + all[i].where;
      mutant.names = kernel.names[i];
      mutant.redundant = all[i].redundant;
      all[i].apply();
    };
    broken.mutate = mutate;
    std::string error;
    mutant.program = emu::Program::load(ir, broken, error);
    mutant.caught = !mutant.program;
    ++planted, ++ofThis;
  }
}

/// Why a mutant is no fault; empty if nobody says so.
std::string Mutator::reasonOf(const Mutant &mutant) const {
  return mutant.redundant.empty() ? known.reasonOf(mutant.names) : mutant.redundant;
}

/// Whether a launch meets the fault of a mutant that it has not caught.
bool Mutator::isMet(Mutant &mutant, llvm::StringRef ir, const emu::LoadOptions &load,
                    const Launch &launch) const {
  if (!mutant.probe) {
    emu::LoadOptions probing = load;
    auto probe = [&](llvm::Module &m) { findMutations(m)[mutant.number].trapWhereMet(); };
    probing.mutate = probe;
    std::string error;
    mutant.probe = emu::Program::load(ir, probing, error);
    if (!mutant.probe)
      return true;
  }
  restore(launch.config, launch.before);
  return !mutant.probe->run(launch.config, orderOf(0, launch)).ok();
}

/// The names of all mutations of a kernel that is seen for the first time.
std::vector<Names> Mutator::meetMutations(llvm::StringRef ir) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(ir, "kernel"), diagnostic, context);
  auto kernel = llvm::find_if(*module, [](const llvm::Function &f) {
    return f.getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  std::string function = kernel->getName().str();
  std::vector<Names> all =
      namesOf(findMutations(*module), file, lines, function, ++kernelsOf[function]);
  for (const Names &names : all)
    known.meet(names);
  return all;
}

/// A mutant has several launches of its kernel to give itself away, as in the tests.
bool Mutator::launch(llvm::StringRef ir, const emu::LoadOptions &load,
                     const emu::LaunchConfig &config) {
  uint64_t programs = programsOf(config);
  size_t hash = llvm::hash_value(ir);
  bool isNew = !kernels.count(hash);
  if (programs == 0 || programs > 160)
    return true;
  std::unique_ptr<KernelMutants> &slot = kernels[hash];
  if (isNew) {
    slot = std::make_unique<KernelMutants>();
    slot->names = meetMutations(ir);
    std::string error;
    if (planted < perFile)
      slot->original = emu::Program::load(ir, load, error);
    slot->readsMemory = readsGlobalMemory(ir);
    if (!dump.empty())
      slot->ir = ir.str();
  }
  if (!slot->original || slot->isDone())
    return true;
  Launch launch{config, save(config), {}, true, {}};
  if (auto fault = runOriginal(*slot->original, launch, schedules)) {
    llvm::errs() << file << ": faulty as it is: " << *fault;
    faulty = true;
  }
  if (!isBusy(launch, slot->readsMemory)) {
    restore(config, launch.before);
    return true;
  }
  slot->comparable += launch.comparable;
  if (slot->launches++ == 0)
    plant(ir, load, config, *slot);
  for (Mutant &mutant : slot->mutants) {
    if (mutant.isDone())
      continue;
    mutant.catches = whatCatches(*mutant.program, launch, schedules);
    bool meets = mutant.catches.empty() && isMet(mutant, ir, load, launch);
    mutant.met += meets;
    if (meets && mutant.met <= kWithOtherData)
      mutant.catches = whatCatchesWithOtherData(*slot->original, *mutant.program, launch, schedules,
                                                seed, mutant.met == 1 ? kRounds : 1);
    mutant.caught = !mutant.catches.empty();
    if (mutant.caught)
      mutant.program.reset(), mutant.probe.reset();
  }
  restore(config, launch.before);
  return true;
}

void Mutator::endFile() {
  for (auto &[hash, kernel] : kernels) {
    if (kernel->launches && !kernel->comparable)
      survivors.push_back("only what is reported counts, each order leaves something else: " +
                          file + ": " + kernel->original->name().str());
    for (const Mutant &mutant : kernel->mutants) {
      std::string reason = reasonOf(mutant);
      bool listed = !reason.empty();
      bool unmet = !mutant.caught && !mutant.met, equal = !mutant.caught && !unmet && listed;
      tallies[mutant.kind].add({1, mutant.caught, unmet, equal});
      if (mutant.caught && listed && !llvm::StringRef(reason).starts_with(kRounding)) {
        contradicted = true;
        survivors.push_back("caught, although it is listed as no fault: " + mutant.where +
                            "\n            of it alone: " + mutant.names.front() +
                            "\n            by: " + mutant.catches);
      } else if (!mutant.caught) {
        survivors.push_back((unmet   ? "not met: "
                             : equal ? "no fault: "
                                     : "not caught: ") +
                            (equal ? mutant.where + " | " + reason
                                   : mutant.where + "\n            key: " + mutant.names.back() +
                                         "\n            of it alone: " + mutant.names.front()));
        if (!dump.empty() && !unmet && !equal)
          show(mutant, kernel->ir);
      }
    }
  }
  if (tests.empty())
    for (const std::string &name : known.stale(file)) {
      contradicted = true;
      survivors.push_back("stale, there is no such mutant: " + name);
    }
  kernels.clear();
  ofFunction.clear();
  kernelsOf.clear();
  planted = 0;
}

/// Writes a kernel's text, with what was changed in it on top.
void Mutator::show(const Mutant &mutant, llvm::StringRef ir) const {
  std::string path =
      llvm::formatv("{0}/{1}-{2}.ll", dump.getValue(), llvm::sys::path::stem(file), mutant.number);
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error)
    out << "; " << mutant.where << "\n; " << mutant.names.back() << "\n" << ir;
}

int Mutator::conclude() {
  Tally all;
  auto row = [](llvm::StringRef kind, const Tally &t) {
    llvm::outs() << llvm::formatv("{0,-18}{1,8}{2,8}{3,8}{4,8}  {5:f1} %\n", kind, t.planted,
                                  t.unmet, t.equal, t.caught, t.percent());
  };
  llvm::outs() << llvm::formatv("{0,-18}{1,8}{2,8}{3,8}{4,8}\n", "fault", "planted", "unmet",
                                "equal", "caught");
  for (auto &[kind, tally] : tallies) {
    row(kind, tally);
    all.add(tally);
  }
  row("all", all);
  for (const std::string &s : survivors)
    llvm::outs() << s << '\n';
  return all.faults() && all.percent() >= wanted && !faulty && !contradicted ? 0 : 1;
}

static bool runFile(const std::string &path, Mutator &mutator) {
  std::string error;
  auto source = frontend::SourceFile::open(path, error);
  if (!source) {
    llvm::errs() << error << '\n';
    return false;
  }
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(*source, diagnostics);
  mutator.beginFile(path, source->text());
  runtime::EmuDeviceOptions options;
  options.residentBlocks = 1; // all programs in one block: its buffers are used again
  options.beforeLaunch = [&](llvm::StringRef ir, const emu::LoadOptions &load,
                             const emu::LaunchConfig &config) {
    return mutator.launch(ir, load, config);
  };
  auto device = runtime::createEmuDevice(options);
  eval::Program program(std::vector<std::string>{});
  eval::ModuleEnv &env = program.add(*source, module);
  program.evaluator().limits.steps = uint64_t(1) << 32;
  host::Session session(*device, {});
  host::Suite suite(program, env, session);
  host::SuiteObserver quiet;
  std::vector<host::FunctionResult> results;
  if (auto failure = suite.run(host::Purpose::Test, tests, {}, quiet, results)) {
    llvm::errs() << failure->diagnostic.message << '\n';
    return false;
  }
  mutator.endFile();
  return true;
}

int main(int argc, char **argv) {
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "plants faults in kernels and counts what the "
                                    "emulator catches\n");
  Mutator mutator(seed);
  if (!mutator.readEquivalents(equivalents))
    return 2;
  for (const std::string &file : files)
    if (!runFile(file, mutator))
      return 2;
  return mutator.conclude();
}
