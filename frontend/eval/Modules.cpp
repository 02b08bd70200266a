//===- Modules.cpp - the modules that kernel files import -----------------===//
//
// Imports resolve to canonical names, so that `tl.exp`, `tl.math.exp` and
// `from triton.language import exp` are one symbol. What a `tl` symbol means
// is the specialiser's business; this file only knows which ones exist.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/OtherNames.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <numbers>

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;

// Operations, types and helpers of triton.language.
static constexpr StringRef languageNames[] = {
    "program_id",
    "num_programs",
    "arange",
    "full",
    "zeros",
    "zeros_like",
    "full_like",
    "cast",
    "broadcast",
    "broadcast_to",
    "expand_dims",
    "reshape",
    "view",
    "ravel",
    "squeeze",
    "unsqueeze",
    "permute",
    "trans",
    "cat",
    "join",
    "split",
    "interleave",
    "flip",
    "gather",
    "swizzle2d",
    "add",
    "sub",
    "mul",
    "minimum",
    "maximum",
    "clamp",
    "where",
    "fma",
    "umulhi",
    "abs",
    "exp",
    "exp2",
    "log",
    "log2",
    "sin",
    "cos",
    "tanh",
    "sqrt",
    "rsqrt",
    "erf",
    "floor",
    "ceil",
    "sqrt_rn",
    "div_rn",
    "fdiv",
    "sigmoid",
    "softmax",
    "cdiv",
    "expect_zero",
    "map_elementwise",
    "extern_elementwise",
    "inline_asm_elementwise",
    "dot",
    "dot_scaled",
    "load",
    "store",
    "make_block_ptr",
    "advance",
    "make_tensor_descriptor",
    "_experimental_make_tensor_descriptor",
    "load_tensor_descriptor",
    "store_tensor_descriptor",
    "debug_barrier",
    "atomic_add",
    "atomic_max",
    "atomic_min",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "atomic_xchg",
    "atomic_cas",
    "reduce",
    "associative_scan",
    "max",
    "min",
    "argmax",
    "argmin",
    "sum",
    "xor_sum",
    "reduce_or",
    "cumsum",
    "cumprod",
    "sort",
    "topk",
    "bitonic_merge",
    "histogram",
    "philox",
    "philox_impl",
    "randint",
    "randint4x",
    "rand",
    "rand4x",
    "randn",
    "randn4x",
    "uint_to_uniform_float",
    "uint32_to_uniform_float",
    "pair_uniform_to_normal",
    "multiple_of",
    "max_contiguous",
    "max_constancy",
    "assume",
    "static_assert",
    "static_print",
    "device_print",
    "device_assert",
    "condition",
    "range",
    "static_range",
    "to_tensor",
    "constexpr",
    "_unwrap_if_constexpr",
    "const",
    "tuple",
    "aggregate_replace",
    "tensor",
    "dtype",
    "pointer_type",
    "block_type",
    "tuple_type",
    "constexpr_type",
    "tensor_descriptor",
    "tensor_descriptor_base",
    "tensor_descriptor_type",
    "slice",
    "PropagateNan",
    "TRITON_MAX_TENSOR_NUMEL",
    "next_power_of_2",
    "builtin",
    "must_use_result",
    "current_target",
    "is_cuda",
    "is_hip",
    "cuda_capability_geq",
    // Private to the reference's standard library, yet used by real kernels.
    "get_int_dtype",
    "_log2",
    "_is_power_of_two",
    "_elementwise_max",
    "_elementwise_min",
    "_sum_combine",
    "_prod_combine",
    "_xor_combine",
    "_or_combine",
    "_argmax_combine_tie_break_left",
    "_argmax_combine_tie_break_fast",
    "_argmin_combine_tie_break_left",
    "_argmin_combine_tie_break_fast",
};

static constexpr StringRef tritonNames[] = {
    "jit",
    "autotune",
    "heuristics",
    "Config",
    "cdiv",
    "next_power_of_2",
    "constexpr_function",
    "must_use_result",
    "aggregate",
    "reinterpret",
    "TensorWrapper",
    "MockTensor",
    "compile",
    "set_allocator",
    "knobs",
    "JITFunction",
    "KernelInterface",
    "OutOfResources",
    "TritonError",
    "CompilationError",
    "InterpreterError",
    "AsyncCompileMode",
    "FutureKernel",
    "Autotuner",
};

