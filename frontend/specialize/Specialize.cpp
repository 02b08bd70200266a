//===- Specialize.cpp - one kernel, chosen and typed ----------------------===//
//
// The steps:
//  1. find the kernel in the file;
//  2. give every parameter a type or a value, from the signature (or the
//     annotations) and the constexpr values;
//  3. build the function and let the Specializer walk the body.
//
//===----------------------------------------------------------------------===//
#include "frontend/Specialize.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "frontend/specialize/Parameters.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "text/Format.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

using frontend::nearestName;
using FunctionPtr = std::shared_ptr<eval::FunctionObject>;

Specializer::Specializer(MLIRContext &context, const CompileOptions &options,
                         DiagnosticEngine &diagnostics, eval::Program &program)
    : Emitter(context, options, diagnostics), program(program) {
  builder.setListener(&operations);
  program.evaluator().hooks = this;
  program.evaluator().capability = target.capability;
}

void Specializer::runKernel(const eval::FunctionObject &kernel, llvm::ArrayRef<PyValue> arguments) {
  Frame top;
  top.function = &kernel;
  top.module = kernel.module;
  top.isKernel = true;
  top.place.file = &kernel.module->source();
  top.place.range = kernel.range();
  top.place.function = kernel.name();
  top.place.fileName = builder.getStringAttr(top.place.file->name());
  frame = &top;
  place = &top.place;
  // Operations on what is known, beside what the evaluator does.
  constexpr uint64_t maxSteps = 100'000'000;
  uint64_t steps = 0;
  eval::Work work(steps, maxSteps);
  for (auto [parameter, value] : llvm::zip(kernel.params(), arguments))
    top.vars[parameter.name] = Variable{ofHost(value)};
  run(kernel.def->body);
  take(PyValue::none()); // too many steps are an error, whoever took them
  func::ReturnOp::create(builder, loc());
  frame = nullptr;
  place = nullptr;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The kernels that no other kernel of the file mentions: those that do the work of
/// others are helpers.
static std::vector<FunctionPtr> withoutHelpers(llvm::ArrayRef<FunctionPtr> kernels) {
  llvm::StringSet<> names, mentioned;
  for (const FunctionPtr &kernel : kernels)
    names.insert(kernel->name());
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || (c & 0x80); };
  for (const FunctionPtr &kernel : kernels) {
    StringRef body =
        kernel->module->source().text().slice(kernel->def->range.begin, kernel->def->range.end);
    while (!(body = body.drop_until(isWord)).empty()) {
      StringRef word = body.take_while(isWord);
      // One of the same name, in another class, mentions its own.
      if (word != kernel->name() && names.contains(word))
        mentioned.insert(word);
      body = body.drop_front(word.size());
    }
  }
  std::vector<FunctionPtr> rest;
  llvm::copy_if(kernels, std::back_inserter(rest),
                [&](const FunctionPtr &kernel) { return !mentioned.contains(kernel->name()); });
  return rest;
}

/// The definitions in `body` by the classes and functions around them: `Class.` for a
/// kernel in a class.
using Surroundings = llvm::DenseMap<const ast::FunctionDef *, std::string>;
static void collectSurroundings(const ast::Body &body, const std::string &around,
                                Surroundings &out) {
  for (const ast::StmtPtr &stmt : body) {
    auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt.get());
    auto *type = llvm::dyn_cast<ast::ClassDef>(stmt.get());
    if (function) {
      out.try_emplace(function, around);
      collectSurroundings(function->body, around + function->name + ".", out);
    } else if (type) {
      collectSurroundings(type->body, around + type->name + ".", out);
    }
    for (const ast::Body *inner : eval::innerBodies(*stmt))
      collectSurroundings(*inner, around, out);
  }
}

namespace {
/// The kernels of a file, by name.
class KernelIndex {
public:
  KernelIndex(std::vector<FunctionPtr> kernels, const ast::Module &tree)
      : kernels(std::move(kernels)), tree(tree) {
    for (const FunctionPtr &kernel : this->kernels) {
      byName[kernel->name()].push_back(kernel);
      if (kernel->def && kernel->def->name != kernel->name())
        byName[kernel->def->name].push_back(kernel);
    }
  }
  std::vector<FunctionPtr> named(StringRef name);
  /// `Class.kernel` for a kernel in a class, `function.kernel` in a function.
  std::string qualifiedName(const eval::FunctionObject &kernel);
  const std::vector<FunctionPtr> kernels;

private:
  const ast::Module &tree;
  llvm::StringMap<std::vector<FunctionPtr>> byName; ///< the last part of it, and of `def`
  std::optional<Surroundings> surroundings;         ///< once somebody asks
};
} // namespace

