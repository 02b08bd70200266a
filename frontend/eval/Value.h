//===- Value.h - compile-time Python values -------------------------------===//
//
// What a constexpr, a module-level constant or a variable of a host function
// can hold. A PyValue is small and cheap to copy; containers and functions are
// shared by reference, as in Python. Anything Python does not have (a run-time
// tensor while a kernel is specialised, a host tensor while a test runs) rides
// along as an Extension.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_VALUE_H
#define TILE_FRONTEND_EVAL_VALUE_H

#include "frontend/AST.h"
#include "frontend/eval/DType.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <utility>
#include <variant>

namespace tile::eval {

class Evaluator;
class Extension;
class ModuleEnv;
class PyValue;
class Result;
struct CallArgs;

struct TupleObject;
struct ListObject;
struct DictObject;
struct SetObject;
struct SliceObject;
struct FunctionObject;
struct ClassObject;
struct MethodObject;

struct EllipsisTag {};
/// range(start, stop, step), step != 0.
struct RangeObject {
  int64_t start = 0, stop = 0, step = 1;
  /// The largest int64 if there are more.
  int64_t size() const;
  /// Element i, which is in the range though `i * step` may not fit.
  int64_t at(int64_t i) const { return int64_t(uint64_t(start) + uint64_t(i) * uint64_t(step)); }
};
/// A module, by canonical name: "tl", "triton", "math", "libdevice", "tile",
/// "tl.extra.cuda", ...; a source file when `env` is set; any other module is
/// only a name whose members cannot be evaluated.
struct ModuleRef {
  std::string name;
  ModuleEnv *env = nullptr;
  ModuleEnv *importer = nullptr; ///< of a package not known here: where its parts are looked for
};
/// A builtin by canonical name: "len", "tl.load", "libdevice.tanh",
/// "triton.cdiv", "math.sqrt", "tile.randn". Members of `tl.math` are named
/// "tl.": they are the same functions.
struct SymbolRef {
  std::string name;
};

class PyValue {
public:
  /// In the order of the alternatives of `storage`.
  enum class Kind : uint8_t {
    None,
    Ellipsis,
    Bool,
    Int,
    Float,
    Str,
    Tuple,
    List,
    Dict,
    Set,
    Range,
    Slice,
    DType,
    Function,
    Class,
    Module,
    Symbol,
    Method,
    Extension
  };

  PyValue() = default; ///< None
  PyValue(const PyValue &) = default;
  PyValue(PyValue &&) = default;
  PyValue &operator=(PyValue other) noexcept {
    storage.swap(other.storage);
    return *this;
  }
  ~PyValue() {
    if (kind() >= Kind::Tuple)
      release();
  }
  static PyValue none() { return {}; }
  static PyValue ellipsis() { return PyValue(Storage(EllipsisTag())); }
  static PyValue boolean(bool b) { return PyValue(Storage(b)); }
  static PyValue integer(int64_t i);
  static PyValue integerUnsigned(uint64_t i);
  /// A signed two's complement number of any width.
  static PyValue integer(llvm::APInt i);
  static PyValue number(double d) { return PyValue(Storage(d)); }
  static PyValue string(std::string text);
  static PyValue tuple(std::vector<PyValue> elements);
  static PyValue namedTuple(std::shared_ptr<const ClassObject> type, std::vector<PyValue> elements);
  static PyValue list(std::vector<PyValue> elements);
  static PyValue dict(std::vector<std::pair<PyValue, PyValue>> items);
  static PyValue set(std::vector<PyValue> elements); ///< drops duplicates
  static PyValue range(RangeObject range);
  static PyValue slice(PyValue lower, PyValue upper, PyValue step);
  static PyValue dtype(DType type);
  static PyValue function(std::shared_ptr<FunctionObject> function);
  static PyValue classType(std::shared_ptr<const ClassObject> type);
  static PyValue module(std::string name, ModuleEnv *env = nullptr, ModuleEnv *importer = nullptr);
  static PyValue symbol(std::string name);
  static PyValue method(PyValue self, std::string name);
  static PyValue extension(std::shared_ptr<Extension> object);

  Kind kind() const { return static_cast<Kind>(storage.index()); }
  bool is(Kind k) const { return kind() == k; }
  bool isNone() const { return is(Kind::None); }
  bool isStr() const { return is(Kind::Str); }
  /// None, bool, int, float, str: what a constexpr argument is made of.
  bool isScalarConstant() const;
  /// A bool, int or float.
  bool isNumber() const { return is(Kind::Bool) || is(Kind::Int) || is(Kind::Float); }
  /// A tuple or list.
  bool isSequence() const { return is(Kind::Tuple) || is(Kind::List); }

