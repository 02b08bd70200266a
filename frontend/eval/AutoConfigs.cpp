//===- AutoConfigs.cpp - `configs="auto"` of `@triton.autotune` -----------===//
#include "frontend/eval/AutoConfigs.h"
#include "frontend/eval/Annotations.h"
#include "frontend/eval/Methods.h"
#include "target/Target.h"
#include "target/WarpRoles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// What a kernel does with its constexprs
//===----------------------------------------------------------------------===//

namespace {
struct Uses {
  bool isLength = false; ///< of a block
  bool isStride = false; ///< of programs: `tl.program_id(0) * BLOCK`, `tl.cdiv(n, BLOCK)`
  bool isStep = false;   ///< of a loop: `range(0, K, BLOCK)`, `range(tl.cdiv(K, BLOCK))`
};

class UseReader {
public:
  void read(const ast::Body &body);
  llvm::StringMap<Uses> uses;
  bool hasDot = false;

private:
  void read(const ast::Stmt &statement);
  void read(const ast::Expr *expr);
  void readCall(const ast::Call &call);
  /// Marks a name that stands there alone.
  void mark(const ast::Expr *expr, bool Uses::*use) {
    if (auto *name = llvm::dyn_cast_or_null<ast::Name>(expr))
      uses[name->id].*use = true;
  }
  bool inRange = false; ///< in what a loop runs over
};
} // namespace

/// "arange" of `tl.arange`.
static StringRef lastName(const ast::Expr &callee) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&callee))
    return name->id;
  auto *member = llvm::dyn_cast<ast::Attribute>(&callee);
  return member ? StringRef(member->name) : "";
}

void UseReader::readCall(const ast::Call &call) {
  StringRef name = lastName(*call.callee);
  hasDot |= name == "dot" || name == "dot_scaled";
  if (name == "arange" && call.args.size() > 1)
    mark(call.args[1].get(), &Uses::isLength);
  if (name == "cdiv" && call.args.size() > 1)
    mark(call.args[1].get(), inRange ? &Uses::isStep : &Uses::isStride);
  bool isShaped = name == "zeros" || name == "full" || name == "make_block_ptr" ||
                  name == "make_tensor_descriptor";
  auto readArgument = [&](const ast::Expr *argument) {
    if (auto *shape = llvm::dyn_cast_or_null<ast::Sequence>(argument); shape && isShaped)
      for (const ast::ExprPtr &size : shape->elements)
        mark(size.get(), &Uses::isLength);
    read(argument);
  };
  bool outer = std::exchange(inRange, inRange || name == "range" || name == "static_range");
  if (inRange && !outer && call.args.size() > 2)
    mark(call.args[2].get(), &Uses::isStep);
  for (const ast::ExprPtr &argument : call.args)
    readArgument(argument.get());
  for (const ast::Keyword &keyword : call.keywords)
    readArgument(keyword.value.get());
  inRange = outer;
  read(call.callee.get());
}

void UseReader::read(const ast::Expr *expr) {
  if (!expr)
    return;
  if (auto *call = llvm::dyn_cast<ast::Call>(expr))
    return readCall(*call);
  if (auto *binary = llvm::dyn_cast<ast::Binary>(expr)) {
    if (binary->op == ast::BinaryOp::Mul)
      for (const ast::Expr *side : {binary->lhs.get(), binary->rhs.get()})
        mark(side, inRange ? &Uses::isStep : &Uses::isStride);
    read(binary->lhs.get());
    return read(binary->rhs.get());
  }
  if (auto *sequence = llvm::dyn_cast<ast::Sequence>(expr)) {
    for (const ast::ExprPtr &element : sequence->elements)
      read(element.get());
  } else if (auto *unary = llvm::dyn_cast<ast::Unary>(expr)) {
    read(unary->operand.get());
  } else if (auto *logic = llvm::dyn_cast<ast::BoolOp>(expr)) {
    for (const ast::ExprPtr &value : logic->values)
      read(value.get());
  } else if (auto *compare = llvm::dyn_cast<ast::Compare>(expr)) {
    read(compare->first.get());
    for (const ast::ExprPtr &value : compare->rest)
      read(value.get());
  } else if (auto *choice = llvm::dyn_cast<ast::Conditional>(expr)) {
    for (auto *part : {&choice->condition, &choice->then, &choice->otherwise})
      read(part->get());
  } else if (auto *member = llvm::dyn_cast<ast::Attribute>(expr)) {
    read(member->value.get());
  } else if (auto *subscript = llvm::dyn_cast<ast::Subscript>(expr)) {
    read(subscript->value.get());
    read(subscript->index.get());
  } else if (auto *named = llvm::dyn_cast<ast::NamedExpr>(expr)) {
    read(named->value.get());
  }
}

void UseReader::read(const ast::Stmt &statement) {
  if (auto *plain = llvm::dyn_cast<ast::ExprStmt>(&statement)) {
    read(plain->value.get());
  } else if (auto *assign = llvm::dyn_cast<ast::Assign>(&statement)) {
    read(assign->value.get());
  } else if (auto *typed = llvm::dyn_cast<ast::AnnAssign>(&statement)) {
    read(typed->value.get());
  } else if (auto *add = llvm::dyn_cast<ast::AugAssign>(&statement)) {
    if (add->op == ast::BinaryOp::Add) // `k += BLOCK` of a `while`
      mark(add->value.get(), &Uses::isStep);
    read(add->value.get());
  } else if (auto *back = llvm::dyn_cast<ast::Return>(&statement)) {
    read(back->value.get());
  } else if (auto *branch = llvm::dyn_cast<ast::If>(&statement)) {
    read(branch->condition.get());
    read(branch->then);
    read(branch->otherwise);
  } else if (auto *loop = llvm::dyn_cast<ast::For>(&statement)) {
    read(loop->iterable.get());
    read(loop->body);
  } else if (auto *loop = llvm::dyn_cast<ast::While>(&statement)) {
    read(loop->condition.get());
    read(loop->body);
  }
}

