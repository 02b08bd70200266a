//===- DeviceLibrary.cpp - access to the embedded device math -------------===//
#include "devicelib/DeviceLibrary.h"
#include "text/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace llvm;

namespace tile {

alignas(16) static const unsigned char bitcodeBytes[] = {
#include "device_library.inc"
};

StringRef deviceLibraryBitcode() {
  return StringRef(reinterpret_cast<const char *>(bitcodeBytes), sizeof(bitcodeBytes));
}

static Expected<std::unique_ptr<Module>> loadLibrary(LLVMContext &context) {
  // Lazy: a function's body is read only when it is linked.
  return getLazyBitcodeModule(MemoryBufferRef(deviceLibraryBitcode(), "tile device library"),
                              context);
}

/// The names the library defines, read from the bitcode once.
static const StringMap<char> &definedSymbols() {
  static const StringMap<char> symbols = [] {
    StringMap<char> names;
    LLVMContext context;
    std::unique_ptr<Module> library = cantFail(loadLibrary(context));
    for (const Function &function : *library)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        names.try_emplace(function.getName());
    return names;
  }();
  return symbols;
}

bool deviceLibraryHas(StringRef symbol) { return definedSymbols().contains(symbol); }

/// The library's own copy of a name that it defines, else empty.
static StringRef definedName(const Twine &name) {
  SmallString<32> storage;
  auto found = definedSymbols().find(name.toStringRef(storage));
  return found == definedSymbols().end() ? StringRef() : found->getKey();
}

StringRef deviceFunctionForMath(StringRef mnemonic, unsigned width) {
  if (width != 32 && width != 64)
    return {};
  const bool single = width == 32;
  // Where the language promises less than the accurate function of that name.
  if (single && mnemonic == "exp")
    return "__tile_fast_expf";
  struct Renamed {
    StringLiteral mnemonic, name;
  };
  static constexpr Renamed renamed[] = {
      {"powf", "pow"},
      {"roundeven", "rint"},
      {"absf", "fabs"},
      {"fpowi", "powi"},
  };
  for (const Renamed &entry : renamed)
    if (mnemonic == entry.mnemonic)
      mnemonic = entry.name;
  return definedName(deviceFunctionPrefix + mnemonic + (single ? "f" : ""));
}

StringRef deviceFunctionForLibdevice(StringRef name) {
  if (!name.consume_front("__nv_"))
    return {};
  return definedName(deviceFunctionPrefix + name);
}

/// Bitcode of some of the library's functions and of what they call. Reading the
/// table of all its functions takes longer than linking the few that a kernel
/// calls, and kernels call the same few again and again.
static StringRef excerpt(ArrayRef<StringRef> names) {
  static std::mutex mutex;
  static StringMap<SmallVector<char, 0>> known;
  std::lock_guard<std::mutex> lock(mutex);
  SmallVector<char, 0> &bitcode = known[join(names, ",")];
  if (bitcode.empty()) {
    LLVMContext context;
    std::unique_ptr<Module> library = cantFail(loadLibrary(context));
    Module chosen(library->getModuleIdentifier(), context);
    chosen.setTargetTriple(library->getTargetTriple());
    chosen.setDataLayout(library->getDataLayout());
    for (StringRef name : names)
      Function::Create(library->getFunction(name)->getFunctionType(), GlobalValue::ExternalLinkage,
                       name, chosen);
    [[maybe_unused]] bool failed =
        Linker::linkModules(chosen, std::move(library), Linker::LinkOnlyNeeded);
    assert(!failed && "the library's functions fit into an empty module");
    raw_svector_ostream stream(bitcode);
    WriteBitcodeToFile(chosen, stream);
  }
  return StringRef(bitcode.data(), bitcode.size());
}

Error linkDeviceLibrary(Module &module) {
  SmallVector<StringRef> wanted;
  for (const Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with(deviceFunctionPrefix))
      wanted.push_back(function.getName());
  if (wanted.empty())
    return Error::success();
  for (StringRef name : wanted)
    if (!deviceLibraryHas(name))
      return createStringError(formatted("the device library has no function '{}'", name));

  Expected<std::unique_ptr<Module>> library = getLazyBitcodeModule(
      MemoryBufferRef(excerpt(wanted), "tile device library"), module.getContext());
  if (!library)
    return library.takeError();
  for (StringRef name : wanted) {
    const Function *definition = (*library)->getFunction(name);
    if (definition->getFunctionType() != module.getFunction(name)->getFunctionType())
      return createStringError(
          formatted("'{}' is called with another signature than it has", name));
  }
  // The library is layout-neutral: scalars only. Taking the module's own triple
  // and layout keeps the linker from warning about a difference.
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  SmallVector<std::string> linked;
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded,
                          [&](Module &, const StringSet<> &names) {
                            for (const auto &name : names)
                              linked.push_back(name.getKey().str());
                          }))
    return createStringError("linking the device library failed");
  for (const std::string &name : linked) {
    GlobalValue *value = module.getNamedValue(name);
    if (!value || value->isDeclaration())
      continue;
    value->setLinkage(GlobalValue::InternalLinkage);
    // Compiled for the oldest target; it is to be whatever the kernel is.
    if (auto *function = dyn_cast<Function>(value)) {
      function->removeFnAttr("target-cpu");
      function->removeFnAttr("target-features");
    }
  }
  return Error::success();
}

} // namespace tile
