//===- Aliases.cpp - views that `+=` would change in PyTorch --------------===//
//
// `a = x[0]; a += 1` makes a new tensor here. In PyTorch it changes x as well: where that is used
// behind it, and it is known that it is the same elements, the function is refused.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

static bool isView(Operation *op) {
  return isa_and_nonnull<graph::RearrangeOp, graph::WindowOp, graph::ReshapeOp>(op);
}

void Tracer::augmented(const PyValue &before) {
  auto *tensor = before.dynExtension<TensorValue>();
  if (!tensor || !isView(tensor->value.getDefiningOp()) || isOwn(*tensor))
    return;
  Block *block = builder.getInsertionBlock();
  aliases.push_back({tensor->value, &block->back(), eval::currentPlace()});
}

/// Whether two parts of one tensor are known to have an element in common.
static bool overlap(graph::WindowOp one, graph::WindowOp other) {
  std::string message;
  auto start = [&](Attribute text) {
    return *Size::parse(cast<StringAttr>(text).getValue(), message);
  };
  for (auto [a, b, m, n] : llvm::zip(one.getStarts(), other.getStarts(), one.getType().sizes(),
                                     other.getType().sizes())) {
    std::optional<int64_t> behind = (start(a) + m - start(b)).constant(),
                           before = (start(b) + n - start(a)).constant();
    if (start(a) == start(b))
      continue;
    if (!behind || !before || *behind <= 0 || *before <= 0)
      return false;
  }
  return true;
}

/// What uses, behind `at`, all elements of `base` or those that `view` has.
static Operation *userBehind(Value base, Operation *view, Operation *at,
                             const DenseSet<Operation *> &derived) {
  for (Operation *user : base.getUsers()) {
    if (user == view || user->isBeforeInBlock(at) || user == at || derived.contains(user))
      continue;
    if (isa<graph::GatherOp, graph::RearrangeOp, graph::ReshapeOp>(user))
      continue; // of which elements is not known
    auto window = dyn_cast<graph::WindowOp>(user), own = dyn_cast_or_null<graph::WindowOp>(view);
    if (!window || !own || overlap(window, own))
      return user;
  }
  return nullptr;
}

std::unique_ptr<EvalError> Tracer::checkAliases() {
  for (const Alias &alias : aliases) {
    Operation *view = nullptr;
    for (Value base = alias.view; base; base = view ? view->getOperand(0) : Value()) {
      if (Operation *user = userBehind(base, view, alias.at, derived)) {
        auto line = user->getLoc()->findInstanceOf<FileLineColLoc>();
        auto error = eval::fail(formatted(
            "this is a view, which makes a new tensor here; in PyTorch it changes what it is a "
            "view "
            "of, and that is {}: write `a = a + b` for a new tensor, or write the part, such as "
            "`x[0] += b`",
            user->hasTrait<OpTrait::IsTerminator>() ? std::string("returned")
            : line                                  ? formatted("used in line {}", line.getLine())
                                                    : std::string("used behind it")));
        error->diagnostic.file = alias.place.file;
        error->diagnostic.range = alias.place.range;
        return error;
      }
      view = base.getDefiningOp();
      if (!isView(view))
        break;
    }
  }
  return nullptr;
}
