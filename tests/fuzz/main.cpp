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

static unsigned processes() {
  return jobs ? unsigned(jobs) : std::max(1u, std::thread::hardware_concurrency());
}

static void keep(const std::string &name, const std::string &text) {
  if (save.empty())
    return;
  llvm::sys::fs::create_directories(save);
  std::error_code code;
  llvm::raw_fd_ostream(save + "/" + name, code) << text;
}

static int conclude(int64_t failures, const Work &work, const std::string &error,
                    int64_t refused = 0) {
  if (failures < 0) {
    llvm::errs() << "tile-fuzz: error: " << error << '\n';
    return 2;
  }
  llvm::outs() << work.cases << " cases from seed " << seed << " in "
               << llvm::format("%.0f", work.seconds) << " s of processor time: " << failures
               << " failed";
  if (refused)
    llvm::outs() << ", " << refused << " refused: too much shared memory, or too many instructions";
  llvm::outs() << '\n';
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
    std::string error;
    differential = Differential::create(device, target, /*algebraic=*/false, error);
    return error;
  };
  const Limits limits{60, 0};
  std::vector<std::pair<uint64_t, std::string>> failures;
  std::string error;
  Work work;
  int64_t refused = 0;
  int64_t failed = runCases(
      {prepare, [](uint64_t i) { return differential->check(generate(seed + i)); }}, count,
      processes(), limits, seconds, work,
      [&](uint64_t i, const std::string &why) {
        if (isRefusal(why)) {
          ++refused;
          return;
        }
        failures.emplace_back(seed + i, why);
        if (failures.size() <= 20)
          llvm::outs() << "seed " << seed + i << ": " << llvm::StringRef(why).take_front(400)
                       << '\n';
        llvm::outs().flush();
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
  for (auto &[number, why] : failures)
    keep("kernel-" + std::to_string(number) + ".tile", generate(number).source());
  for (size_t k = 0; k < failures.size() && k < maxReduced; ++k) {
    Kernel small = reduce(generate(failures[k].first),
                          [&](const Kernel &kernel) { return !wrong(kernel).empty(); });
    llvm::outs() << "\nseed " << failures[k].first << ", made small: ";
    describe(small, wrong(small));
  }
  return conclude(failed < 0 ? failed : failed - refused, work, error, refused);
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
  int64_t refused = 0;
  int64_t failed = runCases(
      {prepare,
       [](uint64_t i) { return checkProducts(*differential, choicesOf(seed + i), seed + i); }},
      count, processes(), limits, seconds, work,
      [&](uint64_t i, const std::string &why) {
        if (isRefusal(why)) {
          ++refused;
          return;
        }
        failures.push_back(seed + i);
        llvm::outs() << "seed " << seed + i << ": " << llvm::StringRef(why).take_front(400) << '\n';
        llvm::outs().flush();
      },
      error);
  for (uint64_t of : llvm::ArrayRef(failures).take_front(maxReduced)) {
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
    keep("products-" + std::to_string(of) + ".tile", made(small, of).source());
  }
  return conclude(failed < 0 ? failed : failed - refused, work, error, refused);
}

//===----------------------------------------------------------------------===//
// The front end
//===----------------------------------------------------------------------===//

#if __has_feature(address_sanitizer)
static constexpr Limits frontendLimits{30, 0}, hostLimits{60, 0}; // it reserves terabytes
#else
static constexpr Limits frontendLimits{5, 1024}, hostLimits{10, 1024};
#endif

/// Shows programs that failed, the first ones made small.
static void showFailures(const std::string &kind, llvm::ArrayRef<uint64_t> seeds,
                         std::string (*program)(uint64_t), bool (*fails)(const std::string &)) {
  for (auto [k, number] : llvm::enumerate(seeds)) {
    std::string text = program(number);
    keep(kind + "-" + std::to_string(number) + ".tile", text);
    if (k < maxReduced)
      llvm::outs() << "\nseed " << number << ", made small:\n" << reduceText(text, fails) << '\n';
  }
}

static bool crashes(const std::string &text) {
  return !runAlone(
              [&] {
                digest(text);
                return std::string();
              },
              frontendLimits)
              .empty();
}

static std::vector<std::string> corpus;

static int fuzzFrontEnd() {
  corpus = readCorpus({corpusFolders.begin(), corpusFolders.end()});
  if (corpus.empty()) {
    llvm::errs() << "tile-fuzz: error: no programs to mangle: name a folder with --corpus\n";
    return 2;
  }
  std::vector<uint64_t> failures;
  std::string error;
  Work work;
  int64_t failed = runCases(
      {nullptr,
       [&](uint64_t i) {
         digest(mangle(corpus, seed + i));
         return std::string();
       }},
      count, processes(), frontendLimits, seconds, work,
      [&](uint64_t i, const std::string &why) {
        failures.push_back(seed + i);
        llvm::outs() << "seed " << seed + i << ": " << why << '\n';
        llvm::outs().flush();
      },
      error);
  showFailures(
      "frontend", failures, [](uint64_t number) { return mangle(corpus, number); }, crashes);
  return conclude(failed, work, error);
}

//===----------------------------------------------------------------------===//
// Host functions
//===----------------------------------------------------------------------===//

static bool hostFails(const std::string &text) {
  return !runAlone([&] { return runHostFunctions(text); }, hostLimits).empty();
}

static int fuzzHost() {
  if (print) {
    llvm::outs() << hostProgram(seed);
    return 0;
  }
  std::vector<uint64_t> failures;
  std::string error;
  Work work;
  int64_t failed = runCases(
      {nullptr, [](uint64_t i) { return runHostFunctions(hostProgram(seed + i)); }}, count,
      processes(), hostLimits, seconds, work,
      [&](uint64_t i, const std::string &why) {
        failures.push_back(seed + i);
        llvm::outs() << "seed " << seed + i << ": " << why << '\n';
        llvm::outs().flush();
      },
      error);
  showFailures("host", failures, hostProgram, hostFails);
  return conclude(failed, work, error);
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
