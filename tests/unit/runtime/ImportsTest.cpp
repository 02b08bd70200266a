//===- ImportsTest.cpp - what a kernel imports decides what it is ---------===//
//
// On each path that compiles (for a GPU, the emulator, the interpreter) a kernel is
// compiled anew when a file that it imports, or looked for in vain, has changed.
//
//===----------------------------------------------------------------------===//
#include "frontend/Parser.h"
#include "runtime/CompileService.h"
#include "runtime/devices/EmuDevice.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tile;
using namespace tile::runtime;
using frontend::SourceFile;

namespace {

const char *const kernelText = R"py(
import triton
import triton.language as tl

try:
    from fast import V
except ImportError:
    from h import V

@triton.jit
def k(out: "*i32"):
    tl.store(out, V)
)py";

/// A path that compiles and keeps what it compiled, as long as one of these lives.
class Path {
public:
  virtual ~Path() = default;
  /// What the kernel of a file stores; -1 if it does not compile.
  virtual int64_t valueIn(const SourceFile &file) = 0;
};

class GpuPath : public Path {
public:
  explicit GpuPath(std::string cacheFolder = "")
      : service(pooledCompiler().compile, std::move(cacheFolder)) {}
  int64_t valueIn(const SourceFile &file) override {
    CompileOptions options;
    options.lineInfo = false; // which names the file, with any digits
    auto kernel = service.compile(file, options);
    if (!kernel) {
      ADD_FAILURE() << llvm::toString(kernel.takeError());
      return -1;
    }
    // Stored numbers are six digits long: nothing else in a small kernel is.
    llvm::StringRef ptx = (*kernel)->ptx;
    for (llvm::StringRef rest = ptx; !(rest = rest.drop_until(llvm::isDigit)).empty();) {
      llvm::StringRef digits = rest.take_while(llvm::isDigit);
      if (digits.size() == 6)
        return std::stoi(digits.str());
      rest = rest.drop_front(digits.size());
    }
    ADD_FAILURE() << ptx.str();
    return -1;
  }

private:
  CompileService service;
};

class DevicePath : public Path {
public:
  explicit DevicePath(std::unique_ptr<Device> device) : device(std::move(device)) {}
  int64_t valueIn(const SourceFile &file) override {
    frontend::DiagnosticEngine diagnostics;
    ast::Module module = frontend::parse(file, diagnostics);
    KernelRequest request;
    request.file = &file;
    request.module = &module;
    std::unique_ptr<Kernel> kernel = device->prepare(request, diagnostics);
    DevicePtr out = llvm::cantFail(device->allocate(4));
    LaunchConfig config;
    config.args = {LaunchArg::pointer(out)};
    int32_t value = -1;
    if (!kernel || !device->launch(*kernel, config, diagnostics))
      ADD_FAILURE() << diagnostics.str();
    else
      llvm::cantFail(device->download(&value, out, 4));
    llvm::cantFail(device->free(out));
    return value;
  }

private:
  std::unique_ptr<Device> device;
};

class Imports : public testing::TestWithParam<const char *> {
protected:
  Imports() {
    if (llvm::sys::fs::createUniqueDirectory("tile-imports", folder))
      std::abort();
    std::string kind = GetParam();
    if (kind == "gpu")
      path = std::make_unique<GpuPath>();
    else if (kind == "emu")
      path = std::make_unique<DevicePath>(createEmuDevice({}));
    else
      path = std::make_unique<DevicePath>(createCpuDevice({}));
  }
  ~Imports() override { llvm::sys::fs::remove_directories(folder); }

  std::string at(const llvm::Twine &name) { return (folder + "/" + name).str(); }
  void write(const llvm::Twine &name, llvm::StringRef text) {
    std::string file = at(name);
    ASSERT_FALSE(llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file)));
    std::error_code code;
    llvm::raw_fd_ostream(file, code) << text;
    ASSERT_FALSE(code);
  }
  int64_t valueIn(const llvm::Twine &name) {
    return path->valueIn(SourceFile(at(name), kernelText));
  }

  llvm::SmallString<128> folder;
  std::unique_ptr<Path> path;
};

TEST_P(Imports, FilesOfOneTextInTwoFolders) {
  write("A/h.py", "V = 111111\n");
  write("B/h.py", "V = 222222\n");
  EXPECT_EQ(valueIn("A/k.tile"), 111111);
  EXPECT_EQ(valueIn("B/k.tile"), 222222);
  EXPECT_EQ(valueIn("A/k.tile"), 111111);
}

