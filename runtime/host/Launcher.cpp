//===- Launcher.cpp - `kernel[grid](...)` in host functions ---------------===//
#include "runtime/host/Launcher.h"
#include "target/RegisterLimit.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Arguments and options
//===----------------------------------------------------------------------===//

static bool isParameter(const eval::FunctionObject &kernel, StringRef name) {
  return llvm::any_of(kernel.params(), [&](auto &param) { return param.name == name; });
}

static std::unique_ptr<EvalError> setOption(StringRef name, const PyValue &value,
                                            LaunchOptions &options, bool &known) {
  known = true;
  auto integer = [&](auto &option, auto isPossible, StringRef what) -> std::unique_ptr<EvalError> {
    std::optional<int64_t> number = value.toInt64();
    if (!number || !isPossible(*number))
      return fail(formatted("`{}` must be {}, got {}{}", name, what, eval::repr(value),
                            name == "num_warps" && number ? insteadOfWarps(*number) : ""));
    option = *number;
    return nullptr;
  };
  auto powerUpTo = [](int64_t most) {
    return [most](int64_t n) { return n > 0 && n <= most && (n & (n - 1)) == 0; };
  };
  auto between = [](int64_t least, int64_t most) {
    return [=](int64_t n) { return least <= n && n <= most; };
  };
  if (name == "num_warps")
    return integer(options.numWarps, powerUpTo(32), "1, 2, 4, 8, 16 or 32");
  if (name == "num_ctas")
    return integer(options.numCtas, powerUpTo(8), "1, 2, 4 or 8");
  if (name == "num_stages" && value.isStr() && value.asStr() == "auto") {
    options.numStages = 0;
    return nullptr;
  }
  if (name == "num_stages") { // 0 is no pipelining, as in Triton
    auto error = integer(options.numStages, between(0, 32), "from 0 to 32 or \"auto\"");
    options.numStages = std::max<int>(options.numStages, 1);
    return error;
  }
  if (name == "maxnreg" && value.isNone())
    return nullptr;
  if (name == "changes") // functions of whole tensors ask for it; here a launch may change anything
    return nullptr;
  if (name == "maxnreg")
    return integer(options.maxRegisters, between(kLeastRegisterLimit, kMostRegisterLimit),
                   "from 16 to 256");
  if (name == "warp_roles") {
    if (!value.isStr() || !readWarpRoles(value.asStr(), options.warpRoles))
      return fail(formatted("`warp_roles` must be 'auto', 'cooperative', 'pingpong', 'none', "
                            "'shared' or 'apart', got {}",
                            eval::repr(value)));
    return nullptr;
  }
  if (name == "enable_fp_fusion" || name == "debug") {
    Result yes = eval::truth(value);
    if (!yes)
      return yes.takeError();
    (name == "debug" ? options.debug : options.enableFpFusion) = yes->asBool();
    return nullptr;
  }
  known = false;
  return nullptr;
}

/// What to do instead of giving a launch option of the reference; empty for other names.
static StringRef insteadOf(StringRef option) {
  return llvm::StringSwitch<StringRef>(option)
      .Case("launch_cooperative_grid",
            "launch no more programs than run at once, and wait with atomics")
      .Case("launch_pdl", "leave it out: kernels run one after the other")
      .Cases({"arch", "ptx_version"},
             "the device is the target; `tilec compile --target` has others")
      .Cases({"ptx_options", "ir_override"},
             "`tilec compile` writes PTX for a toolchain of your own")
      .Case("extern_libs", "name the library in `extern_elementwise`")
      .Case("sanitize_overflow", "integers wrap; `tilec lint` finds offsets that may")
      .Cases({"default_dot_input_precision", "allowed_dot_input_precisions"},
             "give `input_precision` to `tl.dot`")
      .Cases({"supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes"},
             "the target decides which 8-bit floats there are")
      .Case("enable_reflect_ftz",
            "math functions are Tile's own; `tilec compile --libdevice` takes NVIDIA's")
      .Case("instrumentation_mode", "`tilec test --device emu` finds races")
      .Cases({"device", "stream"}, "`tilec` chooses the device and runs launches in order")
      .Case("warmup", "`kernel.warmup(..., grid=...)` compiles and launches nothing")
      .Default("");
}

/// Takes arguments in: options, and parameters (a name may be both).
std::unique_ptr<EvalError> Launcher::splitOptions(const CallArgs &args, Request &request) {
  llvm::append_range(request.args.positional, args.positional);
  for (auto &[name, value] : args.keywords) {
    bool known = false;
    if (auto error = setOption(name, value, request.options, known))
      return error;
    if (isParameter(request.kernel, name)) {
      request.args.keywords.emplace_back(name, value);
      continue;
    }
    if (known)
      continue;
    if (StringRef instead = insteadOf(name); !instead.empty())
      return eval::unsupported(
          formatted("the launch option `{}` is not supported: {}", name, instead));
    std::vector<StringRef> candidates = {"num_warps", "num_stages", "maxnreg",   "enable_fp_fusion",
                                         "debug",     "num_ctas",   "warp_roles"};
    for (const ast::Parameter &param : request.kernel.params())
      candidates.push_back(param.name);
    std::string message = formatted("`{}` is neither a parameter of `{}` nor a launch option", name,
                                    request.kernel.name());
    if (StringRef near = frontend::nearestName(name, candidates); !near.empty())
      message += formatted("; did you mean `{}`?", near);
    return fail(message);
  }
  return nullptr;
}

