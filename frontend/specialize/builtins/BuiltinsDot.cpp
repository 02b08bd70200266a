//===- BuiltinsDot.cpp - matrix products ----------------------------------===//
//
// The typing rules of `tl.dot`: which operand types multiply, what they are
// accumulated in, how shapes and batches must agree. Any size is taken; small
// ones are padded where instructions are chosen.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Builtins.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

namespace {
/// The arguments of one call, checked step by step. Each step returns false
/// after a report.
struct Dot {
  enum Argument { A, B, Acc, Precision, AllowTf32, Imprecise, OutType };

  explicit Dot(BuiltinCall &c) : c(c) {}

  BuiltinCall &c;
  Tensor a, b, acc;
  DType accType;
  InputPrecision precision = InputPrecision::ieee;
  int64_t imprecise = 0;
  SmallVector<int64_t> shape; ///< of the result

  bool fail(std::string message) {
    c.fail(std::move(message));
    return false;
  }
  bool readOperands();
  bool checkShapes();
  bool chooseAccumulator();
  bool readPrecision();
  bool readImprecise();
  Tensor flattened(const Tensor &x);
  PyValue build();
};
} // namespace

static std::string described(const Tensor &x) { return describe(x.type, x.shape()); }

bool Dot::readOperands() {
  a = c.tensor(A);
  b = c.tensor(B);
  if (!a || !b)
    return false;
  auto isOperand = [](const DType &t) { return t.isFloating() || t.kind() == Kind::Int8; };
  if (!a.isBlock() || !b.isBlock())
    return fail(
        formatted("both operands must be blocks, got {} and {}", described(a), described(b)));
  for (const Tensor *x : {&a, &b})
    if (!isOperand(x->type))
      return fail(formatted(
          "operands must be int8, fp8, fp16, bf16, fp32 or fp64, got {} and {}; cast with `.to()`",
          described(a), described(b)));
  if (a.type != b.type && !(a.type.isFp8() && b.type.isFp8()))
    return fail(formatted(
        "both operands must have one type (or be fp8), got {} and {}; cast one with `.to()`",
        described(a), described(b)));
  return true;
}

bool Dot::checkShapes() {
  int64_t rank = a.rank();
  if (rank < 2 || b.rank() < 2)
    return fail(formatted("operands must have at least two dimensions, got {} and {}; add one with "
                          "`x[None, :]` or `x[:, None]`",
                          described(a), described(b)));
  if (rank != b.rank())
    return fail(formatted("operands must have the same number of dimensions, got {} and {}",
                          described(a), described(b)));
  ArrayRef<int64_t> x = a.shape(), y = b.shape();
  if (x.drop_back(2) != y.drop_back(2))
    return fail(formatted("the batch dimensions differ: {} and {}", described(a), described(b)));
  if (x[rank - 1] != y[rank - 2])
    return fail(formatted("the inner dimensions differ: {} has {} columns, {} has {} rows",
                          described(a), x[rank - 1], described(b), y[rank - 2]));
  shape.assign(x.begin(), x.end());
  shape[rank - 1] = y[rank - 1];
  std::string problem;
  return checkShape(shape, problem) || fail(problem);
}

