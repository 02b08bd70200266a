//===- BuiltinsForeign.cpp - inline PTX, functions of other libraries -----===//
//
// What runs on every element code that is not of this language, and what other programs' kernels
// say to hardware and profilers.
//
//===----------------------------------------------------------------------===//
#include "frontend/Counted.h"
#include "frontend/specialize/builtins/ElementOperands.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Inline PTX
//===----------------------------------------------------------------------===//

/// One dtype or a tuple of them.
static bool resultTypes(BuiltinCall &c, unsigned i, SmallVectorImpl<DType> &types) {
  for (const PyValue &value : c[i].isSequence() ? c[i].elements() : ArrayRef(c[i])) {
    if (!value.is(PyValue::Kind::DType) || value.asDType().isVoid()) {
      c.fail(formatted("{} must be a type or a tuple of types, got {}", c.parameter(i),
                       describe(c[i])));
      return false;
    }
    std::string reason;
    types.push_back(value.asDType().scalar());
    if (!supportedOn(types.back(), c.s.target, reason)) {
      c.fail(reason);
      return false;
    }
  }
  if (types.empty())
    c.fail(formatted("{} is empty", c.parameter(i)));
  return !types.empty();
}

/// Other processors have other classes of registers, and assembly of theirs.
static bool checkRegisterClasses(BuiltinCall &c, StringRef constraints) {
  SmallVector<StringRef> parts;
  constraints.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    StringRef name = part.trim();
    if (name.starts_with("~"))
      continue;
    name = name.ltrim("=&+");
    bool tied = !name.empty() && llvm::all_of(name, llvm::isDigit);
    if (tied || (name.size() == 1 && StringRef("bchrlqfdni").contains(name)))
      continue;
    c.fail(formatted("the constraint \"{}\" is none of PTX: use \"h\" (16 bits), \"r\" (32), \"l\" "
                     "(64), \"f\" (fp32), \"d\" (fp64)",
                     part.trim()));
    return false;
  }
  return true;
}

/// The list as LLVM reads it, which takes a list that it cannot read for an
/// empty one; or nothing after an error.
static std::optional<llvm::InlineAsm::ConstraintInfoVector>
parseConstraints(BuiltinCall &c, StringRef constraints) {
  auto parsed = llvm::InlineAsm::ParseConstraints(constraints);
  auto isResult = [](const auto &info) { return info.Type == llvm::InlineAsm::isOutput; };
  if (!parsed.empty() && std::is_partitioned(parsed.begin(), parsed.end(), isResult))
    return parsed;
  c.fail(formatted("the constraints \"{}\" cannot be read: the results (\"=r\") come first, then "
                   "the operands (\"r\", or the number of the result whose register they share), "
                   "then what is overwritten (\"~{{memory}}\")",
                   constraints));
  return std::nullopt;
}

/// Every `$` of the text names one of the registers (`$1`, `${1}`, `${1:r}`),
/// makes a label unique (`${:uid}`), or stands for itself (`$$`).
static bool checkPlaceholders(BuiltinCall &c, StringRef text, unsigned registers) {
  for (StringRef rest = text.substr(text.find('$')); !rest.empty();
       rest = rest.substr(rest.find('$'))) {
    StringRef start = rest;
    rest = rest.drop_front();
    if (rest.consume_front("$") || rest.consume_front("{:uid}"))
      continue;
    bool braces = rest.consume_front("{");
    unsigned index;
    bool valid = !rest.consumeInteger(10, index) && index < registers;
    if (valid && braces) // a modifier: registers know `r`, constants `c` and `n`
      valid = rest.consume_front("}") || rest.consume_front(":r}") || rest.consume_front(":c}") ||
              rest.consume_front(":n}");
    if (valid)
      continue;
    c.fail(formatted("cannot read `{}` in the text: {}, and `$$` is the sign itself",
                     start.take_until([](char x) { return StringRef(" \t\n,;").contains(x); }),
                     registers == 1 ? std::string("the register is `$0`")
                                    : formatted("the registers are `$0` to `${}`", registers - 1)));
    return false;
  }
  return true;
}