/// Names or positions of parameters.
static std::unique_ptr<EvalError> readNames(const eval::FunctionObject &kernel,
                                            const PyValue *value, std::vector<std::string> &out) {
  if (!value || value->isNone())
    return nullptr;
  for (const PyValue &element : value->elements()) {
    std::optional<int64_t> index = element.toInt64();
    if (element.isStr())
      out.push_back(element.asStr());
    else if (index && *index >= 0 && *index < int64_t(kernel.params().size()))
      out.push_back(kernel.params()[*index].name);
    else
      return fail(formatted("`do_not_specialize` needs names or positions of parameters, got {}",
                            eval::repr(element)));
  }
  return nullptr;
}

std::unique_ptr<EvalError> Launcher::readJitArguments(Evaluator &evaluator,
                                                      const eval::Decorator &decorator,
                                                      Request &request) {
  CallArgs args;
  if (Result ok = evaluator.decoratorArguments(request.kernel, decorator, args); !ok)
    return ok.takeError();
  if (auto error = readNames(request.kernel, args.keyword("do_not_specialize"), request.plain))
    return error;
  if (const PyValue *debug = args.keyword("debug"); debug && debug->is(Kind::Bool))
    request.options.debug |= debug->asBool();
  return readNames(request.kernel, args.keyword("do_not_specialize_on_alignment"),
                   request.unaligned);
}