std::string KernelIndex::qualifiedName(const eval::FunctionObject &kernel) {
  std::string path = kernel.name();
  if (!kernel.def || kernel.def->name != path)
    return path;
  if (!surroundings) {
    surroundings.emplace();
    collectSurroundings(tree.body, "", *surroundings);
  }
  return surroundings->lookup(kernel.def) + path;
}

static std::string quotedNames(llvm::ArrayRef<FunctionPtr> functions, KernelIndex &index) {
  constexpr size_t most = 16;
  std::string text;
  for (auto [i, function] : llvm::enumerate(functions.take_front(most)))
    text += formatted("{}{}`", i ? ", `" : "`", index.qualifiedName(*function));
  if (functions.size() > most)
    text += formatted(" and {} more", functions.size() - most);
  return text;
}

/// Whether a kernel's name still means it where its scope ends.
static bool isBound(const eval::FunctionObject &kernel) {
  if (kernel.closure) {
    auto it = kernel.closure->variables.find(kernel.name());
    return it != kernel.closure->variables.end() && it->second.is(PyValue::Kind::Function) &&
           it->second.asFunction().def == kernel.def;
  }
  return kernel.module->isBound(kernel);
}

/// The kernels that a name may mean: by its path, else by its name alone, where
/// one at the top hides those inside. Of several with one path it means the one
/// that the path's name is bound to in the end, as in Python.
std::vector<FunctionPtr> KernelIndex::named(StringRef name) {
  StringRef last = name.contains('.') ? name.rsplit('.').second : name;
  const std::vector<FunctionPtr> &candidates = byName[last];
  if (candidates.size() == 1 && last == name)
    return candidates;
  std::vector<FunctionPtr> found;
  std::map<std::string, size_t> places; // of each path in `found`
  FunctionPtr exact;
  auto replaces = [](const FunctionPtr &later, const FunctionPtr &earlier) {
    return isBound(*later) || !isBound(*earlier);
  };
  for (const FunctionPtr &kernel : candidates) {
    std::string path = qualifiedName(*kernel);
    if (path == name && (!exact || replaces(kernel, exact)))
      exact = kernel;
    if (path == name || kernel->name() != name)
      continue;
    auto [place, isNew] = places.try_emplace(path, found.size());
    if (isNew)
      found.push_back(kernel);
    else if (replaces(kernel, found[place->second]))
      found[place->second] = kernel;
  }
  if (exact)
    return {exact};
  // `kernel = triton.jit(function)`: either name will do.
  for (const FunctionPtr &kernel : candidates)
    if (found.empty() && kernel->def && kernel->def->name == name)
      found.push_back(kernel);
  return found;
}