bool Dot::chooseAccumulator() {
  bool choice = a.type.isFp8() || a.type.kind() == Kind::Float16;
  accType = a.type.kind() == Kind::Int8      ? DType(Kind::Int32)
            : a.type.kind() == Kind::Float64 ? DType(Kind::Float64)
                                             : DType(Kind::Float32);
  bool given = c.has(Acc);
  if (given) {
    if (!tensorIn(c[Acc]))
      return fail(formatted("`acc` must be a block, got {}", describe(c[Acc])));
    acc = *tensorIn(c[Acc]);
    if (choice && acc.type.kind() == Kind::Float16)
      accType = Kind::Float16;
  }
  if (c.has(OutType)) {
    std::optional<DType> out = c.dtype(OutType);
    if (!out)
      return false;
    if (out->kind() == Kind::BFloat16)
      return fail("`out_dtype` cannot be bf16: accumulate in fp32 and cast the result with "
                  "`.to(tl.bfloat16)`");
    bool legal = *out == accType ||
                 (choice && (out->kind() == Kind::Float16 || out->kind() == Kind::Float32));
    // Products of int8 are int32, as in the reference, whatever integers are asked for; and
    // fp32 is the documented default: it says nothing where there is no choice.
    bool isNarrower = a.type.kind() == Kind::Int8 && out->kind() == Kind::Int8;
    // Sums of fp32 and bf16 are fp32 there, too, if fp64 is asked for: who asks has sums of fp64 of
    // several products.
    bool isWider = !choice && accType.kind() == Kind::Float32 && out->kind() == Kind::Float64;
    if (!legal && !isNarrower && !isWider && out->kind() != Kind::Float32)
      return fail(formatted("products of {} are accumulated in {}, not in `out_dtype` {}: cast the "
                            "result with `.to()`",
                            a.type.str(), accType.str(), out->str()));
    if (legal)
      accType = *out;
  }
  if (!given)
    return true;
  if (!acc.isBlock() || acc.shape() != ArrayRef<int64_t>(shape) || acc.type != accType)
    return fail(formatted("`acc` must be {}, the product of {} and {}; got {}",
                          describe(accType, shape), described(a), described(b), described(acc)));
  return true;
}

bool Dot::readPrecision() {
  auto name = c.string(Precision);
  if (!name)
    return false;
  if (!name->empty() && c.has(AllowTf32))
    return fail("`allow_tf32` is the old name of `input_precision`: give one of them");
  if (name->empty())
    name = c.flag(AllowTf32, true) ? "tf32" : "ieee";
  std::optional<InputPrecision> found = symbolizeInputPrecision(StringRef(*name).lower());
  if (!found)
    return fail(formatted("`input_precision` must be one of \"tf32\", \"tf32x3\", \"ieee\", "
                          "\"bf16x3\", \"bf16x6\", got \"{}\"",
                          *name));
  if (a.type.kind() == Kind::Float32) // the only operands that it concerns
    precision = *found;
  return true;
}

bool Dot::readImprecise() {
  auto bound = c.integerOr(Imprecise, 0);
  if (!bound)
    return false;
  if (!a.type.isFp8())
    return true;
  int64_t depth = a.shape().back();
  if (*bound < 0 || *bound > depth)
    return fail(
        formatted("`max_num_imprecise_acc` ({}) must be between 0 and the inner dimension ({})",
                  *bound, depth));
  imprecise = *bound;
  return true;
}

/// Leading dimensions merged into one batch dimension.
Tensor Dot::flattened(const Tensor &x) {
  if (x.rank() <= 3)
    return x;
  ArrayRef<int64_t> dims = x.shape();
  int64_t batch = 1;
  for (int64_t size : dims.drop_back(2))
    batch *= size;
  return c.s.reshape(x, {batch, dims[dims.size() - 2], dims.back()});
}

PyValue Dot::build() {
  if (!acc)
    acc = c.s.constant(PyValue::integer(0), accType, shape);
  Tensor x = flattened(a), y = flattened(b), z = flattened(acc);
  Tensor result{c.s.create<DotOp>(x.value, y.value, z.value, precision, uint32_t(imprecise)),
                accType};
  return c.s.wrap(c.s.reshape(result, shape));
}

static PyValue dot(BuiltinCall &c) {
  Dot d(c);
  if (!d.readOperands() || !d.checkShapes() || !d.chooseAccumulator() || !d.readPrecision() ||
      !d.readImprecise())
    return PoisonValue::get();
  return d.build();
}

void addDotBuiltins(BuiltinTable &t) {
  t.add(
      "tl.dot",
      "input, other, acc=, input_precision=, allow_tf32=, max_num_imprecise_acc=, out_dtype=", dot);
}

} // namespace tile::specialize
