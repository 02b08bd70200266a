//===- LinkTest.cpp - linking the device library into a module ------------===//
#include "devicelib/DeviceLibrary.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>

using namespace llvm;

static std::unique_ptr<Module> parse(LLVMContext &context, StringRef text) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module;
}

TEST(DeviceLibrary, LinksOnlyWhatIsCalled) {
  LLVMContext context;
  auto module = parse(context, "target triple = \"nvptx64-nvidia-cuda\"\n"
                               "declare float @__tile_sinf(float)\n"
                               "define float @k(float %x) {\n"
                               "  %y = call float @__tile_sinf(float %x)\n  ret float %y\n}\n");
  Error error = tile::linkDeviceLibrary(*module);
  EXPECT_FALSE(error) << toString(std::move(error));
  EXPECT_FALSE(verifyModule(*module, &errs()));
  Function *sine = module->getFunction("__tile_sinf");
  ASSERT_TRUE(sine);
  EXPECT_FALSE(sine->isDeclaration());
  EXPECT_TRUE(sine->hasLocalLinkage());
  EXPECT_FALSE(sine->hasFnAttribute("target-features"));
  EXPECT_FALSE(module->getFunction("__tile_logf"));
}

TEST(DeviceLibrary, LinksTheSameAgain) {
  auto linked = [](StringRef names) {
    LLVMContext context; // another one for each kernel, as the compiler has
    std::string text = "target triple = \"nvptx64-nvidia-cuda\"\n";
    SmallVector<StringRef> functions;
    names.split(functions, ' ');
    for (StringRef name : functions)
      text += "declare float @" + name.str() + "(float)\n";
    auto module = parse(context, text);
    EXPECT_FALSE(tile::linkDeviceLibrary(*module));
    EXPECT_FALSE(verifyModule(*module, &errs()));
    std::string result;
    raw_string_ostream(result) << *module;
    return result;
  };
  std::string sine = linked("__tile_sinf");
  std::string both = linked("__tile_sinf __tile_lgammaf");
  EXPECT_EQ(linked("__tile_sinf"), sine);
  EXPECT_EQ(linked("__tile_sinf __tile_lgammaf"), both);
  EXPECT_NE(both.find("define internal"), std::string::npos);
  EXPECT_EQ(sine.find("lgamma"), std::string::npos);
}

TEST(DeviceLibrary, LeavesOtherModulesAlone) {
  LLVMContext context;
  auto module = parse(context, "define void @k() {\n  ret void\n}\n");
  EXPECT_FALSE(tile::linkDeviceLibrary(*module));
  EXPECT_EQ(module->size(), 1u);
}

TEST(DeviceLibrary, RefusesUnknownAndWronglyTypedCalls) {
  LLVMContext context;
  auto unknown = parse(context, "declare float @__tile_no_such(float)\n");
  EXPECT_EQ(toString(tile::linkDeviceLibrary(*unknown)),
            "the device library has no function '__tile_no_such'");
  auto wrong = parse(context, "declare double @__tile_sinf(double)\n");
  EXPECT_EQ(toString(tile::linkDeviceLibrary(*wrong)),
            "'__tile_sinf' is called with another signature than it has");
}

TEST(DeviceLibrary, HasEveryFloatFunctionOfTheMathDialect) {
  for (StringRef name :
       {"absf",  "acos",     "acosh", "asin",  "asinh", "atan", "atan2", "atanh", "cbrt",
        "ceil",  "copysign", "cos",   "cosh",  "erf",   "erfc", "exp",   "exp2",  "expm1",
        "floor", "fma",      "log",   "log10", "log1p", "log2", "powf",  "round", "roundeven",
        "rsqrt", "sin",      "sinh",  "sqrt",  "tan",   "tanh", "trunc"})
    for (unsigned width : {32, 64})
      EXPECT_TRUE(tile::deviceLibraryHas(tile::deviceFunctionForMath(name, width)))
          << name.str() << width;
}

TEST(DeviceLibrary, NamesSymbols) {
  EXPECT_EQ(tile::deviceFunctionForMath("exp", 32), "__tile_fast_expf");
  EXPECT_EQ(tile::deviceFunctionForMath("log", 32), "__tile_logf");
  EXPECT_EQ(tile::deviceFunctionForMath("log", 16), "");
  EXPECT_EQ(tile::deviceFunctionForMath("no_such", 32), "");
  EXPECT_EQ(tile::deviceFunctionForLibdevice("__nv_expf"), "__tile_expf");
  EXPECT_EQ(tile::deviceFunctionForLibdevice("__nv_no_such"), "");
  EXPECT_EQ(tile::deviceFunctionForLibdevice("sinf"), "");
}

/// PTX of the whole library for a processor, with what fusing is done in kernels.
static std::string wholeLibraryAsPtx(StringRef processor) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMContext context;
  std::unique_ptr<Module> module =
      cantFail(parseBitcodeFile(MemoryBufferRef(tile::deviceLibraryBitcode(), "lib"), context));
  for (Function &function : *module) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
  const Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  EXPECT_TRUE(target) << error;
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, processor, "+ptx87", options, Reloc::PIC_));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  EXPECT_FALSE(
      machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile));
  passes.run(*module);
  return text.str().str();
}

TEST(DeviceLibrary, IsAcceptedByPtxas) {
  ErrorOr<std::string> ptxas = sys::findProgramByName("ptxas");
  if (!ptxas)
    GTEST_SKIP() << "ptxas is not on the PATH: the library's PTX is not checked";
  for (StringRef processor : {"sm_75", "sm_90a", "sm_120a"}) {
    const std::string ptx = wholeLibraryAsPtx(processor);
    SmallString<64> input;
    int descriptor;
    ASSERT_FALSE(sys::fs::createTemporaryFile("devicelib", "ptx", descriptor, input));
    raw_fd_ostream(descriptor, /*shouldClose=*/true) << ptx;
    const std::string output = (input + ".o").str();
    EXPECT_EQ(sys::ExecuteAndWait(*ptxas, {*ptxas, "-c", "-arch", processor, input, "-o", output}),
              0)
        << processor.str();
    sys::fs::remove(input);
    sys::fs::remove(output);
  }
}