  // Accessors of one kind; the kind must match.
  bool asBool() const { return *std::get_if<bool>(&storage); }
  const llvm::APInt &asInt() const { return *std::get_if<llvm::APInt>(&storage); }
  double asFloat() const { return *std::get_if<double>(&storage); }
  const std::string &asStr() const { return **std::get_if<StringPtr>(&storage); }
  TupleObject &asTuple() const { return **std::get_if<std::shared_ptr<TupleObject>>(&storage); }
  ListObject &asList() const { return **std::get_if<std::shared_ptr<ListObject>>(&storage); }
  DictObject &asDict() const { return **std::get_if<std::shared_ptr<DictObject>>(&storage); }
  SetObject &asSet() const { return **std::get_if<std::shared_ptr<SetObject>>(&storage); }
  const RangeObject &asRange() const { return *std::get_if<RangeObject>(&storage); }
  const SliceObject &asSlice() const {
    return **std::get_if<std::shared_ptr<SliceObject>>(&storage);
  }
  const DType &asDType() const { return **std::get_if<DTypePtr>(&storage); }
  FunctionObject &asFunction() const {
    return **std::get_if<std::shared_ptr<FunctionObject>>(&storage);
  }
  const std::shared_ptr<FunctionObject> &functionPtr() const {
    return *std::get_if<std::shared_ptr<FunctionObject>>(&storage);
  }
  const std::shared_ptr<const ClassObject> &asClass() const {
    return *std::get_if<std::shared_ptr<const ClassObject>>(&storage);
  }
  const ModuleRef &asModule() const {
    return **std::get_if<std::shared_ptr<const ModuleRef>>(&storage);
  }
  /// The canonical name of a builtin.
  const std::string &asSymbol() const {
    return (*std::get_if<std::shared_ptr<const SymbolRef>>(&storage))->name;
  }
  const MethodObject &asMethod() const {
    return **std::get_if<std::shared_ptr<const MethodObject>>(&storage);
  }
  const std::shared_ptr<Extension> &asExtension() const {
    return *std::get_if<std::shared_ptr<Extension>>(&storage);
  }

  /// True for the builtin of this canonical name.
  bool isSymbol(llvm::StringRef name) const { return is(Kind::Symbol) && asSymbol() == name; }
  /// The value of an int or bool that fits; nothing otherwise.
  std::optional<int64_t> toInt64() const;
  /// A bool, int or float as a double; nothing otherwise.
  std::optional<double> toDouble() const;
  /// The elements of a tuple or list, empty otherwise.
  llvm::ArrayRef<PyValue> elements() const;
  /// The extension if it is a `T` (T::classof(const Extension *)), else null.
  template <typename T> T *dynExtension() const;

private:
  using StringPtr = std::shared_ptr<const std::string>;
  using DTypePtr = std::shared_ptr<const DType>;
  using Storage = std::variant<std::monostate, EllipsisTag, bool, llvm::APInt, double, StringPtr,
                               std::shared_ptr<TupleObject>, std::shared_ptr<ListObject>,
                               std::shared_ptr<DictObject>, std::shared_ptr<SetObject>, RangeObject,
                               std::shared_ptr<SliceObject>, DTypePtr,
                               std::shared_ptr<FunctionObject>, std::shared_ptr<const ClassObject>,
                               std::shared_ptr<const ModuleRef>, std::shared_ptr<const SymbolRef>,
                               std::shared_ptr<const MethodObject>, std::shared_ptr<Extension>>;
  explicit PyValue(Storage storage) : storage(std::move(storage)) {}
  /// Gives up what is shared, without a limit to how deep values may nest.
  void release();
  friend bool identical(const PyValue &a, const PyValue &b);
  Storage storage;
};

struct TupleObject {
  std::vector<PyValue> elements;
  std::shared_ptr<const ClassObject> type; ///< of a named tuple
};
struct ListObject {
  std::vector<PyValue> elements;
};
/// Keeps insertion order.
struct DictObject {
  std::vector<std::pair<PyValue, PyValue>> items;
  PyValue *find(const PyValue &key);
  PyValue *find(llvm::StringRef key);
  void set(const PyValue &key, PyValue value);
};
struct SetObject {
  std::vector<PyValue> elements;
  bool contains(const PyValue &value) const;
  void insert(const PyValue &value);
};
struct SliceObject {
  PyValue lower, upper, step;
};
struct MethodObject {
  PyValue self;
  std::string name;
};

/// The variables of one function call (or comprehension), linked to the scope
/// that encloses it in the source. Lookup ends in the file's ModuleEnv, then in
/// the builtins.
struct Scope {
  llvm::StringMap<PyValue> variables;
  std::shared_ptr<Scope> parent; ///< may be null
  ModuleEnv *module = nullptr;   ///< never null
  /// Names declared `nonlocal`, written to in the enclosing scope.
  std::vector<std::string> nonlocals;
  /// A comprehension: `:=` binds in the enclosing scope.
  bool isComprehension = false;
  /// The scope of a statement at a file's top level: functions made here close
  /// over nothing, and globals are seen as of statement `before`.
  bool isTopLevel = false;
  size_t before = SIZE_MAX;
  unsigned inTry = 0; ///< `try` bodies being run
};

/// One `@name(...)` line above a function, not yet evaluated.
struct Decorator {
  std::string name;                ///< canonical ("triton.jit", "tile.test") or as written
  bool known = false;              ///< recognised; others are ignored
  const ast::Call *call = nullptr; ///< null for a bare `@name`
  ast::SourceRange range;
};

/// A function of a file, with its meaning for kernels, or a lambda.
struct FunctionObject {
  const ast::FunctionDef *def = nullptr; ///< null for a lambda
  const ast::Lambda *lambda = nullptr;
  ModuleEnv *module = nullptr;
  std::shared_ptr<Scope> closure; ///< null at a file's top level
  /// Defaults evaluated where the function was made; empty at a file's top
  /// level, where they are evaluated when asked for.
  std::vector<std::optional<PyValue>> defaults;
  std::vector<Decorator> decorators; ///< outermost first
  bool isJit = false;                ///< @triton.jit: the specialiser's business
  bool isConstexprFunction = false;  ///< @triton.constexpr_function