Result Launcher::namedValues(Evaluator &evaluator, const Request &request) {
  const eval::FunctionObject &kernel = request.kernel;
  const CallArgs &args = request.args;
  const LaunchOptions &options = request.options;
  PyValue out = PyValue::dict({});
  auto set = [&](StringRef name, PyValue value) {
    out.asDict().set(PyValue::string(name.str()), std::move(value));
  };
  set("num_warps", PyValue::integer(options.numWarps));
  set("num_stages",
      options.numStages ? PyValue::integer(options.numStages) : PyValue::string("auto"));
  for (size_t i = 0; i < kernel.params().size(); ++i) {
    const ast::Parameter &param = kernel.params()[i];
    if (i < args.positional.size()) {
      set(param.name, args.positional[i]);
    } else if (const PyValue *value = args.keyword(param.name)) {
      set(param.name, *value);
    } else if (param.defaultValue) {
      Result value = evaluator.defaultValue(kernel, i);
      if (!value)
        return value;
      set(param.name, value.take());
    }
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

/// Repeats recorded work; false after an error, which is put into `error`.
static bool replay(HostContext &context, ArrayRef<DeviceWork> work,
                   std::unique_ptr<EvalError> &error) {
  for (const DeviceWork &item : work) {
    frontend::DiagnosticEngine diagnostics;
    if (!item.kernel) {
      context.note(context.device.copy(item.to, item.from, item.bytes));
    } else if (!context.device.launch(*item.kernel, item.config, diagnostics)) {
      error = toError(diagnostics, "a launch failed");
      return false;
    }
  }
  return context.deviceError.empty();
}

llvm::Expected<runtime::Timing> host::timeWork(HostContext &context,
                                               llvm::function_ref<Result()> body,
                                               const runtime::TimingOptions &options,
                                               std::unique_ptr<EvalError> &error) {
  std::vector<DeviceWork> work, *outer = context.recording;
  context.recording = &work;
  Result first = body();
  context.recording = outer;
  if (outer)
    llvm::append_range(*outer, work);
  if (!first) {
    error = first.takeError();
    return llvm::createStringError("the measured function failed");
  }
  return context.device.time([&] { return replay(context, work, error); }, options);
}

//===----------------------------------------------------------------------===//
// Preparing and launching
//===----------------------------------------------------------------------===//

std::unique_ptr<EvalError> host::toError(const frontend::DiagnosticEngine &diagnostics,
                                         const std::string &fallback) {
  std::unique_ptr<EvalError> error = fail(fallback, "RuntimeError");
  bool isFirst = true;
  for (const frontend::Diagnostic &d : diagnostics.all()) {
    if (d.severity != frontend::Severity::Error)
      continue;
    if (isFirst) {
      error->diagnostic = d;
      isFirst = false;
      continue;
    }
    frontend::Diagnostic note = d;
    note.severity = frontend::Severity::Note;
    note.notes.clear();
    error->diagnostic.notes.push_back(std::move(note));
  }
  return error;
}

runtime::KernelRequest Launcher::kernelRequest(const eval::FunctionObject &kernel,
                                               const LaunchOptions &options,
                                               const Specialization &specialization) const {
  runtime::KernelRequest request;
  request.file = &kernel.module->source();
  request.module = &kernel.module->tree();
  CompileOptions &compile = request.options;
  compile.kernel = kernel.name();
  compile.signature = specialization.signature;
  compile.constexprs = specialization.constexprs;
  compile.numWarps = options.numWarps;
  compile.numStages = options.numStages;
  compile.numCtas = options.numCtas;
  compile.warpRoles = options.warpRoles;
  compile.maxRegisters = options.maxRegisters;
  compile.enableFpFusion = options.enableFpFusion;
  compile.debug = options.debug;
  compile.eachLaneArrives = context->eachLaneArrives;
  compile.print = context->print;
  compile.target = context->device.target();
  compile.includePaths = includePaths;
  return request;
}

std::string Launcher::kernelKey(const runtime::KernelRequest &request) {
  const CompileOptions &compile = request.options;
  std::string key =
      request.file->name().str() + "\n" + compile.kernel + "(" + compile.signature + ")";
  for (auto &[name, value] : compile.constexprs)
    key += "\n" + name + "=" + value;
  for (int number : {compile.numWarps, compile.numStages, compile.numCtas, compile.maxRegisters,
                     int(compile.warpRoles), int(compile.enableFpFusion), int(compile.debug)})
    key += "\n" + std::to_string(number);
  return key;
}

runtime::Kernel *Launcher::prepare(const runtime::KernelRequest &request,
                                   std::unique_ptr<EvalError> &error) {
  std::string key = kernelKey(request);
  if (runtime::Kernel *kept = kernels.find(key))
    return kept;
  frontend::DiagnosticEngine diagnostics;
  std::unique_ptr<runtime::Kernel> prepared = context->device.prepare(request, diagnostics);
  if (!prepared) {
    error = toError(diagnostics,
                    formatted("kernel `{}` could not be prepared", request.options.kernel));
    return nullptr;
  }
  return kernels.keep(*context, key, std::move(prepared));
}

static std::unique_ptr<EvalError> readGrid(const PyValue &value, std::array<uint32_t, 3> &grid) {
  std::vector<PyValue> dims = {value};
  if (value.isSequence())
    dims = value.elements().vec();
  if (dims.empty() || dims.size() > 3)
    return fail(formatted("a grid has one to three dimensions, got {}", eval::repr(value)));
  for (size_t i = 0; i < dims.size(); ++i) {
    std::optional<int64_t> size = dims[i].toInt64();
    int64_t limit = i == 0 ? INT32_MAX : 65535;
    if (!size || *size < 0 || *size > limit)
      return fail(formatted("dimension {} of a grid is an integer from 0 to {}, got {}", i, limit,
                            eval::repr(dims[i])));
    grid[i] = *size;
  }
  return nullptr;
}

std::unique_ptr<EvalError> Launcher::evaluateGrid(Evaluator &evaluator, const Request &request,
                                                  std::array<uint32_t, 3> &grid) {
  if (request.grid.isSequence() || request.grid.toInt64())
    return readGrid(request.grid, grid);
  Result known = namedValues(evaluator, request);
  if (!known)
    return known.takeError();
  Result value = evaluator.call(request.grid, CallArgs{{*known}, {}});
  return value ? readGrid(*value, grid) : value.takeError();
}

Result Launcher::run(Evaluator &evaluator, const Request &request) {
  std::vector<PyValue> values;
  if (Result ok = evaluator.bind(request.kernel, request.args, values); !ok)
    return ok;
  runtime::LaunchConfig config;
  if (auto error = evaluateGrid(evaluator, request, config.grid))
    return error;
  Specialization specialization;
  if (auto error = specialize(evaluator, request.kernel, values, request.plain, request.unaligned,
                              specialization))
    return error;
  std::unique_ptr<EvalError> error;
  runtime::KernelRequest wanted = kernelRequest(request.kernel, request.options, specialization);
  runtime::Kernel *kernel = prepare(wanted, error);
  if (!kernel)
    return error;
  PyValue handle = PyValue::extension(std::make_shared<KernelHandle>(std::move(wanted), inspector));
  if (request.isWarmup || config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0)
    return handle;
  config.args = std::move(specialization.args);
  for (Storage *storage : context->exposed)
    storage->devicePointer(); // what the host wrote is there
  frontend::DiagnosticEngine diagnostics;
  bool launched = context->device.launch(*kernel, config, diagnostics);
  for (Storage *storage : specialization.written)
    storage->deviceWrote();
  for (Storage *storage : context->exposed)
    storage->deviceWrote();
  if (!launched || diagnostics.hasErrors())
    return toError(diagnostics, formatted("the launch of `{}` failed", request.kernel.name()));
  if (context->recording) {
    DeviceWork work;
    work.kernel = kernel;
    work.config = std::move(config);
    work.storages = std::move(specialization.storages);
    context->recording->push_back(std::move(work));
  }
  return handle;
}
