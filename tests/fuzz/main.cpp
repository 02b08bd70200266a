//===- main.cpp - tile-fuzz: random kernels, host functions, mangled programs ===//
#include "tests/fuzz/Differential.h"
#include "tests/fuzz/FrontEnd.h"
#include "tests/fuzz/HostFunctions.h"
#include "tests/fuzz/Products.h"
#include "tests/fuzz/Workers.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace tile::fuzz;
namespace cl = llvm::cl;

static cl::SubCommand kernelsCommand("kernels",
                                     "random kernels: the interpreter against the GPU, or against "
                                     "itself behind the passes");
static cl::SubCommand productsCommand("products",
                                      "random loops of products that share operands: the "
                                      "interpreter against the emulator, in the algebraic mode");
static cl::SubCommand frontendCommand("frontend", "mangled programs: no crash, no hang");
static cl::SubCommand hostCommand("host", "random host functions: no crash, no hang");
/// What is ours, of the many options that LLVM's libraries register.
static cl::OptionCategory category("Options");
#define ALL                                                                                        \
  cl::sub(kernelsCommand), cl::sub(productsCommand), cl::sub(frontendCommand),                     \
      cl::sub(hostCommand), cl::cat(category)
static cl::opt<uint64_t> count("count", cl::desc("cases to run"), cl::init(1000), ALL);
static cl::opt<uint64_t> seed("seed", cl::desc("number of the first case"), cl::init(1), ALL);
static cl::opt<unsigned> jobs("jobs", cl::desc("processes; 0: one a core"), cl::init(0), ALL);
static cl::opt<unsigned> maxReduced("reduce", cl::desc("how many failures to make small"),
                                    cl::init(3), ALL);
static cl::opt<unsigned> seconds("seconds", cl::desc("begin no case after so long; 0: run all"),
                                 cl::init(0), ALL);
static cl::opt<uint64_t> stopAfter("stop-after", cl::desc("begin no case after so many failures"),
                                   cl::init(100), ALL);
static cl::opt<std::string> save("save", cl::desc("folder for failing programs"), ALL);
static cl::opt<std::string> device("device", cl::desc("cpu, emu or cuda"), cl::init("cpu"),
                                   cl::sub(kernelsCommand), cl::cat(category));
static cl::opt<std::string> target("target",
                                   cl::desc("the GPU that is emulated, or compiled for besides"),
                                   cl::init("sm_90a"), cl::sub(kernelsCommand),
                                   cl::sub(productsCommand), cl::cat(category));
static cl::opt<bool> print("print", cl::desc("print the program of --seed and stop"),
                           cl::sub(kernelsCommand), cl::sub(productsCommand), cl::sub(hostCommand),
                           cl::cat(category));
static cl::list<std::string> corpusFolders("corpus", cl::desc("folder of programs to mangle"),
                                           cl::sub(frontendCommand), cl::cat(category));

/// `most`: processes that make sense on any machine; 0: one a core.
static Plan planOf(Limits limits, unsigned most = 0) {
  Plan plan;
  plan.count = count;
  plan.processes = jobs ? unsigned(jobs) : std::max(1u, std::thread::hardware_concurrency());
  if (most && !jobs)
    plan.processes = std::min(plan.processes, most);
  plan.limits = limits;
  plan.seconds = seconds;
  plan.failures = stopAfter;
  plan.tell = [](const Work &work) {
    llvm::errs() << work.cases << " of " << count << " cases, all below seed "
                 << seed + work.through << '\n';
  };
  return plan;
}

static void keep(const std::string &name, const std::string &text) {
  if (save.empty())
    return;
  llvm::sys::fs::create_directories(save);
  std::error_code code;
  llvm::raw_fd_ostream(save + "/" + name, code) << text;
}

/// A line for a failure, at once: a run may be long.
static void tell(uint64_t number, const std::string &why) {
  llvm::outs() << "seed " << number << ": " << llvm::StringRef(why).take_front(400) << '\n';
  llvm::outs().flush();
}

/// The failures that are made small: nobody waits for that who has interrupted the run.
static unsigned numReduced(const Work &work) { return work.interrupted ? 0 : unsigned(maxReduced); }

