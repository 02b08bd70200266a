//===- DriverFailuresTest.cpp - every function of the driver fails --------===//
//
// Lives of the runtime's classes that call, between them, every function of CudaSymbols.def:
// once whole, and then as often as they call the driver, with one call more failing each time.
// Nothing may be left behind, and the next life is whole again. FailuresTest.cpp has the same of
// the C interface, AheadFailuresTest.cpp of libtile_rt.
//
//===----------------------------------------------------------------------===//
#include "KernelTest.h"
#include "MockCompiler.h"
#include "runtime/CudaDevice.h"
#include "runtime/Memory.h"
#include "runtime/Timing.h"
#include <set>

using namespace tile;
using namespace tile::test;
using Kind = KernelParameter::Kind;

namespace {

class DriverFailures : public KernelTest {
public:
  ~DriverFailures() override { startAfresh(); }
  /// What could not be given back is no leak.
  void startAfresh() {
    while (currentContext())
      if (tile::cuda::Context context; api.cuCtxPopCurrent(&context) != tile::cuda::Result::Success)
        break;
    cuda.liveModules = cuda.liveEvents = cuda.liveStreams = cuda.liveLinks = 0;
    cuda.liveGraphs = cuda.retainedPrimaries = 0;
    cuda.allocatedBytes = 0;
    cuda.reset();
  }
  /// Notes an error, and goes on.
  void note(llvm::Error error) {
    if (!error)
      return;
    ++errors;
    EXPECT_NE(takeError(std::move(error)).message, "") << "an error without a sentence";
  }
  template <typename T> std::optional<T> note(llvm::Expected<T> value) {
    if (value)
      return std::move(*value);
    note(value.takeError());
    return std::nullopt;
  }

  void liveWithMemory();
  void liveWithKernels();
  void liveWithPreparedLaunches();
  void liveWithAssembler();
  void liveWithDevice();
  void failInTurn(void (DriverFailures::*live)(), std::set<std::string> &seen);
  int alive() const {
    return cuda.liveModules + cuda.liveLinks + cuda.liveEvents + cuda.liveStreams +
           cuda.liveGraphs + cuda.retainedPrimaries + int(cuda.allocatedBytes);
  }

  unsigned errors = 0;
};

void DriverFailures::liveWithMemory() {
  auto found = note(Context::currentOrPrimary(api));
  if (!found)
    return;
  std::shared_ptr<Context> context = *found;
  auto tooMuch = DeviceBuffer::allocate(context, size_t(1) << 40);
  EXPECT_FALSE(tooMuch);
  llvm::consumeError(tooMuch.takeError());
  auto buffer = note(DeviceBuffer::allocate(context, 64));
  auto other = note(DeviceBuffer::allocate(context, 64));
  auto stream = note(StreamHandle::create(context));
  auto start = note(EventHandle::create(context)), end = note(EventHandle::create(context));
  if (!buffer || !other || !stream || !start || !end)
    return;
  char bytes[64] = {};
  note(start->record(stream->handle()));
  note(buffer->upload(bytes, 64));
  note(buffer->fill(1));
  note(copyOnDevice(*context, other->pointer(), buffer->pointer(), 64, stream->handle()));
  note(other->download(bytes, 64));
  note(end->record(stream->handle()));
  note(end->wait());
  note(EventHandle::elapsed(*start, *end));
  note(synchronize(*context));
}

/// Every call of a launch: clusters that are not portable, scratch memory, tensor maps.
void DriverFailures::liveWithKernels() {
  auto context = note(Context::primary(api, 0));
  if (!context)
    return;
  KernelParameter scratch, map;
  scratch.kind = Kind::Scratch;
  scratch.bytes = 100, scratch.per = "program", scratch.zero = true;
  map.kind = Kind::TensorMap;
  map.index = 0;
  map.map.type = "fp16";
  map.map.sizes = {{{{64, {}}}}};
  map.map.box = {64};
  CompiledKernel description =
      makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "fp32"), scratch, map});
  description.metadata.cluster[0] = description.metadata.ctasPerProgram = 16;
  description.metadata.sharedBytes = 100000;
  description.metadata.fewPrograms = 2;
  description.alone = [&] {
    return llvm::Expected<std::shared_ptr<const CompiledKernel>>(share(scale()));
  };
  auto kernel = note(LoadedKernel::load(share(std::move(description)), *context));
  if (!kernel)
    return;
  pointer += 16; // maps are kept for the arrays that they were made for
  const uint32_t few[3] = {2, 1, 1}, many[3] = {1000, 1, 1};
  note((*kernel)->launch(nullptr, many, arguments));
  note((*kernel)->launch(nullptr, few, arguments));
}