TEST_P(Imports, AnEditedFile) {
  write("h.py", "V = 111111\n");
  EXPECT_EQ(valueIn("k.tile"), 111111);
  write("h.py", "V = 222222\n"); // of the same size, within the same second
  EXPECT_EQ(valueIn("k.tile"), 222222);
  write("h.py", "V = 111111\n");
  EXPECT_EQ(valueIn("k.tile"), 111111);
}

TEST_P(Imports, AFileThatWasNotThere) {
  write("h.py", "V = 111111\n");
  EXPECT_EQ(valueIn("k.tile"), 111111);
  write("fast.py", "V = 222222\n");
  EXPECT_EQ(valueIn("k.tile"), 222222);
  write("fast.tile", "V = 333333\n"); // is looked for first
  EXPECT_EQ(valueIn("k.tile"), 333333);
  llvm::sys::fs::remove(at("fast.tile"));
  llvm::sys::fs::remove(at("fast.py"));
  EXPECT_EQ(valueIn("k.tile"), 111111);
  write("fast/__init__.py", "V = 444444\n");
  EXPECT_EQ(valueIn("k.tile"), 444444);
}

TEST_P(Imports, AFileThatAnImportedOneImports) {
  write("h.py", "from deep import W\nV = W + 1\n");
  write("deep.py", "W = 111111\n");
  EXPECT_EQ(valueIn("k.tile"), 111112);
  write("deep.py", "W = 222222\n");
  EXPECT_EQ(valueIn("k.tile"), 222223);
}

TEST_P(Imports, AFileThatDoesNotParseAndThenDoes) {
  write("h.py", "V = 111111\n");
  write("fast.py", "V = = 222222\n");
  EXPECT_EQ(valueIn("k.tile"), 111111);
  write("fast.py", "V = 0+222222\n");
  EXPECT_EQ(valueIn("k.tile"), 222222);
}

INSTANTIATE_TEST_SUITE_P(Paths, Imports, testing::Values("gpu", "emu", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

/// On disk, for another process.
class ImportsOnDisk : public Imports {
protected:
  int64_t valueOnDisk(const std::string &name) {
    return GpuPath(at("cache")).valueIn(SourceFile(name, kernelText));
  }
};

TEST_P(ImportsOnDisk, TheCurrentFolderIsAnother) {
  write("A/h.py", "V = 111111\n");
  write("B/h.py", "V = 222222\n");
  llvm::SmallString<128> before;
  ASSERT_FALSE(llvm::sys::fs::current_path(before));
  for (auto [inside, value] : {std::pair("A", 111111), {"B", 222222}, {"A", 111111}}) {
    ASSERT_FALSE(llvm::sys::fs::set_current_path(at(inside)));
    EXPECT_EQ(valueOnDisk("k.tile"), value);
  }
  ASSERT_FALSE(llvm::sys::fs::set_current_path(before));
}

TEST_P(ImportsOnDisk, AFileThatWasNotThere) {
  write("h.py", "V = 111111\n");
  EXPECT_EQ(valueOnDisk(at("k.tile")), 111111);
  write("fast.py", "V = 222222\n");
  EXPECT_EQ(valueOnDisk(at("k.tile")), 222222);
}

TEST_P(ImportsOnDisk, ALibraryOfDeviceFunctions) {
  std::string text = R"py(
import triton
import triton.language as tl

@triton.jit
def k(out: "*i32"):
    x = tl.load(out)
    tl.store(out, tl.extern_elementwise("", ")py" +
                     at("lib.ll") + R"py(", [x], {(tl.int32,): ("mine", tl.int32)}, True))
)py";
  SourceFile file(at("lib.tile"), text);
  GpuPath running(at("cache"));
  for (int value : {111111, 222222}) {
    write("lib.ll", "define i32 @mine(i32 %x) {\n  %y = add i32 %x, " + std::to_string(value) +
                        "\n  ret i32 %y\n}\n");
    EXPECT_EQ(running.valueIn(file), value);
    EXPECT_EQ(GpuPath(at("cache")).valueIn(file), value);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, ImportsOnDisk, testing::Values("gpu"));

} // namespace
