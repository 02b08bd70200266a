//===- Builtins.h - the table of tl.* functions ---------------------------===//
//
// A builtin is a row: its canonical name, its parameters as Python writes
// them, and a function that gets the bound arguments. Families register their
// rows once per process; nothing of the table is read per compile but the rows
// that a kernel calls.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_BUILTINS_H
#define TILE_FRONTEND_SPECIALIZE_BUILTINS_H

#include "frontend/specialize/Specializer.h"
#include "llvm/ADT/StringMap.h"

namespace tile::specialize {

struct Builtin;

/// One call: the arguments bound to parameters. Accessors report an argument
/// of the wrong kind, naming the function and the parameter.
class BuiltinCall {
public:
  BuiltinCall(Specializer &s, const Builtin &builtin) : s(s), builtin(builtin) {}

  Specializer &s;
  const Builtin &builtin;
  llvm::SmallVector<PyValue, 8> args;
  llvm::SmallVector<bool, 8> given;
  bool isMember = false;                    ///< `x.exp()`, not `tl.exp(x)`
  llvm::SmallVector<SourceRange, 8> ranges; ///< of the arguments, empty if not known

  const PyValue &operator[](unsigned i) const { return args[i]; }
  bool has(unsigned i) const { return given[i] && !args[i].isNone(); }

  /// A tensor, or a number as one.
  Tensor tensor(unsigned i);
  std::optional<int64_t> integer(unsigned i);
  std::optional<int64_t> integerOr(unsigned i, int64_t otherwise) {
    return has(i) ? integer(i) : std::optional(otherwise);
  }
  /// A compile-time truth; `otherwise` if it was not given.
  bool flag(unsigned i, bool otherwise = false);
  std::optional<std::string> string(unsigned i);
  std::optional<DType> dtype(unsigned i);
  /// A tuple of compile-time integers that is a legal block shape.
  std::optional<llvm::SmallVector<int64_t>> shape(unsigned i);
  std::optional<llvm::SmallVector<int64_t>> integers(unsigned i);
  /// A dimension of a tensor of this rank; negative ones count from the end.
  std::optional<int64_t> axis(unsigned i, int64_t rank);

  /// Reports an error of the call. A message that begins with the name of a
  /// parameter, in backticks, points at its argument.
  PyValue fail(std::string message);
  Tensor poison(std::string message);
  std::string parameter(unsigned i) const;
};

using BuiltinFunction = PyValue (*)(BuiltinCall &);

struct Builtin {
  struct Parameter {
    llvm::StringRef name;
    bool optional = false;
    bool variadic = false;
  };
  std::string name;
  llvm::SmallVector<Parameter, 4> parameters;
  BuiltinFunction function = nullptr;
};

/// Rows are added with `add("tl.load", "pointer, mask=, other=, *rest", fn)`.
class BuiltinTable {
public:
  static const BuiltinTable &get();
  const Builtin *find(llvm::StringRef name) const {
    auto it = rows.find(name);
    return it == rows.end() ? nullptr : &it->second;
  }
  /// The builtin that `tensor.name(...)` calls, or null.
  const Builtin *findMember(llvm::StringRef name) const;
  std::vector<llvm::StringRef> memberNames() const;
  void add(llvm::StringRef name, llvm::StringRef parameters, BuiltinFunction function);

private:
  llvm::StringMap<Builtin> rows;
};

void addCreationBuiltins(BuiltinTable &table);
void addShapeBuiltins(BuiltinTable &table);
void addMathBuiltins(BuiltinTable &table);
void addLibdeviceBuiltins(BuiltinTable &table);
void addMemoryBuiltins(BuiltinTable &table);
void addAtomicBuiltins(BuiltinTable &table);
void addBlockPointerBuiltins(BuiltinTable &table);
void addTensorDescriptorBuiltins(BuiltinTable &table);
void addElementBuiltins(BuiltinTable &table);
void addForeignBuiltins(BuiltinTable &table);
void addReductionBuiltins(BuiltinTable &table);
void addCombinerBuiltins(BuiltinTable &table);
void addOrderingBuiltins(BuiltinTable &table);
void addDotBuiltins(BuiltinTable &table);
void addDotScaledBuiltins(BuiltinTable &table);
void addRandomBuiltins(BuiltinTable &table);
void addHintBuiltins(BuiltinTable &table);

/// Binds the arguments and runs the builtin.
PyValue callBuiltin(Specializer &s, const Builtin &builtin, const eval::CallArgs &args,
                    bool isMember = false);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_BUILTINS_H
