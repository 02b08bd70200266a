//===- HostModules.cpp - what files ask of the machine they run on --------===//
//
// Real files choose between versions of a helper when they are imported: by an
// environment variable, a version, the vendor of the GPU. The answers here are
// those of one imagined machine: an empty environment, current libraries, and
// a GPU of the target's kind. They never depend on the machine that compiles,
// so that one input has one output.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/BuiltinTables.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

static constexpr StringRef hostModules[] = {"torch",          "torch.cuda",
                                            "torch.version",  "torch.xpu",
                                            "torch.backends", "os",
                                            "platform",       "sys",
                                            "importlib",      "warnings",
                                            "logging",        "packaging",
                                            "enum",           "abc",
                                            "importlib.util", "packaging.version",
                                            "torch.utils",    "torch.utils._triton"};

bool eval::isHostModule(StringRef name) { return llvm::is_contained(hostModules, name); }

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

static std::optional<PyValue> constantMember(StringRef name) {
  if (name == "torch.__version__")
    return PyValue::string("2.9.0");
  if (name == "torch.version.cuda")
    return PyValue::string("13.0");
  if (name == "torch.version.hip" || name == "torch.version.xpu")
    return PyValue::none();
  if (name == "os.environ")
    return PyValue::dict({});
  if (name == "sys.platform")
    return PyValue::string("linux");
  if (name == "sys.version_info")
    return PyValue::tuple({PyValue::integer(3), PyValue::integer(12), PyValue::integer(0)});
  StringRef type = name;
  if (type.consume_front("torch.")) {
    type = llvm::StringSwitch<StringRef>(type)
               .Case("half", "float16")
               .Case("float", "float32")
               .Case("double", "float64")
               .Case("bool", "int1")
               .Case("long", "int64")
               .Case("int", "int32")
               .Case("short", "int16")
               .Case("float8_e4m3fn", "float8e4nv")
               .Case("float8_e5m2", "float8e5")
               .Default(type);
    if (std::optional<DType> known = DType::parse(type); known && known->name() == type)
      return PyValue::dtype(*known);
  }
  return std::nullopt;
}

