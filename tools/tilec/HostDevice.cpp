//===- HostDevice.cpp - the machine that host functions run on ------------===//
#include "tools/tilec/HostDevice.h"
#include "runtime/Cache.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/CompilingDevice.h"
#include "tools/tilec/KernelOptions.h"

using namespace tilec;
using namespace tile::runtime;
using llvm::StringRef;
using tile::formatted;

/// What says how kernels are compiled, beside being run.
static void addCompilingOptions(OptionTable &options, HostDeviceOptions &device) {
  options
      .custom(
          "compile-for", "TARGET",
          "on the CPU, compile each kernel for a GPU as well, with ptxas if it is on PATH",
          [&device](StringRef v) {
            device.compileFor = v.str();
            return std::string();
          },
          targetChoices())
      .flag("no-assemble", "with --compile-for, stop at the PTX", device.assemble, false)
      .text("save-ptx", "DIR",
            "with --compile-for, write each kernel's PTX to DIR, which must be there",
            device.savedPtx, ValueKind::Directory)
      .flag("each-lane-arrives",
            "compile kernels so: for racecheck, which does not follow the barriers of warps",
            device.eachLaneArrives)
      .flag("as-built",
            "run functions of whole tensors in the code that `tilec build` makes for other sizes, "
            "where it serves",
            device.asBuilt)
      .integer("other-cuts", "N",
               "run functions of whole tensors in the Nth of the cuts that `--mode max-autotune` "
               "tries beside the compiler's choice",
               device.otherCuts, 0, 1000)
      .flag("algebraic",
            "run each launch on the emulator and interpreted, with numbers of a ring in the place "
            "of floats, and compare every bit; references are not looked at",
            device.algebraic);
}

/// What says which of a tuned kernel's configurations run.
static void addTuningOptions(OptionTable &options, HostDeviceOptions &device) {
  options
      .choice("mode", {"default", "max-autotune"},
              "max-autotune: on the GPU, run functions of whole tensors in the cuts that are "
              "fastest, which are measured once",
              device.mode)
      .choice("tuning", {"ranked", "all", "none"},
              "on the GPU, of configurations of a tuned kernel time those that the cost model "
              "ranks highest, or all, or none: its first is taken",
              device.tuning)
      .text("tuning-file", "FILE",
            "on the GPU, go by these records of which configuration won, and add to them (also "
            "TILE_TUNING=FILE)",
            device.tuningFile, ValueKind::File)
      .flag("print-autotuning",
            "on the GPU, print which configuration of a tuned kernel won (also with "
            "TRITON_PRINT_AUTOTUNING=1)",
            device.printTuning);
}

void tilec::addHostDeviceOptions(OptionTable &options, HostDeviceOptions &device) {
  options
      .choice("device", {"auto", "cpu", "emu", "cuda", "emu+cuda"},
              "where kernels run; auto: on the GPU if there is one; emu+cuda: on both, and compare",
              device.device)
      .flag("no-check", "on the CPU and the emulator, do not report faults (faster)", device.check,
            false)
      .flag("check", "on the CPU, check every access to memory", device.check)
      .integer("threads", "N", "cores that interpret or emulate; 0: all of them", device.threads, 0,
               1024)
      .integer("launch-limit", "N",
               "on the CPU and the emulator, what one launch may do, in billions of operations on "
               "elements; 0: anything",
               device.launchLimit, 0, 1 << 30)
      .custom(
          "target", "TARGET", formatted("emu: the GPU to emulate: {}", targetHelp()),
          [&device](StringRef v) {
            device.emulated = v.str();
            return std::string();
          },
          targetChoices())
      .integer("schedules", "N", "emu: run each launch in N random orders more, and compare",
               device.schedules, 0, 1000000)
      .flag("first-launches",
            "emu: with --schedules, only the first launch of each compiled kernel",
            device.firstLaunches)
      .integer("seed", "S", "emu: of the first random order", device.seed, 0, 1 << 30)
      .flag("counters", "emu: print what the kernels did (transactions, sectors, instructions)",
            device.counters)
      .text("counters-json", "FILE", "emu: write the counters to FILE", device.countersFile,
            ValueKind::File)
      .flag(
          "through-passes",
          "on the CPU, interpret kernels after the passes over tile and cta operations; those that "
          "copy ahead, as products do, are for the emulator",
          device.throughPasses);
  addCompilingOptions(options, device);
  addTuningOptions(options, device);
}

