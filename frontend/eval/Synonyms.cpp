//===- Synonyms.cpp - what other libraries call functions, and give them --===//
#include "frontend/eval/Synonyms.h"
#include "text/Format.h"

using namespace tile;
using llvm::StringRef;

/// The second of the pair whose first it is.
template <size_t n>
static StringRef found(const std::pair<StringRef, StringRef> (&table)[n], StringRef name) {
  for (auto [other, own] : table)
    if (other == name)
      return own;
  return name;
}

static constexpr std::pair<StringRef, StringRef> usualNames[] = {
    {"absolute", "abs"},
    {"amax", "max"},
    {"amin", "min"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"astype", "to"},
    {"bce_with_logits", "binary_cross_entropy_with_logits"},
    {"bmm", "matmul"},
    {"broadcast_arrays", "broadcast_tensors"},
    {"clip", "clamp"},
    {"concat", "cat"},
    {"concatenate", "cat"},
    {"cumulative_prod", "cumprod"},
    {"cumulative_sum", "cumsum"},
    {"degrees", "rad2deg"},
    {"divide", "div"},
    {"dot", "matmul"},
    {"equal", "eq"},
    {"expand_dims", "unsqueeze"},
    {"expit", "sigmoid"},
    {"fabs", "abs"},
    {"fix", "trunc"},
    {"float_power", "pow"},
    {"gammaln", "lgamma"},
    {"ger", "outer"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"identity", "eye"},
    {"invert", "bitwise_not"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"mm", "matmul"},
    {"mod", "remainder"},
    {"moveaxis", "movedim"},
    {"log_sigmoid", "logsigmoid"},
    {"multiply", "mul"},
    {"mv", "matmul"},
    {"negative", "neg"},
    {"not_equal", "ne"},
    {"permute_dims", "permute"},
    {"power", "pow"},
    {"psi", "digamma"},
    {"radians", "deg2rad"},
    {"rint", "round"},
    {"row_stack", "vstack"},
    {"sgn", "sign"},
    {"stop_gradient", "detach"},
    {"subtract", "sub"},
    {"swapaxes", "transpose"},
    {"swapdims", "transpose"},
    {"swish", "silu"},
    {"take_along_axis", "take_along_dim"},
    {"tensor_split", "array_split"},
    {"trapz", "trapezoid"},
    {"true_divide", "div"},
    {"type", "to"},
    {"upsample", "interpolate"},
    {"vdot", "matmul"},
};

StringRef tile::eval::usualName(StringRef name) { return found(usualNames, name); }

StringRef tile::eval::usualKeyword(StringRef keyword) {
  static constexpr std::pair<StringRef, StringRef> table[] = {
      {"dim", "axis"},
      {"dims", "axis"},
      {"dim1", "axis1"},
      {"dim2", "axis2"},
      {"axes", "axis"},
      {"keepdims", "keepdim"},
      {"keep_dims", "keepdim"},
      {"ddof", "correction"},
      {"unbiased", "correction"},
      {"input", "x"},
      {"other", "y"},
      {"target", "y"},
      {"size", "shape"},
      {"fill_value", "value"},
      {"min", "lo"},
      {"max", "hi"},
      {"ord", "p"},
      {"split_size_or_sections", "size"},
  };
  return found(table, keyword);
}

using namespace tile::eval;

/// The argument at a place or of one of two names; None if it is not there.
static PyValue given(const CallArgs &args, size_t place, StringRef name, StringRef other) {
  if (place < args.positional.size())
    return args.positional[place];
  for (const auto &[keyword, value] : args.keywords)
    if (keyword == name || keyword == other)
      return value;
  return {};
}

StringRef tile::eval::usualFunction(StringRef name, const CallArgs &args) {
  StringRef usual = usualName(name);
  if (usual == "round" && !given(args, 1, "decimals", "decimals").isNone())
    return "round_to";
  if (usual == "pad") {
    PyValue mode = given(args, 2, "mode", "mode");
    return mode.isStr() && mode.asStr() != "constant" ? StringRef("pad_around") : usual;
  }
  // NumPy's, which go along a dimension.
  if (usual == "take" && !given(args, 2, "axis", "dim").isNone())
    return "index_select";
  if (usual == "repeat" && !given(args, args.positional.size(), "axis", "dim").isNone())
    return "repeat_interleave";
  if (usual == "max" || usual == "min") {
    PyValue other = given(args, 1, "other", "y");
    bool isTensor = other.is(PyValue::Kind::Extension) && attribute(other, "dtype");
    return !isTensor ? usual : StringRef(usual == "max" ? "maximum" : "minimum");
  }
  if (usual != "cross_entropy")
    return usual;
  // Of each row by how much its class counts.
  bool isWeighted = args.positional.size() > 2 && args.positional[2].is(PyValue::Kind::Extension);
  isWeighted |= !given(args, SIZE_MAX, "weight", "weight").isNone();
  PyValue labels = given(args, 1, "target", "labels");
  Result type = labels.is(PyValue::Kind::Extension) ? attribute(labels, "dtype") : Result(labels);
  bool areShares = type && type->is(PyValue::Kind::DType) && type->asDType().isFloating();
  return areShares    ? StringRef("cross_entropy_of_shares")
         : isWeighted ? StringRef("cross_entropy_weighted")
                      : usual;
}