void UseReader::read(const ast::Body &body) {
  for (const ast::StmtPtr &statement : body)
    read(*statement);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
struct Candidate {
  std::vector<int> sizes; ///< those of programs, then those of loops
  int warps, stages = kDefaultStages;
};
} // namespace

/// Products of M x N x K; attention and its like, with one size of each kind; all other kernels by
/// how many sizes they have. Only usual ones: the cost model says which suits a launch.
static std::vector<Candidate> usual(unsigned strides, unsigned steps, bool hasDot) {
  if (hasDot && strides == 2 && steps == 1)
    return {{{64, 64, 32}, 4, 4},   {{128, 128, 64}, 8, 3}, {{128, 256, 64}, 8, 3},
            {{256, 128, 64}, 8, 3}, {{128, 128, 32}, 4, 4}, {{128, 64, 64}, 4, 4},
            {{64, 128, 64}, 4, 4},  {{64, 256, 64}, 4, 3},  {{64, 64, 64}, 4, 4},
            {{32, 64, 64}, 4, 4},   {{64, 32, 64}, 4, 4},   {{16, 128, 128}, 4, 3},
            {{16, 64, 128}, 4, 4},  {{32, 32, 64}, 2, 5}};
  if (hasDot && strides == 1 && steps == 1)
    return {{{64, 64}, 4, 3},  {{128, 64}, 4, 3}, {{128, 64}, 8, 3}, {{128, 128}, 8, 2},
            {{64, 128}, 4, 2}, {{64, 32}, 4, 4},  {{32, 64}, 4, 3},  {{16, 128}, 4, 3}};
  if (hasDot && strides == 2)
    return {{{64, 64}, 4}, {{128, 128}, 8}, {{128, 64}, 4}, {{64, 128}, 4}, {{32, 32}, 4}};
  if (strides + steps == 0)
    return {{{}, 4}, {{}, 8}, {{}, 2}, {{}, 1}, {{}, 16}};
  if (strides + steps == 1)
    return {{{1024}, 4}, {{256}, 4},  {{512}, 4},  {{1024}, 8},
            {{2048}, 8}, {{2048}, 4}, {{4096}, 8}, {{8192}, 16}};
  if (strides + steps == 2)
    return {{{32, 64}, 4}, {{64, 64}, 4}, {{64, 64}, 8},  {{32, 32}, 4},  {{16, 128}, 4},
            {{8, 256}, 4}, {{4, 512}, 4}, {{128, 32}, 4}, {{1, 1024}, 4}, {{128, 128}, 8}};
  std::vector<Candidate> all;
  for (int size : {32, 16, 64})
    for (int warps : {4, 8})
      all.push_back({std::vector<int>(strides + steps, size), warps});
  return all;
}

/// Whether the operands and sums of a product have a place on the chip, with operands of 16 bits;
/// with fewer stages if that helps.
static bool fits(Candidate &candidate, const Target &target) {
  if (!target.has(Feature::CpAsync))
    candidate.stages = std::min(candidate.stages, 2);
  if (candidate.sizes.size() != 3)
    return true;
  int64_t m = candidate.sizes[0], n = candidate.sizes[1], k = candidate.sizes[2];
  auto bytes = [&] { return 2 * (m + n) * k * candidate.stages; };
  while (candidate.stages > 2 && bytes() > target.maxSharedBytes)
    --candidate.stages;
  // A third of the registers are for addresses and operands. Instructions of a warp read
  // operands through them.
  int64_t sums = m * n / (int64_t(kLanes) * candidate.warps);
  return bytes() <= target.maxSharedBytes && sums <= (target.has(Feature::Wgmma) ? 160 : 128);
}

std::vector<PyValue> eval::autoConfigs(Evaluator &evaluator, const FunctionObject &kernel,
                                       llvm::function_ref<bool(StringRef)> isGiven) {
  UseReader reader;
  reader.read(kernel.def->body);
  std::vector<std::string> strides, steps;
  for (size_t i = 0; i < kernel.params().size(); ++i) {
    const ast::Parameter &parameter = kernel.params()[i];
    auto use = reader.uses.find(parameter.name);
    if (use == reader.uses.end() || !use->second.isLength || parameter.defaultValue ||
        isGiven(parameter.name) || !annotationOf(evaluator, kernel, i).isConstexpr)
      continue;
    if (use->second.isStep)
      steps.push_back(parameter.name);
    else if (use->second.isStride)
      strides.push_back(parameter.name);
  }
  const Target &target = targetNamed(targetNameOf(evaluator.capability));
  std::vector<PyValue> configs;
  for (Candidate &candidate :
       usual(unsigned(strides.size()), unsigned(steps.size()), reader.hasDot)) {
    if (!fits(candidate, target))
      continue;
    PyValue sizes = PyValue::dict({});
    std::vector<std::string> names = strides;
    llvm::append_range(names, steps);
    for (auto [name, size] : llvm::zip(names, candidate.sizes))
      sizes.asDict().set(PyValue::string(name), PyValue::integer(size));
    auto config = callBuiltin(evaluator, "triton.Config",
                              CallArgs{{sizes},
                                       {{"num_warps", PyValue::integer(candidate.warps)},
                                        {"num_stages", PyValue::integer(candidate.stages)}}});
    if (config && *config)
      configs.push_back(config->take());
  }
  return configs;
}