/// The emulator and the interpreter, which must agree to the bit.
static HostDevice openAlgebraic(StringRef command, const HostDeviceOptions &options) {
  HostDevice result;
  if (options.device == "cuda" || options.device == "emu+cuda") {
    printError(command,
               "--algebraic compares the emulator with the interpreter: no other --device");
    result.isUsage = true;
    return result;
  }
  EmuDeviceOptions emu;
  CpuDeviceOptions cpu;
  emu.target = options.emulated;
  emu.threads = cpu.threads = unsigned(options.threads);
  emu.algebraic = cpu.algebraic = true;
  emu.launchLimit = cpu.launchLimit = uint64_t(options.launchLimit) * kBillion;
  cpu.check = false;
  auto first = createEmuDevice(emu);
  result.emulator = first.get();
  auto both = createAgreementDevice(std::move(first), createCpuDevice(cpu), /*bitwise=*/true);
  result.agreement = &both->agreement();
  result.device = std::move(both);
  return result;
}

static llvm::Expected<std::unique_ptr<Device>> openCuda() {
  CudaDeviceOptions cuda;
  cuda.cacheDirectory = cacheFolderFromEnvironment();
  return createCudaDevice(cuda);
}

static HostDevice openEmulator(StringRef command, const HostDeviceOptions &chosen) {
  HostDevice result;
  std::unique_ptr<Device> gpu;
  EmuDeviceOptions options;
  options.target = chosen.emulated;
  if (chosen.device == "emu+cuda") {
    auto opened = openCuda();
    if (!opened) {
      printError(command, llvm::toString(opened.takeError()));
      return result;
    }
    gpu = std::move(*opened);
    options.target = gpu->target();
  }
  options.check = chosen.check;
  options.threads = unsigned(chosen.threads);
  options.schedules = unsigned(chosen.schedules);
  options.seed = uint64_t(chosen.seed);
  options.firstLaunchesOnly = chosen.firstLaunches;
  options.launchLimit = uint64_t(chosen.launchLimit) * kBillion;
  options.counters = chosen.counters || !chosen.countersFile.empty();
  auto device = createEmuDevice(options);
  result.emulator = device.get();
  if (!gpu) {
    result.device = std::move(device);
    return result;
  }
  auto both = createAgreementDevice(std::move(device), std::move(gpu));
  result.agreement = &both->agreement();
  result.device = std::move(both);
  return result;
}

HostDevice tilec::openHostDevice(StringRef command, HostDeviceOptions &options) {
  HostDevice result;
  for (std::string *target : {&options.emulated, &options.compileFor})
    if (!target->empty())
      if (std::string problem = resolveTargetOption(*target); !problem.empty()) {
        printError(command, problem);
        result.isUsage = true;
        return result;
      }
  if (options.algebraic)
    return openAlgebraic(command, options);
  if (options.device == "emu" || options.device == "emu+cuda")
    return openEmulator(command, options);
  if (options.device != "cpu") {
    auto device = openCuda();
    if (device) {
      result.device = std::move(*device);
      return result;
    }
    std::string message = llvm::toString(device.takeError());
    if (options.device == "cuda") {
      printError(command, message);
      return result;
    }
  }
  CpuDeviceOptions cpu;
  cpu.check = options.check;
  cpu.threads = unsigned(options.threads);
  cpu.throughPasses = options.throughPasses;
  cpu.launchLimit = uint64_t(options.launchLimit) * kBillion;
  result.device = createCpuDevice(cpu);
  if (!options.compileFor.empty())
    result.device = createCompilingDevice(std::move(result.device), options.compileFor,
                                          options.assemble, options.savedPtx);
  return result;
}