static void renameKeyword(CallArgs &args, StringRef from, StringRef to) {
  for (auto &[keyword, value] : args.keywords)
    if (keyword == from)
      keyword = to.str();
}

/// A keyword that is taken out; None if it is not there.
static PyValue takeKeyword(CallArgs &args, StringRef name) {
  for (size_t i = 0; i < args.keywords.size(); ++i)
    if (args.keywords[i].first == name) {
      PyValue value = args.keywords[i].second;
      args.keywords.erase(args.keywords.begin() + i);
      args.keywordRanges.clear();
      return value;
    }
  return {};
}

/// The number of a pad's width around each dimension, as pairs.
static std::unique_ptr<EvalError> widthAround(CallArgs &args) {
  Result shape = attribute(args.positional[0], "shape");
  size_t rank = shape && shape->isSequence() ? shape->elements().size() : 0;
  PyValue pair = PyValue::tuple({args.positional[1], args.positional[1]});
  args.positional[1] = PyValue::list(std::vector<PyValue>(rank, pair));
  return nullptr;
}

/// The dimension in front of the places along it, as index_select has them, of take(x, places,
/// axis).
static void axisFirst(CallArgs &args) {
  bool isLast =
      args.positional.size() == 3 && args.positional[2].toInt64() && !args.positional[1].toInt64();
  PyValue axis = args.positional.size() == 2 ? takeKeyword(args, "axis") : PyValue();
  if (axis.isNone() && args.positional.size() == 2)
    axis = takeKeyword(args, "dim");
  if (!axis.isNone())
    args.positional.insert(args.positional.begin() + 1, axis);
  else if (isLast)
    std::swap(args.positional[1], args.positional[2]);
  args.positionalRanges.clear();
}

/// Pairs for each dimension, of numbers for the last dimension, then for the one before it, and so
/// on; or of one number, which is the width all around.
static std::unique_ptr<EvalError> pairWidths(CallArgs &args) {
  PyValue mode = takeKeyword(args, "mode");
  if (mode.isNone() && args.positional.size() > 2 && args.positional[2].isStr()) {
    mode = args.positional[2]; // PyTorch's third argument, in front of the number
    args.positional.erase(args.positional.begin() + 2);
    args.positionalRanges.clear();
  }
  if (!mode.isNone() && !(mode.isStr() && mode.asStr() == "constant"))
    return unsupported(
        formatted("`pad` puts one number around: the mode is \"constant\", not {}", repr(mode)));
  renameKeyword(args, "constant_values", "value");
  if (args.positional.size() > 1 && args.positional[1].is(PyValue::Kind::Int))
    return widthAround(args);
  if (args.positional.size() < 2 || !args.positional[1].isSequence() ||
      args.positional[1].elements().empty() || args.positional[1].elements()[0].isSequence())
    return nullptr;
  Result shape = attribute(args.positional[0], "shape");
  size_t rank = shape && shape->isSequence() ? shape->elements().size() : 0;
  std::vector<PyValue> widths = args.positional[1].elements().vec(), pairs;
  if (widths.size() % 2 || widths.size() > 2 * rank)
    return fail(formatted("`pad` needs two widths for a dimension, and has {} numbers for {}",
                          widths.size(), rank),
                "ValueError");
  for (size_t dim = rank; dim-- > 0;) {
    bool isGiven = 2 * dim + 1 < widths.size();
    PyValue none = PyValue::integer(0);
    pairs.push_back(PyValue::tuple({isGiven ? widths[2 * dim] : none, //
                                    isGiven ? widths[2 * dim + 1] : none}));
  }
  args.positional[1] = PyValue::list(std::move(pairs));
  return nullptr;
}