void DriverFailures::liveWithPreparedLaunches() {
  auto context = note(Context::primary(api, 0));
  if (!context)
    return;
  auto stream = note(StreamHandle::create(*context));
  auto kernel = note(LoadedKernel::load(share(scale()), *context));
  if (!stream || !kernel)
    return;
  PreparedLaunch launch(*kernel);
  note(launch.setArguments(arguments));
  for (int i = 0; i < 40; ++i)
    note(launch.launch(stream->handle()));
}

void DriverFailures::liveWithAssembler() {
  auto context = note(Context::primary(api, 0));
  if (!context)
    return;
  auto assembled = note(assemble(**context, scale().ptx));
  if (assembled)
    note(Module::loadMachineCode(*context, assembled->cubin));
}

void DriverFailures::liveWithDevice() {
  auto device = note(createCudaDevice(api, mockCompile, {0, ""}));
  if (!device)
    return;
  frontend::SourceFile file("k.tile", "fine");
  KernelRequest request;
  request.file = &file;
  request.options.target = (*device)->target();
  frontend::DiagnosticEngine diagnostics;
  LaunchConfig config;
  config.args = {LaunchArg::pointer(0x100), LaunchArg::integer(5), LaunchArg::real(0.75)};
  cuda.launchMilliseconds = 60; // few are timed
  if (auto prepared = (*device)->prepare(request, diagnostics))
    note((*device)->time([&] { return (*device)->launch(*prepared, config, diagnostics); }, {}));
  note((*device)->synchronize());
  errors += diagnostics.numErrors();
}

/// What gives back, or finds out where to; where it fails something stays.
bool givesBack(llvm::StringRef symbol) {
  return llvm::any_of(llvm::ArrayRef<const char *>{"Free", "Unload", "Destroy", "Release", "cuCtx"},
                      [&](const char *word) { return symbol.contains(word); });
}

void DriverFailures::failInTurn(void (DriverFailures::*live)(), std::set<std::string> &seen) {
  startAfresh();
  (this->*live)();
  ASSERT_EQ(errors, 0u);
  size_t calls = cuda.calls.size();
  for (size_t i = 0; i < calls; ++i) {
    startAfresh();
    cuda.failingCall = i;
    errors = 0;
    (this->*live)();
    if (cuda.calls.size() <= i)
      break;
    std::string failed = cuda.calls[i];
    seen.insert(failed);
    if (!givesBack(failed))
      EXPECT_EQ(alive(), 0) << failed << ", call " << i;
    startAfresh();
    errors = 0;
    (this->*live)();
    EXPECT_EQ(errors, 0u) << "behind a failing " << failed << ", call " << i;
  }
}

TEST_F(DriverFailures, EachFunctionInTurn) {
  std::set<std::string> seen;
  for (auto live : {&DriverFailures::liveWithMemory, &DriverFailures::liveWithKernels,
                    &DriverFailures::liveWithPreparedLaunches, &DriverFailures::liveWithAssembler,
                    &DriverFailures::liveWithDevice})
    failInTurn(live, seen);
  // DriverTest opens drivers that do not start, and the rest only says what went wrong.
  for (const char *opening : {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"})
    seen.insert(opening);
  const std::set<std::string> all = {
#define TILE_CUDA_SYMBOL(name, symbol, parameters) #symbol,
#include "runtime/CudaSymbols.def"
  };
  EXPECT_EQ(seen, all) << "a function of the driver is not called here";
}

} // namespace