static int conclude(int64_t failures, const Work &work, const std::string &error) {
  if (failures < 0) {
    llvm::errs() << "tile-fuzz: error: " << error << '\n';
    return 2;
  }
  llvm::outs() << work.cases << " cases from seed " << seed << " in "
               << llvm::format("%.0f", work.seconds) << " s of processor time: " << failures
               << " failed";
  if (work.refused)
    llvm::outs() << ", " << work.refused
                 << " refused: too much shared memory, or too many instructions";
  llvm::outs() << '\n';
  if (work.through < count)
    llvm::outs() << "go on with --seed " << seed + work.through << " --count "
                 << count - work.through << '\n';
  return failures ? 1 : 0;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static void describe(const Kernel &kernel, const std::string &why) {
  llvm::outs() << why << "\nprograms " << kernel.programs << ", num_warps " << kernel.numWarps
               << ", num_stages " << kernel.numStages << (kernel.persistent ? ", persistent" : "")
               << (kernel.noRoles ? ", without roles" : "")
               << (kernel.takesTurns ? ", by turns" : "") << ", num_ctas " << kernel.numCtas
               << ", grid axis " << kernel.gridAxis << ", signature " << kernel.signature() << '\n'
               << kernel.source() << '\n';
}

static int fuzzKernels() {
  if (print) {
    describe(generate(seed), "");
    return 0;
  }
  static std::unique_ptr<Differential> differential; // one a process
  auto prepare = [] {
    // The driver would keep what it has assembled of every kernel.
    setenv("CUDA_CACHE_DISABLE", "1", /*overwrite=*/0);
    std::string error;
    differential = Differential::create(device, target, /*algebraic=*/false, error);
    return error;
  };
  // A process on a GPU has half a gigabyte of its memory, and a kernel without end does not take
  // long to be known as one there.
  bool onGpu = device == "cuda";
  const Limits limits{60, 0, onGpu ? 5u : 20u};
  std::vector<uint64_t> failures;
  std::string error;
  Work work;
  int64_t failed = runCases(
      {prepare, [](uint64_t i) { return differential->check(generate(seed + i)); }, isRefusal},
      planOf(limits, onGpu ? 32 : 0), work,
      [&](uint64_t i, const std::string &why) {
        failures.push_back(seed + i);
        tell(seed + i, why);
        keep("kernel-" + std::to_string(seed + i) + ".tile", generate(seed + i).source());
      },
      error);
  auto wrong = [&](const Kernel &kernel) {
    return runAlone(
        [&] {
          std::string why = prepare();
          why = why.empty() ? differential->check(kernel) : "";
          return isRefusal(why) ? "" : why;
        },
        limits);
  };
  for (uint64_t number : llvm::ArrayRef(failures).take_front(numReduced(work))) {
    Kernel small =
        reduce(generate(number), [&](const Kernel &kernel) { return !wrong(kernel).empty(); });
    llvm::outs() << "\nseed " << number << ", made small: ";
    describe(small, wrong(small));
  }
  return conclude(failed, work, error);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// What is wrong with the kernel of these choices. A number may look like one of the marks that the
/// emulator leaves in registers while products are under way, in one kernel of a hundred: what
/// differs must do so with other data, too, twice.
static std::string checkProducts(Differential &differential, std::vector<uint32_t> choices,
                                 uint64_t seed) {
  std::string why;
  for (uint64_t data : {seed, ~seed, seed ^ (~uint64_t(0) >> 1)}) {
    Choices given(choices);
    why = differential.check(generateProducts(given, data));
    if (why.empty())
      return "";
  }
  return why;
}

static std::vector<uint32_t> choicesOf(uint64_t seed) {
  Choices drawn(seed);
  generateProducts(drawn, seed);
  return drawn.all();
}

static int fuzzProducts() {
  auto made = [](const std::vector<uint32_t> &choices, uint64_t of) {
    Choices given(choices);
    return generateProducts(given, of);
  };
  if (print) {
    describe(made(choicesOf(seed), seed), "");
    return 0;
  }
  static std::unique_ptr<Differential> differential; // one a process
  auto prepare = [] {
    std::string error;
    differential = Differential::create("emu", target, /*algebraic=*/true, error);
    return error;
  };
  const Limits limits{120, 0};
  std::vector<uint64_t> failures;
  std::string error;
  Work work;
  int64_t failed = runCases(
      {prepare,
       [](uint64_t i) { return checkProducts(*differential, choicesOf(seed + i), seed + i); },
       isRefusal},
      planOf(limits), work,
      [&](uint64_t i, const std::string &why) {
        failures.push_back(seed + i);
        tell(seed + i, why);
        keep("products-" + std::to_string(seed + i) + ".tile",
             made(choicesOf(seed + i), seed + i).source());
      },
      error);
  for (uint64_t of : llvm::ArrayRef(failures).take_front(numReduced(work))) {
    auto wrong = [&](const std::vector<uint32_t> &choices) {
      return runAlone(
          [&] {
            std::string problem = prepare();
            if (problem.empty())
              problem = checkProducts(*differential, choices, of);
            return isRefusal(problem) ? std::string() : problem;
          },
          limits);
    };
    constexpr unsigned kTries = 200;
    std::vector<uint32_t> small =
        reduceChoices(choicesOf(of), kTries, [&](const std::vector<uint32_t> &choices) {
          return !wrong(choices).empty();
        });
    llvm::outs() << "\nseed " << of << ", made small: ";
    describe(made(small, of), wrong(small));
    keep("products-" + std::to_string(of) + "-small.tile", made(small, of).source());
  }
  return conclude(failed, work, error);
}

//===----------------------------------------------------------------------===//
// The front end
//===----------------------------------------------------------------------===//

#if __has_feature(address_sanitizer)
static constexpr Limits frontendLimits{30, 0}, hostLimits{60, 0}; // it reserves terabytes
#else
static constexpr Limits frontendLimits{5, 1024}, hostLimits{10, 1024};
#endif

/// Runs programs, and shows those that failed, the first ones made small.
static int fuzzTexts(const std::string &kind, const Limits &limits,
                     std::string (*program)(uint64_t), std::string (*run)(const std::string &)) {
  std::vector<uint64_t> failures;
  std::string error;
  Work work;
  int64_t failed = runCases(
      {nullptr, [&](uint64_t i) { return run(program(seed + i)); }}, planOf(limits), work,
      [&](uint64_t i, const std::string &why) {
        failures.push_back(seed + i);
        tell(seed + i, why);
        keep(kind + "-" + std::to_string(seed + i) + ".tile", program(seed + i));
      },
      error);
  auto fails = [&](const std::string &text) {
    return !runAlone([&] { return run(text); }, limits).empty();
  };
  for (uint64_t number : llvm::ArrayRef(failures).take_front(numReduced(work)))
    llvm::outs() << "\nseed " << number << ", made small:\n"
                 << reduceText(program(number), fails) << '\n';
  return conclude(failed, work, error);
}

static std::vector<std::string> corpus;

static int fuzzFrontEnd() {
  corpus = readCorpus({corpusFolders.begin(), corpusFolders.end()});
  if (corpus.empty()) {
    llvm::errs() << "tile-fuzz: error: no programs to mangle: name a folder with --corpus\n";
    return 2;
  }
  return fuzzTexts(
      "frontend", frontendLimits, [](uint64_t number) { return mangle(corpus, number); },
      [](const std::string &text) {
        digest(text);
        return std::string();
      });
}

//===----------------------------------------------------------------------===//
// Host functions
//===----------------------------------------------------------------------===//

static int fuzzHost() {
  if (print) {
    llvm::outs() << hostProgram(seed);
    return 0;
  }
  return fuzzTexts("host", hostLimits, hostProgram, runHostFunctions);
}

int main(int argc, char **argv) {
  for (cl::SubCommand *command : {&cl::SubCommand::getTopLevel(), &kernelsCommand, &productsCommand,
                                  &frontendCommand, &hostCommand})
    cl::HideUnrelatedOptions(category, *command);
  cl::ParseCommandLineOptions(argc, argv,
                              "tile-fuzz: random kernels, host functions and mangled programs\n");
  if (kernelsCommand)
    return fuzzKernels();
  if (productsCommand)
    return fuzzProducts();
  if (frontendCommand)
    return fuzzFrontEnd();
  if (hostCommand)
    return fuzzHost();
  llvm::errs() << "tile-fuzz: error: name a command: kernels, products, frontend or host\n";
  return 2;
}