/// The padding of a convolution that is "valid", none, or "same": as much as keeps the size.
static std::unique_ptr<EvalError> widthsByWord(CallArgs &args) {
  PyValue *padding = args.positional.size() > 4 ? &args.positional[4] : nullptr;
  for (auto &[keyword, value] : args.keywords)
    if (keyword == "padding")
      padding = &value;
  if (!padding || !padding->isStr() || args.positional.size() < 2)
    return nullptr;
  std::vector<PyValue> widths(2, PyValue::integer(0));
  Result shape = attribute(args.positional[1], "shape");
  bool isPicture = shape && shape->isSequence() && shape->elements().size() == 4;
  PyValue step = given(args, 5, "dilation", "dilation");
  for (size_t i = 0; i < 2 && padding->asStr() == "same"; ++i) {
    PyValue own = step.isSequence() && step.elements().size() == 2 ? step.elements()[i] : step;
    std::optional<int64_t> size = isPicture ? shape->elements()[2 + i].toInt64() : std::nullopt;
    int64_t more = size ? (*size - 1) * own.toInt64().value_or(1) : 1;
    if (more % 2)
      return fail("`padding=\"same\"` needs weights of a known, odd size", "ValueError");
    widths[i] = PyValue::integer(more / 2);
  }
  if (padding->asStr() == "same" || padding->asStr() == "valid")
    *padding = PyValue::tuple(std::move(widths));
  return nullptr;
}

/// Whether a function makes tensors, and may be told where.
static bool makesTensors(StringRef name) {
  static constexpr StringRef makers[] = {
      "empty",   "zeros",    "ones",          "full",     "rand",      "randn",    "special",
      "randint", "randperm", "empty_strided", "tensor",   "arange",    "linspace", "logspace",
      "eye",     "new_ones", "new_zeros",     "new_full", "new_empty", "tri"};
  return llvm::is_contained(makers, name) || name.ends_with("_like") || name.ends_with("_window");
}

/// `device="cuda"`: there is one device, that of the command. Nor are there gradients, of which a
/// tensor may say so.
static std::unique_ptr<EvalError> dropPlace(CallArgs &args) {
  if (const PyValue *wanted = args.keyword("requires_grad");
      wanted && !(wanted->is(PyValue::Kind::Bool) && !wanted->asBool()))
    return fail("`requires_grad`: tensors have no gradients here", "TypeError");
  for (StringRef name : {"device", "requires_grad", "layout", "pin_memory"})
    takeKeyword(args, name);
  return nullptr;
}

/// `x.to(device)` is `x.to(x.dtype)`, and `x.to(y)` is `x.to(y.dtype)`.
static std::unique_ptr<EvalError> typeAlone(CallArgs &args) {
  for (StringRef name : {"device", "non_blocking", "copy"})
    takeKeyword(args, name);
  auto &given = args.positional;
  bool isPlace = given.size() > 1 && (given[1].isStr() || typeName(given[1]) == "device");
  if (isPlace)
    given.erase(given.begin() + 1);
  bool isLike = given.size() > 1 && given[1].is(PyValue::Kind::Extension);
  if (!given.empty() && (isLike || (given.size() == 1 && !args.keyword("dtype")))) {
    Result type = attribute(given.back(), "dtype");
    if (!type)
      return type.takeError();
    given.resize(1);
    given.push_back(*type);
  }
  args.positionalRanges.clear();
  return nullptr;
}

/// (query, key, value, attn_mask, dropout_p, is_causal): PyTorch's order has a number fifth.
static void dropoutBehind(CallArgs &args) {
  for (StringRef name : {"query", "key", "value"})
    renameKeyword(args, name, name.take_front());
  auto &given = args.positional;
  if (given.size() < 5 || !(given[4].is(PyValue::Kind::Float) || given[4].is(PyValue::Kind::Int)))
    return;
  args.keywords.emplace_back("dropout_p", given[4]);
  given.erase(given.begin() + 4);
  args.positionalRanges.clear();
  args.keywordRanges.clear();
}

/// The number of classes is a size: it does not depend on what a tensor holds.
static std::unique_ptr<EvalError> checkClasses(CallArgs &args) {
  renameKeyword(args, "num_classes", "classes");
  PyValue classes = given(args, 1, "classes", "classes");
  if (!classes.isNone() && classes.toInt64() != -1)
    return nullptr;
  return fail("`one_hot` needs the number of classes, as in `one_hot(x, 10)`: sizes of results do "
              "not depend on what tensors hold",
              "ValueError");
}

/// The formulas behind `cross_entropy` of shares, or with weights, have their own names, and take
/// what is given third in both orders: PyTorch's, a weight, and ours.
static void nameLabels(CallArgs &args) {
  renameKeyword(args, "logits", "x");
  renameKeyword(args, "labels", "y");
  auto &given = args.positional;
  for (StringRef name : {"label_smoothing", "reduction"}) {
    size_t place = name == "reduction" ? 2 : 3;
    if (given.size() != place + 1 || given[place].is(PyValue::Kind::Extension))
      continue;
    args.keywords.emplace_back(name.str(), given[place]);
    given.pop_back();
    args.positionalRanges.clear();
    args.keywordRanges.clear();
  }
}