Result eval::hostMember(StringRef module, StringRef name) {
  std::string full = (module + "." + name).str();
  if (isHostModule(full))
    return PyValue::module(full);
  if (std::optional<PyValue> constant = constantMember(full))
    return *constant;
  if (isEvaluableBuiltin(full) || module == "enum" || module == "abc")
    return PyValue::symbol(full);
  // Not an error that a file's `except Exception` would have met.
  return fail(formatted("module `{}` is not available to compile-time code", module),
              "UnavailableError");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

template <bool value> static Result answer(Evaluator &, const CallArgs &) {
  return PyValue::boolean(value);
}
template <int value> static Result number(Evaluator &, const CallArgs &) {
  return PyValue::integer(value);
}
static Result nothing(Evaluator &, const CallArgs &) { return PyValue(); }

static Result deviceCapability(Evaluator &evaluator, const CallArgs &) {
  return PyValue::tuple(
      {PyValue::integer(evaluator.capability / 10), PyValue::integer(evaluator.capability % 10)});
}

static std::shared_ptr<const ClassObject> record(StringRef name, std::vector<std::string> fields) {
  auto type = std::make_shared<ClassObject>();
  type->name = name.str();
  type->isNamedTuple = true;
  type->fields = std::move(fields);
  return type;
}

PyValue eval::torchDevice() {
  static const auto type = record("device", {"type", "index"});
  return PyValue::namedTuple(type, {PyValue::string("cuda"), PyValue::integer(0)});
}
static Result activeDevice(Evaluator &, const CallArgs &) { return torchDevice(); }

static Result currentTarget(Evaluator &evaluator, const CallArgs &) {
  static const auto type = record("GPUTarget", {"backend", "arch", "warp_size"});
  return PyValue::namedTuple(type, {PyValue::string("cuda"), PyValue::integer(evaluator.capability),
                                    PyValue::integer(32)});
}

/// The environment is empty, so that every variable has its default.
static Result getEnvironment(Evaluator &, const CallArgs &args) {
  ArgReader r("os.getenv", args, {"key", "default"}, 1);
  return r ? Result(r.get(1)) : Result(r.error());
}

static Result machineName(Evaluator &, const CallArgs &) { return PyValue::string("x86_64"); }
static Result systemName(Evaluator &, const CallArgs &) { return PyValue::string("Linux"); }

/// The release numbers of a version; a suffix such as `rc1` or `+cu13` is left out.
static Result parseVersion(Evaluator &, const CallArgs &args) {
  ArgReader r("version.parse", args, {"version"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> parts;
  StringRef text = r[0].isStr() ? StringRef(r[0].asStr()) : StringRef();
  for (int64_t part; !text.consumeInteger(10, part);) {
    parts.push_back(PyValue::integer(part));
    if (!text.consume_front("."))
      break;
  }
  if (parts.empty())
    return fail(formatted("`version.parse` needs a version such as \"3.0.1\", got {}", repr(r[0])),
                "ValueError");
  while (parts.size() < 3)
    parts.push_back(PyValue::integer(0));
  return PyValue::tuple(std::move(parts));
}

static Result findSpec(Evaluator &, const CallArgs &args) {
  ArgReader r("find_spec", args, {"name", "package"}, 1);
  if (!r)
    return r.error();
  if (!r[0].isStr())
    return fail("`find_spec` needs a module's name");
  if (canonicalModule(r[0].asStr()).empty())
    return PyValue();
  static const auto type = record("ModuleSpec", {"name", "loader"});
  return PyValue::namedTuple(type, {r[0], PyValue::module("importlib.loader")});
}

/// A module known here, from its name or its spec.
static Result importModule(Evaluator &, const CallArgs &args) {
  ArgReader r("import_module", args, {"name", "package"}, 1);
  if (!r)
    return r.error();
  PyValue name = r[0].is(Kind::Tuple) && !r[0].elements().empty() ? r[0].elements()[0] : r[0];
  std::string known = name.isStr() ? canonicalModule(name.asStr()) : "";
  if (known.empty())
    return fail(formatted("module {} is not available to compile-time code", repr(name)),
                "ModuleNotFoundError");
  return PyValue::module(known);
}

/// The dtype that `torch.finfo` or `torch.iinfo` is asked about.
static Result limitsOf(StringRef function, const CallArgs &args, bool (DType::*fits)() const,
                       StringRef expected) {
  ArgReader r(function, args, {"type"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::DType) || !(r[0].asDType().*fits)())
    return fail(formatted("`{}` needs {} type, got {}", function, expected, repr(r[0])),
                "TypeError");
  return r[0];
}

static Result floatLimits(Evaluator &, const CallArgs &args) {
  Result type = limitsOf("torch.finfo", args, &DType::isFloating, "a floating-point");
  if (!type)
    return type;
  const DType &dtype = type->asDType();
  int mantissa = dtype.mantissaWidth(), bias = dtype.exponentBias();
  double epsilon = std::ldexp(1.0, -mantissa), smallest = std::ldexp(1.0, 1 - bias);
  // The highest exponent is that of infinities; 8-bit types but e5 have none, and
  // e4nv has its NaN there.
  bool isFinite = dtype.bitWidth() == 8 && dtype.kind() != DType::Kind::Float8E5;
  bool hasNaN = dtype.kind() == DType::Kind::Float8E4NV;
  int highest = (1 << (dtype.bitWidth() - 1 - mantissa)) - (isFinite ? 1 : 2) - bias;
  double largest = std::ldexp(2.0 - (hasNaN ? 2 : 1) * epsilon, highest);
  static const auto fields =
      record("finfo", {"bits", "eps", "max", "min", "tiny", "smallest_normal"});
  PyValue tiny = PyValue::number(smallest);
  return PyValue::namedTuple(fields,
                             {PyValue::integer(dtype.bitWidth()), PyValue::number(epsilon),
                              PyValue::number(largest), PyValue::number(-largest), tiny, tiny});
}

static Result integerLimits(Evaluator &, const CallArgs &args) {
  Result type = limitsOf("torch.iinfo", args, &DType::isInt, "an integer");
  if (!type)
    return type;
  unsigned bits = type->asDType().bitWidth();
  bool isSigned = type->asDType().isSigned();
  static const auto fields = record("iinfo", {"bits", "max", "min"});
  llvm::APInt largest =
      isSigned ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  llvm::APInt least = isSigned ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0);
  return PyValue::namedTuple(fields,
                             {PyValue::integer(bits),
                              PyValue::integer(isSigned ? largest.sext(128) : largest.zext(128)),
                              PyValue::integer(least.sext(128))});
}

static Result backendsOfTriton(Evaluator &, const CallArgs &) {
  return PyValue::list({PyValue::symbol("triton.backends.nvidia")});
}

static Result getLogger(Evaluator &, const CallArgs &) { return PyValue::module("logging.logger"); }

llvm::ArrayRef<BuiltinEntry> eval::hostBuiltins() {
  static const BuiltinEntry table[] = {
      {"torch.cuda.is_available", answer<true>},
      {"torch.cuda.device_count", number<1>},
      {"torch.cuda.current_device", number<0>},
      {"torch.cuda.get_device_capability", deviceCapability},
      {"torch.xpu.is_available", answer<false>},
      {"torch.finfo", floatLimits},
      {"torch.iinfo", integerLimits},
      {"tile.finfo", floatLimits},
      {"tile.iinfo", integerLimits},
      {"torch.utils._triton.has_triton", answer<true>},
      {"torch.utils._triton.has_triton_package", answer<true>},
      {"triton.runtime.driver.active.get_current_target", currentTarget},
      {"triton.runtime.driver.active.get_current_device", number<0>},
      {"triton.runtime.driver.active.get_active_torch_device", activeDevice},
      {"triton.backends.backends.values", backendsOfTriton},
      {"triton.backends.nvidia.driver.is_active", answer<true>},
      {"tl.current_target", currentTarget},
      {"os.getenv", getEnvironment},
      {"platform.machine", machineName},
      {"platform.system", systemName},
      {"packaging.version.parse", parseVersion},
      {"packaging.version.Version", parseVersion},
      {"importlib.util.find_spec", findSpec},
      {"importlib.util.module_from_spec", importModule},
      {"importlib.import_module", importModule},
      {"importlib.loader.exec_module", nothing},
      {"warnings.warn", nothing},
      {"warnings.filterwarnings", nothing},
      {"logging.getLogger", getLogger},
      {"logging.logger.debug", nothing},
      {"logging.logger.info", nothing},
      {"logging.logger.warning", nothing},
      {"logging.logger.error", nothing},
  };
  return table;
}
