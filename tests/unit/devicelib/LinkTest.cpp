//===- LinkTest.cpp - linking the device library into a module ------------===//
#include "devicelib/DeviceLibrary.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
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

TEST(DeviceLibrary, NamesSymbols) {
  EXPECT_EQ(tile::deviceFunctionForMath("exp", 32), "__tile_fast_expf");
  EXPECT_EQ(tile::deviceFunctionForMath("log", 32), "__tile_logf");
  EXPECT_EQ(tile::deviceFunctionForMath("log", 16), "");
  EXPECT_EQ(tile::deviceFunctionForMath("no_such", 32), "");
  EXPECT_EQ(tile::deviceFunctionForLibdevice("__nv_expf"), "__tile_expf");
  EXPECT_EQ(tile::deviceFunctionForLibdevice("__nv_no_such"), "");
  EXPECT_EQ(tile::deviceFunctionForLibdevice("sinf"), "");
}