/// Dotted names as imported, and the canonical module each one is.
static constexpr std::pair<StringRef, StringRef> moduleNames[] = {
    {"triton", "triton"},
    {"triton.runtime.jit", "triton"},
    {"triton.runtime.autotuner", "triton"},
    {"triton.runtime", "triton.runtime"},
    {"triton.runtime.driver", "triton.runtime.driver"},
    {"triton.backends", "triton.backends"},
    {"triton.testing", "triton.testing"},
    {"triton.profiler", "triton.profiler"},
    {"triton.profiler.language", "tl.profiler"},
    {"triton.tools", "triton.tools"},
    {"triton.tools.tensor_descriptor", "triton.tools"},
    {"triton.compiler", "triton.compiler"},
    {"triton.language", "tl"},
    {"triton.language.core", "tl"},
    {"triton.language.standard", "tl"},
    {"triton.language.random", "tl"},
    {"triton.language.math", "tl.math"},
    {"triton.language.target_info", "tl"},
    {"triton.language.extra", "tl.extra"},
    {"triton.language.extra.libdevice", "libdevice"},
    {"triton.language.extra.cuda", "tl.extra.cuda"},
    {"triton.language.extra.hip", "tl.extra.hip"},
    {"triton.language.extra.hip.libdevice", "libdevice"},
    {"triton.language.extra.cuda.libdevice", "libdevice"},
    {"triton.language.extra.cuda.utils", "tl.extra.cuda"},
    {"triton.language.extra.cuda.gdc", "tl.extra.cuda"},
    {"math", "math"},
    {"tile", "tile"},
    {"typing", "typing"},
    {"collections", "collections"},
    {"itertools", "itertools"},
    {"functools", "functools"},
};

static Result noMember(StringRef module, StringRef name, std::vector<StringRef> candidates) {
  std::string message = formatted("module `{}` has no member `{}`", module, name);
  StringRef near = frontend::nearestName(name, candidates);
  StringRef known = module.starts_with("triton.language") ? inKernels(name) : "";
  if (!known.empty())
    message += formatted("; {}", known);
  else if (!near.empty())
    message += formatted("; did you mean `{}`?", near);
  return fail(message, "AttributeError");
}

/// The part of a module's dotted name that a member adds, if it is a module.
static std::optional<PyValue> submodule(StringRef canonical, StringRef name) {
  for (auto &[dotted, target] : moduleNames) {
    auto [parent, last] = dotted.rsplit('.');
    if (last != name || dotted == parent)
      continue;
    for (auto &[parentDotted, parentTarget] : moduleNames)
      if (parentDotted == parent && parentTarget == canonical)
        return PyValue::module(target.str());
  }
  return std::nullopt;
}

static Result languageMember(StringRef module, StringRef name) {
  if (std::optional<DType> type = DType::parse(name); type && type->name() == name)
    return PyValue::dtype(*type);
  if (name == "pi32_t")
    return PyValue::dtype(DType::pointer(DType::Kind::Int32));
  if (name == "TRITON_MAX_TENSOR_NUMEL")
    return PyValue::integer(1048576);
  if (name == "aggregate" || name == "_aggregate")
    return PyValue::symbol("triton.aggregate");
  if (llvm::is_contained(languageNames, name))
    return PyValue::symbol("tl." + name.str());
  std::vector<StringRef> candidates(std::begin(languageNames), std::end(languageNames));
  for (StringRef type :
       {"float16", "float32", "float64", "bfloat16", "int1", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "float8e5", "float8e4nv", "float8e4b15", "void"})
    candidates.push_back(type);
  return noMember(module, name, candidates);
}

static Result mathMember(StringRef name) {
  double value = llvm::StringSwitch<double>(name)
                     .Case("pi", std::numbers::pi)
                     .Case("e", std::numbers::e)
                     .Case("tau", 2 * std::numbers::pi)
                     .Case("inf", HUGE_VAL)
                     .Default(0);
  if (value != 0)
    return PyValue::number(value);
  if (name == "nan")
    return PyValue::number(std::nan(""));
  std::vector<StringRef> names = mathNames();
  if (llvm::is_contained(names, name))
    return PyValue::symbol("math." + name.str());
  return noMember("math", name, names);
}

/// Numbers that NumPy's and PyTorch's modules have, too.
static bool isConstant(StringRef name) {
  return name == "pi" || name == "e" || name == "inf" || name == "nan";
}