/// As many register constraints as the packed operands and results need.
static bool checkConstraints(BuiltinCall &c, StringRef constraints, ArrayRef<Tensor> inputs,
                             ArrayRef<DType> results, unsigned pack) {
  auto registers = [&](const DType &type) {
    unsigned perRegister = std::max(1u, 32 / std::max(8u, type.bitWidth()));
    return std::max(1u, pack / perRegister);
  };
  unsigned outputs = 0, operands = 0, expectedOutputs = 0, expectedOperands = 0;
  SmallVector<StringRef> parts;
  constraints.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    outputs += part.starts_with("=");
    operands += !part.starts_with("=") && !part.starts_with("~");
  }
  for (const DType &type : results)
    expectedOutputs += registers(type);
  for (const Tensor &t : inputs)
    expectedOperands += registers(t.type);
  if (outputs == expectedOutputs && operands == expectedOperands)
    return true;
  c.fail(formatted(
      "the constraints \"{}\" name {} and {}, but {} and {} registers are needed for {} at a time",
      constraints, counted(outputs, "result"), counted(operands, "operand"), expectedOutputs,
      expectedOperands, counted(pack, "element")));
  return false;
}

static PyValue emitAsm(BuiltinCall &c, StringRef text, StringRef constraints,
                       ArrayRef<Tensor> inputs, ArrayRef<DType> results, bool pure, unsigned pack,
                       bool single) {
  Specializer &s = c.s;
  if (!pure && !inputs.empty() &&
      !llvm::all_of(inputs.front().shape(), [](int64_t n) { return llvm::isPowerOf2_64(n); })) {
    s.unsupported(formatted("`tl.inline_asm_elementwise`: text with effects (`is_pure=False`) runs "
                            "on blocks whose dimensions are powers of two only, got {}; if the "
                            "text only computes its results, say `is_pure=True`",
                            describeShape(inputs.front().shape())));
    return PoisonValue::get();
  }
  SmallVector<Value> operands;
  for (const Tensor &t : inputs)
    operands.push_back(t.value);
  SmallVector<Type> types;
  for (const DType &type : results)
    types.push_back(s.irType(type, inputs.empty() ? ArrayRef<int64_t>() : inputs.front().shape()));
  auto op = InlineAsmOp::create(s.builder, s.loc(), types, text, constraints, operands, pack, pure);
  return oneOrTuple(c, single, op.getResults(), results);
}

static PyValue inlineAsm(BuiltinCall &c) {
  enum { Text, Constraints, Args, Types, Pure, Pack };
  auto text = c.string(Text), constraints = c.string(Constraints);
  auto pack = packOf(c, Pack);
  SmallVector<DType> types;
  SmallVector<Tensor> inputs;
  if (!text || !constraints || !pack || !resultTypes(c, Types, types) ||
      !elementOperands(c, c[Args].elements(), inputs))
    return PoisonValue::get();
  if (!checkRegisterClasses(c, *constraints) ||
      !checkConstraints(c, *constraints, inputs, types, *pack))
    return PoisonValue::get();
  auto parsed = parseConstraints(c, *constraints);
  if (!parsed || !checkPlaceholders(c, *text, llvm::count_if(*parsed, [](const auto &info) {
                                      return info.Type != llvm::InlineAsm::isClobber;
                                    })))
    return PoisonValue::get();
  return emitAsm(c, *text, *constraints, inputs, types, c.flag(Pure), *pack,
                 !c[Types].isSequence());
}

/// A special register as a scalar.
static PyValue specialRegister(BuiltinCall &c, StringRef name, const DType &type, bool pure) {
  bool wide = type.bitWidth() == 64;
  std::string text = formatted("mov.u{} $0, %{};", wide ? 64 : 32, name);
  return emitAsm(c, text, wide ? "=l" : "=r", {}, type, pure, 1, /*single=*/true);
}
static PyValue globalTimer(BuiltinCall &c) {
  return specialRegister(c, "globaltimer", Kind::Int64, /*pure=*/false);
}
static PyValue multiprocessor(BuiltinCall &c) {
  return specialRegister(c, "smid", Kind::Int32, /*pure=*/true);
}

//===----------------------------------------------------------------------===//
// Functions of other libraries
//===----------------------------------------------------------------------===//