static FunctionPtr chooseKernel(eval::ModuleEnv &module, KernelIndex &index,
                                const CompileOptions &options, DiagnosticEngine &diagnostics) {
  const SourceFile *file = &module.source();
  const std::vector<FunctionPtr> &kernels = index.kernels;
  if (options.kernel.empty()) {
    std::vector<FunctionPtr> candidates = withoutHelpers(kernels);
    if (candidates.size() == 1)
      return candidates[0];
    std::string message = "no function of the file is decorated with `@triton.jit`";
    if (!kernels.empty())
      message = formatted("the file has several kernels, name one with --kernel: {}",
                          quotedNames(candidates.empty() ? kernels : candidates, index));
    diagnostics.error(nullptr, {}, message);
    return nullptr;
  }
  std::vector<FunctionPtr> found = index.named(options.kernel);
  if (found.size() == 1)
    return found[0];
  if (!found.empty()) {
    diagnostics.error(file, found[1]->range(),
                      formatted("there are several kernels `{}`, name one with --kernel: {}",
                                options.kernel, quotedNames(found, index)));
    return nullptr;
  }
  for (const FunctionPtr &function : module.functions())
    if (function->name() == options.kernel) {
      diagnostics.error(
          file, function->range(),
          formatted("`{}` is not a kernel: decorate it with `@triton.jit`", options.kernel));
      return nullptr;
    }
  std::vector<std::string> names;
  for (const FunctionPtr &kernel : kernels)
    names.push_back(index.qualifiedName(*kernel));
  StringRef near = nearestName(options.kernel, {names.begin(), names.end()});
  std::string hint = !near.empty()      ? formatted("; did you mean `{}`?", near)
                     : !kernels.empty() ? formatted("; it has {}", quotedNames(kernels, index))
                                        : "; it has no kernels";
  diagnostics.error(
      nullptr, {},
      formatted("there is no kernel `{}` in {}{}", options.kernel, file->name(), hint));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

namespace {

/// Turns parameters into arguments of the function and values of the walk.
class ArgumentBuilder {
public:
  ArgumentBuilder(Specializer &s, const Parameters::Slot &slot, Location location, Block &entry,
                  eval::ModuleEnv &module, SmallVectorImpl<DictionaryAttr> &attributes)
      : s(s), slot(slot), location(location), entry(entry), module(module), attributes(attributes) {
  }

  std::optional<PyValue> build(const ArgumentType &type, std::string &problem);

private:
  std::optional<PyValue> buildScalar(const ArgumentType &type, std::string &problem);
  std::optional<PyValue> buildDescriptor(const ArgumentType &type, std::string &problem);
  NamedAttrList origin(const DType &type);
  std::shared_ptr<const eval::ClassObject> namedTupleClass(const ArgumentType &type);
  Specializer &s;
  const Parameters::Slot &slot;
  Location location;
  Block &entry;
  eval::ModuleEnv &module;
  SmallVectorImpl<DictionaryAttr> &attributes;
  SmallVector<int64_t> path;
};

} // namespace

/// Where an argument of the function comes from.
NamedAttrList ArgumentBuilder::origin(const DType &type) {
  Builder &b = s.builder;
  NamedAttrList list;
  list.append(kSignatureIndexAttr, b.getI64IntegerAttr(slot.index));
  if (!path.empty())
    list.append(kSignaturePathAttr, b.getDenseI64ArrayAttr(path));
  list.append(kSourceTypeAttr, b.getStringAttr(type.str()));
  return list;
}

std::optional<PyValue> ArgumentBuilder::buildScalar(const ArgumentType &type,
                                                    std::string &problem) {
  if (type.isOne)
    return PyValue::integer(1);
  if (!supportedOn(type.type, s.target, problem))
    return std::nullopt;
  Type ir = s.irType(type.type);
  if (!ir) {
    problem = formatted("no argument can have type {}", type.type.str());
    return std::nullopt;
  }
  Builder &b = s.builder;
  NamedAttrList list = origin(type.type);
  if (type.divisibility > 1)
    list.append(kDivisibilityAttr, b.getI32IntegerAttr(type.divisibility));
  attributes.push_back(list.getDictionary(b.getContext()));
  return s.wrap({entry.addArgument(ir, location), type.type});
}

/// A descriptor arrives as its parts: base, sizes, and strides but the last.
std::optional<PyValue> ArgumentBuilder::buildDescriptor(const ArgumentType &type,
                                                        std::string &problem) {
  if (!supportedOn(type.type, s.target, problem) ||
      !checkDescriptorBlock(type.type, type.block, problem))
    return std::nullopt;
  Builder &b = s.builder;
  auto part = [&](const DType &dtype, StringRef name, int dim, int divisibility) {
    NamedAttrList list = origin(dtype);
    list.append(kDescriptorPartAttr, b.getStringAttr(name));
    if (dim >= 0)
      list.append(kDescriptorDimAttr, b.getI32IntegerAttr(dim));
    if (divisibility > 1)
      list.append(kDivisibilityAttr, b.getI32IntegerAttr(divisibility));
    attributes.push_back(list.getDictionary(b.getContext()));
    return s.wrap({entry.addArgument(s.irType(dtype), location), dtype});
  };
  int rank = type.block.size();
  PyValue base = part(DType::pointer(type.type), "base", -1, 16);
  std::vector<PyValue> shape, strides;
  for (int d = 0; d < rank; ++d)
    shape.push_back(part(Kind::Int32, "shape", d, 1));
  for (int d = 0; d + 1 < rank; ++d)
    strides.push_back(part(Kind::Int64, "stride", d, 128 / type.type.bitWidth()));
  s.builder.setInsertionPointToEnd(&entry);
  Value one = arith::ConstantOp::create(s.builder, location, s.builder.getI64IntegerAttr(1));
  strides.push_back(s.wrap({one, DType(Kind::Int64)}));
  return makeTensorDescriptor(base, std::move(shape), std::move(strides),
                              DType::block(type.type, type.block), type.padNan ? "nan" : "zero");
}

/// The file's class of that name, so that its methods work; else one with fields only.
std::shared_ptr<const eval::ClassObject>
ArgumentBuilder::namedTupleClass(const ArgumentType &type) {
  eval::Result known = module.lookup(type.className);
  if (known && known->is(PyValue::Kind::Class) && known->asClass()->isNamedTuple &&
      known->asClass()->fields == type.fields)
    return known->asClass();
  auto made = std::make_shared<eval::ClassObject>();
  made->name = type.className.empty() ? "tuple" : type.className;
  made->isNamedTuple = true;
  made->fields = type.fields;
  return made;
}

std::optional<PyValue> ArgumentBuilder::build(const ArgumentType &type, std::string &problem) {
  switch (type.kind) {
  case ArgumentType::Kind::None:
    return PyValue::none();
  case ArgumentType::Kind::Constant:
    return parseConstant(type.constant, module, problem);
  case ArgumentType::Kind::Scalar:
    return buildScalar(type, problem);
  case ArgumentType::Kind::Descriptor:
    return buildDescriptor(type, problem);
  case ArgumentType::Kind::Tuple: {
    std::vector<PyValue> elements;
    for (auto [i, element] : llvm::enumerate(type.elements)) {
      path.push_back(i);
      std::optional<PyValue> value = build(element, problem);
      path.pop_back();
      if (!value)
        return std::nullopt;
      elements.push_back(std::move(*value));
    }
    if (type.fields.empty())
      return PyValue::tuple(std::move(elements));
    return PyValue::namedTuple(namedTupleClass(type), std::move(elements));
  }
  }
  return std::nullopt;
}

/// The block arguments for all parameters; false after reporting errors.
static bool buildArguments(Specializer &s, const eval::FunctionObject &kernel,
                           Parameters &parameters, Block &entry,
                           SmallVectorImpl<DictionaryAttr> &attributes,
                           std::vector<PyValue> &values) {
  const SourceFile &file = kernel.module->source();
  StringAttr name = s.builder.getStringAttr(file.name());
  bool valid = true;
  for (Parameters::Slot &slot : parameters.slots) {
    if (slot.isConstexpr) {
      values.push_back(slot.value);
      continue;
    }
    SourceFile::LineColumn at = file.locate(slot.parameter->range.begin);
    Location location = FileLineColLoc::get(name, at.line, at.column);
    location = NameLoc::get(s.builder.getStringAttr(slot.parameter->name), location);
    std::string problem;
    std::optional<PyValue> value =
        ArgumentBuilder(s, slot, location, entry, *kernel.module, attributes)
            .build(slot.type, problem);
    if (value) {
      values.push_back(std::move(*value));
      continue;
    }
    s.diagnostics.error(&file, slot.parameter->range,
                        formatted("parameter `{}`: {}", slot.parameter->name, problem));
    valid = false;
  }
  return valid;
}

/// A kernel's name as PTX can have it: of other letters than ASCII's, every byte as
/// `$` and its hexadecimal digits. What PTX, or the code of a kernel, means something else by gets
/// a `$` behind it.
static std::string entryName(StringRef name) {
  static constexpr StringRef taken[] = {"_", "WARP_SZ", "vprintf", "__assertfail", "tile_shared"};
  if (llvm::is_contained(taken, name))
    return name.str() + "$";
  std::string out;
  for (char c : name)
    out += llvm::isAlnum(c) || c == '_' ? std::string(1, c)
                                        : "$" + llvm::utohexstr(uint8_t(c), false, 2);
  return out;
}

/// What an author promises of a value counts for all that follows in the same block, whether
/// or not it is said of the call's result: `tl.multiple_of(p, 16)` may be a statement.
static void spreadHints(func::FuncOp function) {
  function.walk([](HintOp hint) {
    hint.getSrc().replaceUsesWithIf(hint.getResult(), [&](OpOperand &use) {
      Operation *user = hint->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && hint->isBeforeInBlock(user);
    });
  });
}

static OwningOpRef<ModuleOp> buildModule(Specializer &s, const eval::FunctionObject &kernel,
                                         Parameters &parameters) {
  const SourceFile &file = kernel.module->source();
  const CompileOptions &options = s.options;
  OpBuilder &b = s.builder;
  SourceFile::LineColumn at = file.locate(kernel.range().begin);
  Location location = FileLineColLoc::get(b.getStringAttr(file.name()), at.line, at.column);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b, location);
  (*module)->setAttr(kTargetAttr, TargetAttr::get(b.getContext(), &s.target));
  (*module)->setAttr(kKernelAttr,
                     KernelAttr::get(b.getContext(), options.numWarps, options.numStages,
                                     options.numCtas > 1 ? options.numCtas : 0, options.warpRoles));

  auto entry = std::make_unique<Block>();
  SmallVector<DictionaryAttr> attributes;
  std::vector<PyValue> values;
  if (!buildArguments(s, kernel, parameters, *entry, attributes, values))
    return {};
  b.setInsertionPointToEnd(module->getBody());
  auto type = b.getFunctionType(entry->getArgumentTypes(), {});
  auto function = func::FuncOp::create(b, location, entryName(kernel.name()), type);
  function.setAllArgAttrs(attributes);
  Block *body = entry.release();
  function.getBody().push_back(body);
  b.setInsertionPointToEnd(body);
  unsigned errors = s.diagnostics.numErrors();
  s.runKernel(kernel, values);
  if (s.diagnostics.numErrors() != errors)
    return {};
  spreadHints(function);
  return module;
}

} // namespace tile::specialize

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