std::unique_ptr<EvalError> tile::eval::useUsualForms(StringRef name, CallArgs &args) {
  if (makesTensors(name))
    return dropPlace(args);
  if (name == "to")
    return typeAlone(args);
  if (name == "pad")
    return pairWidths(args);
  if (name == "pad_around" && args.positional.size() > 1 &&
      args.positional[1].is(PyValue::Kind::Int))
    return widthAround(args);
  if (name == "index_select")
    axisFirst(args);
  if (name == "flip" && args.positional.size() > 2) { // x.flip(0, 1)
    auto first = args.positional.begin() + 1;
    PyValue axes = PyValue::tuple(std::vector<PyValue>(first, args.positional.end()));
    args.positional.resize(1);
    args.positional.push_back(std::move(axes));
    args.positionalRanges.clear();
  }
  if (name == "gather" && args.positional.size() == 3 && args.positional[1].toInt64())
    std::swap(args.positional[1], args.positional[2]);
  if (name == "scatter")
    renameKeyword(args, "value", "src");
  if (name == "cross_entropy") {
    renameKeyword(args, "x", "logits");
    renameKeyword(args, "y", "labels");
    if (args.keyword("weight"))
      (void)takeKeyword(args, "weight"); // None: of each as much
  }
  if (name.starts_with("cross_entropy_"))
    nameLabels(args);
  if (name == "one_hot")
    return checkClasses(args);
  if (name == "embedding")
    renameKeyword(args, "x", "index");
  if (name == "scaled_dot_product_attention")
    dropoutBehind(args);
  if (name == "conv2d")
    return widthsByWord(args);
  if (name == "dropout") {
    PyValue trains = takeKeyword(args, "training");
    Result is = truth(trains);
    if (!is)
      return is.takeError();
    if (!trains.isNone() && !is->asBool()) {
      takeKeyword(args, "p");
      args.positional.resize(std::max<size_t>(args.positional.size(), 2));
      args.positional[1] = PyValue::integer(0);
      args.positionalRanges.clear();
    }
  }
  return nullptr;
}

static std::vector<PyValue> shapeOf(const PyValue &x) {
  Result shape = x.is(PyValue::Kind::Extension) ? attribute(x, "shape") : Result(PyValue());
  return shape && shape->isSequence() ? shape->elements().vec() : std::vector<PyValue>();
}

bool tile::eval::classesComeSecond(const PyValue &logits, const PyValue &labels) {
  std::vector<PyValue> sizes = shapeOf(logits), own = shapeOf(labels);
  if (sizes.size() < 3)
    return false;
  if (own.size() == sizes.size()) // shares of each
    return true;
  sizes.erase(sizes.begin() + 1);
  return llvm::equal(sizes, own, [](auto &x, auto &y) { return repr(x) == repr(y); });
}

/// `x.where(condition, y)` is `where(condition, x, y)`.
static std::unique_ptr<EvalError> conditionFirst(CallArgs &args) {
  PyValue condition = takeKeyword(args, "condition");
  if (args.positional.size() > 1 && condition.isNone()) {
    std::swap(args.positional[0], args.positional[1]);
    args.positionalRanges.clear();
  } else if (!condition.isNone()) {
    args.prepend(condition);
  }
  auto isBool = [](const PyValue &value) {
    Result type = value.is(PyValue::Kind::Extension) ? attribute(value, "dtype") : Result(value);
    return value.is(PyValue::Kind::Bool) ||
           (type && type->is(PyValue::Kind::DType) && type->asDType().isBool());
  };
  auto &given = args.positional;
  if (given.size() < 2 || isBool(given[0]) || !isBool(given[1]))
    return nullptr;
  return fail("`x.where(condition, y)` has x where the condition holds: of a condition and two "
              "others write `tile.where(condition, x, y)`",
              "TypeError");
}

Result tile::eval::usualMethod(StringRef name, CallArgs &args) {
  if (name == "unfold")
    return PyValue::string("unfold_along");
  if (name == "where")
    if (auto error = conditionFirst(args))
      return error;
  return PyValue::string(name.str());
}

tile::eval::Result tile::eval::geluByTanh(const ArgReader &arguments) {
  bool isTanh = arguments.has(1) && arguments[1].isStr() && arguments[1].asStr() == "tanh";
  bool isNone = !arguments.has(1) || (arguments[1].isStr() && arguments[1].asStr() == "none");
  if (!isTanh && !isNone)
    return fail(
        formatted("`approximate` of `gelu` is \"none\" or \"tanh\", got {}", repr(arguments[1])));
  return PyValue::boolean(isTanh);
}