/// Our own function for a symbol of NVIDIA's device library, or null. The
/// symbols of one function differ in letters for the type, before or behind:
/// `__nv_sinf`, `__nv_popcll`, `__nv_fadd_rn`, `__nv_fmaf_rn`.
static const Builtin *deviceFunction(StringRef symbol) {
  if (!symbol.consume_front("__nv_"))
    return nullptr;
  auto find = [](StringRef name) { return BuiltinTable::get().find(("libdevice." + name).str()); };
  if (const Builtin *found = find(symbol))
    return found;
  if (symbol.starts_with("powi"))
    return find("pow");
  auto [stem, mode] = symbol.rsplit('_');
  bool isRounded = !mode.empty() && stem != symbol;
  for (StringRef prefix : {"", "f", "d", "u", "ll", "ull"})
    for (StringRef suffix : {"", "f", "d", "l", "ll"}) {
      StringRef base = isRounded ? stem : symbol;
      if (base.consume_front(prefix) && base.consume_back(suffix))
        if (const Builtin *found = find(isRounded ? (base + "_" + mode).str() : base.str()))
          return found;
    }
  return nullptr;
}

static PyValue externElementwise(BuiltinCall &c) {
  enum { Name, Path, Args, Symbols, Pure };
  auto path = c.string(Path);
  SmallVector<Tensor> inputs;
  if (!path || !elementOperands(c, c[Args].elements(), inputs))
    return PoisonValue::get();
  if (!c[Symbols].is(PyValue::Kind::Dict))
    return c.fail(
        formatted("{} must be a dict, got {}", c.parameter(Symbols), describe(c[Symbols])));
  std::vector<PyValue> key;
  std::string types;
  for (const Tensor &t : inputs) {
    key.push_back(PyValue::dtype(t.type));
    types += (types.empty() ? "" : ", ") + t.type.str();
  }
  const PyValue *entry = c[Symbols].asDict().find(PyValue::tuple(key));
  if (!entry)
    return c.fail(formatted("there is no function for arguments of types ({})", types));
  ArrayRef<PyValue> parts = entry->elements();
  if (parts.size() != 2 || !parts[0].isStr() || !parts[1].is(PyValue::Kind::DType))
    return c.fail(formatted("the entry for ({}) must be a pair of a symbol and a type", types));
  const std::string &symbol = parts[0].asStr();
  DType result = parts[1].asDType();
  Specializer &s = c.s;
  if (const Builtin *known = deviceFunction(symbol)) {
    eval::CallArgs args;
    for (const Tensor &t : inputs)
      args.positional.push_back(s.wrap(t));
    PyValue value = callBuiltin(s, *known, args);
    const Tensor *t = tensorIn(value);
    return t ? s.wrap(s.cast(*t, result)) : value;
  }
  if (path->empty()) {
    s.unsupported(formatted("the function `{}` is not in the device library: give the path of a "
                            "bitcode file that has it",
                            symbol));
    return PoisonValue::get();
  }
  SmallVector<Value> operands;
  for (const Tensor &t : inputs)
    operands.push_back(t.value);
  ArrayRef<int64_t> shape = inputs.empty() ? ArrayRef<int64_t>() : inputs.front().shape();
  return s.wrap({s.create<ExternElementwiseOp>(s.irType(result, shape), symbol, *path, operands,
                                               c.flag(Pure)),
                 result});
}

/// A dependent launch waits before its first access and lets others start at
/// once, on its own.
static PyValue alreadyDone(BuiltinCall &) { return PyValue::none(); }

/// Marks for a profiler that reads them from its own instrumented kernels.
static PyValue markScope(BuiltinCall &call) {
  (void)call.string(0);
  return PyValue::none();
}

void addForeignBuiltins(BuiltinTable &t) {
  t.add("tl.inline_asm_elementwise", "asm, constraints, args, dtype, is_pure, pack", inlineAsm);
  t.add("tl.extern_elementwise", "lib_name, lib_path, args, arg_type_symbol_dict, is_pure",
        externElementwise);
  t.add("tl.extra.cuda.globaltimer", "", globalTimer);
  t.add("tl.extra.cuda.smid", "", multiprocessor);
  for (const char *name :
       {"tl.profiler.scope", "tl.profiler.enter_scope", "tl.profiler.exit_scope"})
    t.add(name, "name", markScope);
  t.add("tl.extra.cuda.gdc_wait", "", alreadyDone);
  t.add("tl.extra.cuda.gdc_launch_dependents", "", alreadyDone);
}

} // namespace tile::specialize