/// Modules of other libraries whose functions are `tile.NAME`.
static bool isModuleOfFunctions(StringRef symbol) {
  return symbol == "tile.nn" || symbol == "tile.nn.functional" || symbol == "tile.linalg" ||
         symbol == "tile.special";
}

namespace tile::eval {

std::string canonicalModule(StringRef dottedName) {
  for (auto &[dotted, canonical] : moduleNames)
    if (dotted == dottedName)
      return canonical.str();
  return isHostModule(dottedName) ? dottedName.str() : "";
}

Result moduleMember(StringRef module, StringRef name) {
  if (std::optional<PyValue> part = submodule(module, name))
    return *part;
  if (module == "tl" || module == "tl.math")
    return languageMember(module == "tl" ? "triton.language" : "triton.language.math", name);
  if (module == "math" || (module == "tile" && isConstant(name)))
    return mathMember(name);
  if (module == "triton") {
    if (name == "__version__")
      return PyValue::string("3.7.0");
    if (llvm::is_contained(tritonNames, name))
      return PyValue::symbol("triton." + name.str());
    return noMember(module, name, std::vector(std::begin(tritonNames), std::end(tritonNames)));
  }
  if (isHostModule(module))
    return hostMember(module, name);
  // The rest is open: whoever gives a member its meaning says whether it has one.
  return PyValue::symbol((module + "." + name).str());
}

/// Members of the class `tl.dtype`; those of its enumerations are what types answer.
static std::optional<PyValue> dtypeClassMember(StringRef symbol, StringRef name) {
  auto names = [](llvm::ArrayRef<DType::Kind> kinds) {
    std::vector<PyValue> elements;
    for (DType::Kind kind : kinds)
      elements.push_back(PyValue::string(str(PyValue::dtype(DType(kind)))));
    return PyValue::tuple(std::move(elements));
  };
  using K = DType::Kind;
  if (symbol == "tl.dtype" && (name == "KIND" || name == "SIGNEDNESS"))
    return PyValue::symbol((symbol + "." + name).str());
  if (symbol == "tl.dtype" && name == "SINT_TYPES")
    return names({K::Int8, K::Int16, K::Int32, K::Int64});
  if (symbol == "tl.dtype" && name == "UINT_TYPES")
    return names({K::Int1, K::UInt8, K::UInt16, K::UInt32, K::UInt64});
  if (symbol == "tl.dtype" && name == "STANDARD_FP_TYPES")
    return names({K::Float16, K::BFloat16, K::Float32, K::Float64});
  if (symbol == "tl.dtype" && name == "FP_TYPES")
    return names({K::Float8E4B15, K::Float8E4NV, K::Float8E4B8, K::Float8E5, K::Float8E5B16,
                  K::Float16, K::BFloat16, K::Float32, K::Float64});
  if (symbol == "tl.dtype.SIGNEDNESS" && (name == "SIGNED" || name == "UNSIGNED"))
    return PyValue::string(name.lower());
  int kind = llvm::StringSwitch<int>(symbol == "tl.dtype.KIND" ? name : "")
                 .Case("BOOLEAN", 0)
                 .Case("INTEGRAL", 1)
                 .Case("FLOATING", 2)
                 .Default(-1);
  return kind < 0 ? std::nullopt : std::optional(PyValue::integer(kind));
}

Result symbolAttribute(StringRef symbol, StringRef name) {
  if (std::optional<PyValue> member = dtypeClassMember(symbol, name))
    return *member;
  if (symbol == "tl.PropagateNan" && (name == "NONE" || name == "ALL"))
    return PyValue::symbol((symbol + "." + name).str());
  if (name == "__name__")
    return PyValue::string(symbol.rsplit('.').second.empty() ? symbol.str()
                                                             : symbol.rsplit('.').second.str());
  if (isModuleOfFunctions(symbol)) {
    bool isModule = symbol == "tile.nn" && name == "functional";
    return PyValue::symbol(isModule ? "tile.nn.functional" : "tile." + name.str());
  }
  if (symbol.starts_with("typing.") || symbol.starts_with("triton."))
    return PyValue::symbol((symbol + "." + name).str());
  return fail(formatted("builtin `{}` has no attribute `{}`", symbol, name), "AttributeError");
}

} // namespace tile::eval