  const std::vector<ast::Parameter> &params() const { return def ? def->params : lambda->params; }
  std::string alias; ///< where a global made by a call is a kernel: its name

  std::string name() const { return !alias.empty() ? alias : def ? def->name : "<lambda>"; }
  ast::SourceRange range() const { return def ? def->nameRange : lambda->range; }
  const Decorator *findDecorator(llvm::StringRef canonicalName) const;
};

/// A class of a file. Objects of named tuples and aggregates are tuples of this
/// type; of any other class only constants and functions can be used. What the
/// methods of an aggregate do is the specialiser's business.
struct ClassObject {
  std::string name;
  const ast::ClassDef *def = nullptr; ///< null for collections.namedtuple(...)
  ModuleEnv *module = nullptr;
  std::vector<Decorator> decorators;
  std::vector<std::shared_ptr<const ClassObject>> bases; ///< those that are known
  bool isNamedTuple = false;
  bool isAggregate = false;
  bool isEnum = false;       ///< members have a `value` and a `name`
  bool isNumberEnum = false; ///< members are numbers or strings themselves
  std::vector<std::string> fields;
  std::vector<PyValue> defaults; ///< of the last fields
  std::vector<bool> isConstexpr; ///< for each field of an aggregate
  /// Of a class of the language, what its objects have beside their fields; null: nothing.
  std::optional<PyValue> (*attribute)(const PyValue &object, llvm::StringRef name) = nullptr;
};

/// The class of an object, a tuple with a type that has code of its own; null
/// for any other value.
const std::shared_ptr<const ClassObject> *classOf(const PyValue &value);

/// The way in for values that Python does not have. An operation that an
/// extension does not override fails with a message that names the type.
class Extension : public std::enable_shared_from_this<Extension> {
public:
  virtual ~Extension();
  /// The address of a static that identifies the class, for `classof`.
  const void *classId() const { return id; }
  /// For messages and type(): "tensor".
  virtual std::string typeName() const = 0;
  virtual std::string repr() const;

  virtual Result unary(ast::UnaryOp op);
  /// `self op other`, or `other op self` when `reflected`.
  virtual Result binary(ast::BinaryOp op, const PyValue &other, bool reflected);
  /// `self op other`.
  virtual Result compare(ast::CompareOp op, const PyValue &other);
  virtual Result truth();
  /// What `int` and `float` make a number of; itself if it is no number.
  virtual Result number();
  virtual Result length();
  virtual Result iterate(std::vector<PyValue> &elements);
  virtual Result subscript(Evaluator *evaluator, const PyValue &index);
  virtual Result assignSubscript(const PyValue &index, const PyValue &value);
  virtual Result attribute(llvm::StringRef name);
  virtual Result call(Evaluator &evaluator, const CallArgs &args);
  /// `value.name(args)` for a Method that attribute() returned.
  virtual Result callMethod(Evaluator &evaluator, llvm::StringRef name, const CallArgs &args);
  /// From here on it is as any other, whatever it was made by (Extrema.h).
  virtual void forgetOrigin() {}

protected:
  explicit Extension(const void *id) : id(id) {}

private:
  const void *id;
};

template <typename T> T *PyValue::dynExtension() const {
  if (!is(Kind::Extension) || !T::classof(asExtension().get()))
    return nullptr;
  return static_cast<T *>(asExtension().get());
}

/// `a is b`: constants and dtypes by value, everything else by identity.
bool identical(const PyValue &a, const PyValue &b);
/// `a == b` without extensions' own comparison; equal values have equal repr
/// except for numbers of different kinds (1 == 1.0 == True).
bool equal(const PyValue &a, const PyValue &b);
/// Python's repr() and str(). Stable: usable in cache keys.
std::string repr(const PyValue &value);
std::string str(const PyValue &value);
/// The shortest decimal that reads back as the same double, as Python prints it.
std::string reprFloat(double value);
/// The nearest double of a signed integer of any width.
double toDouble(const llvm::APInt &value);
/// "int", "tuple", "dtype", an extension's own name: for messages.
std::string typeName(const PyValue &value);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_VALUE_H