namespace tile::frontend {

void registerDialects(MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      func::FuncDialect>();
}

struct KernelFile::Impl {
  Impl(const SourceFile &file, const ast::Module &tree, std::vector<std::string> includePaths)
      : file(file), program(std::make_shared<eval::Program>(std::move(includePaths))),
        module(program->add(file, tree)) {}
  specialize::KernelIndex &index() {
    if (!found)
      found.emplace(module.kernels(), module.tree());
    return *found;
  }
  const SourceFile &file;
  std::shared_ptr<eval::Program> program;
  eval::ModuleEnv &module;
  std::optional<specialize::KernelIndex> found;
};

KernelFile::KernelFile(const SourceFile &file, const ast::Module &module,
                       std::vector<std::string> includePaths)
    : impl(std::make_unique<Impl>(file, module, std::move(includePaths))) {}

KernelFile::~KernelFile() = default;

eval::ModuleEnv &KernelFile::environment() { return impl->module; }

const std::vector<std::shared_ptr<eval::FunctionObject>> &KernelFile::kernels() {
  return impl->index().kernels;
}

const std::vector<Dependency> &KernelFile::dependencies() const {
  return impl->program->dependencies();
}

OwningOpRef<ModuleOp> KernelFile::specialize(MLIRContext &context, const CompileOptions &options,
                                             DiagnosticEngine &diagnostics) {
  eval::Program &program = *impl->program;
  program.evaluator().resetSteps();
  // What the kernel does with constants outside of the evaluator.
  uint64_t steps = 0;
  eval::Work work(steps, program.evaluator().limits.steps);
  OwningOpRef<ModuleOp> result;
  if (auto kernel = specialize::chooseKernel(impl->module, impl->index(), options, diagnostics)) {
    specialize::Parameters parameters(*kernel, program, options, diagnostics);
    specialize::Specializer specializer(context, options, diagnostics, program);
    if (parameters.resolve())
      result = specialize::buildModule(specializer, *kernel, parameters);
    if (!eval::Work::spend(0) && !diagnostics.hasErrors()) {
      diagnostics.error(&impl->file, kernel->range(), eval::Work::error()->diagnostic.message);
      result = {};
    }
    program.evaluator().hooks = nullptr;
  }
  // Errors may lie in files that the program has loaded for imports.
  if (!diagnostics.all().empty())
    diagnostics.retain(impl->program);
  return result;
}

/// A kernel that is given in the tile dialect already, with what the options ask of it.
static OwningOpRef<ModuleOp> readModule(MLIRContext &context, const SourceFile &file,
                                        const CompileOptions &options,
                                        DiagnosticEngine &diagnostics) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    message += (message.empty() ? "" : "; ") + d.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(file.text(), ParserConfig(&context));
  if (!module || module->getOps<func::FuncOp>().empty()) {
    diagnostics.error(&file, {}, formatted("this is no module with a function: {}", message));
    return {};
  }
  (*module)->setAttr(kTargetAttr, TargetAttr::get(&context, &targetNamed(options.target)));
  (*module)->setAttr(kKernelAttr,
                     KernelAttr::get(&context, options.numWarps, options.numStages,
                                     options.numCtas > 1 ? options.numCtas : 0, options.warpRoles));
  return module;
}

OwningOpRef<ModuleOp> specialize(MLIRContext &context, const SourceFile &file,
                                 const ast::Module &tree, const CompileOptions &options,
                                 DiagnosticEngine &diagnostics,
                                 std::vector<Dependency> *dependencies) {
  if (file.name().ends_with(kModuleEnding))
    return readModule(context, file, options, diagnostics);
  KernelFile kernels(file, tree, options.includePaths);
  OwningOpRef<ModuleOp> result = kernels.specialize(context, options, diagnostics);
  if (dependencies)
    *dependencies = kernels.dependencies();
  return result;
}

} // namespace tile::frontend
