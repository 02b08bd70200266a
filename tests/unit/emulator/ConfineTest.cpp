//===- ConfineTest.cpp - code that means the host harm --------------------===//
//
// Functions as a bitcode file that `extern_elementwise` names may hold them. None of them
// reads or writes memory of the host that is not the kernel's; what could is reported
// where it runs, or refused by name.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/emulator/EmuTest.h"
#include <cstdlib>

using namespace tile::emu;

namespace {

/// A kernel that stores what `@f` makes of each thread's number and of p0[0], a 64-bit
/// number that the test chooses.
std::string calling(const std::string &library) {
  return kernel("  %n = load i64, ptr addrspace(1) %p0\n"
                "  %v = call i64 @f(i32 %tid, i64 %n)\n"
                "  %to = getelementptr i64, ptr addrspace(1) %p1, i32 %tid\n"
                "  store i64 %v, ptr addrspace(1) %to\n  ret void",
                2, library);
}

struct Outcome {
  Report report;
  std::vector<uint64_t> results;
};

Outcome run(const std::string &library, uint64_t number = 0) {
  Bench bench(calling(library));
  std::vector<uint64_t> in{number}, out(4);
  bench.buffer(in), bench.buffer(out);
  Report report = bench.run(4);
  return {std::move(report), out};
}

std::string refusal(const std::string &library) {
  std::string error;
  auto program = Program::load(calling(library), {}, error);
  EXPECT_FALSE(program);
  return error;
}

void expectOutOfBounds(const std::string &library, uint64_t number = 0) {
  Outcome outcome = run(library, number);
  EXPECT_TRUE(outcome.report.has(FindingKind::OutOfBounds)) << outcome.report.str();
}

const char *arrayOnStack = "  %a = alloca [8 x i64], align 8\n"
                           "  call void @llvm.memset.p0.i64(ptr %a, i8 1, i64 64, i1 false)\n"
                           "  %e = getelementptr [8 x i64], ptr %a, i64 0, i64 %n\n";
const char *memset = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
                     "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";

std::string function(const std::string &body) {
  return std::string(memset) + "define internal i64 @f(i32 %tid, i64 %n) noinline {\n" + body +
         "}\n";
}

/// Returns p0[0] of the host's own memory, as an address.
struct Secret {
  std::vector<uint64_t> bytes = std::vector<uint64_t>(64, 0x5ec2e7);
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes.data()); }
};

TEST(EmuConfine, AnArrayOnTheStackIsMemory) {
  std::string read =
      function(std::string(arrayOnStack) + "  %v = load i64, ptr %e\n  ret i64 %v\n");
  Outcome inside = run(read, 7);
  EXPECT_TRUE(inside.report.ok()) << inside.report.str();
  EXPECT_EQ(inside.results[3], 0x0101010101010101u);
}

TEST(EmuConfine, RunningOverTheStackIsReported) {
  for (uint64_t at : {uint64_t(8), uint64_t(9), uint64_t(100), ~uint64_t(0), uint64_t(1) << 40}) {
    expectOutOfBounds(
        function(std::string(arrayOnStack) + "  %v = load i64, ptr %e\n  ret i64 %v\n"), at);
    expectOutOfBounds(function(std::string(arrayOnStack) + "  store i64 -1, ptr %e\n  ret i64 0\n"),
                      at);
  }
  // A constant index, which the compiler sees.
  expectOutOfBounds(function("  %a = alloca [8 x i64]\n"
                             "  %e = getelementptr i8, ptr %a, i64 72\n"
                             "  store volatile i64 -1, ptr %e\n  ret i64 0\n"));
}

TEST(EmuConfine, PointersIntoTheHostAreReported) {
  Secret secret;
  for (std::string space : {"ptr", "ptr addrspace(5)", "ptr addrspace(4)", "ptr addrspace(1)"}) {
    std::string bits = space == "ptr addrspace(5)"
                           ? "  %w = trunc i64 %n to i32\n  %p = inttoptr i32 %w to " + space + "\n"
                           : "  %p = inttoptr i64 %n to " + space + "\n";
    Outcome read =
        run(function(bits + "  %v = load i64, " + space + " %p\n  ret i64 %v\n"), secret.address());
    EXPECT_TRUE(read.report.has(FindingKind::OutOfBounds)) << space << read.report.str();
    EXPECT_NE(read.results[0], 0x5ec2e7u);
    expectOutOfBounds(function(bits + "  store i64 1, " + space + " %p\n  ret i64 0\n"),
                      secret.address());
  }
  EXPECT_EQ(secret.bytes[0], 0x5ec2e7u);
}

TEST(EmuConfine, CopiesAndFillsAreChecked) {
  Secret secret;
  std::string pointers = "  %a = alloca [8 x i64]\n  %p = inttoptr i64 %n to ptr\n";
  std::string result = "  %v = load i64, ptr %a\n  ret i64 %v\n";
  Outcome read = run(
      function(pointers + "  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %p, i64 64, i1 false)\n" +
               result),
      secret.address());
  EXPECT_TRUE(read.report.has(FindingKind::OutOfBounds)) << read.report.str();
  EXPECT_NE(read.results[0], 0x5ec2e7u);
  expectOutOfBounds(function(
      pointers + "  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 65, i1 false)\n" + result));
  expectOutOfBounds(function(pointers +
                             "  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 512, i1 false)\n" +
                             result),
                    secret.address());
  EXPECT_EQ(secret.bytes[0], 0x5ec2e7u);
  // An argument that is passed by value is a copy too.
  expectOutOfBounds(std::string(memset) +
                        "define internal i64 @g(ptr byval([8 x i64]) %a) noinline {\n"
                        "  %v = load i64, ptr %a\n  ret i64 %v\n}\n"
                        "define internal i64 @f(i32 %tid, i64 %n) noinline {\n"
                        "  %p = inttoptr i64 %n to ptr\n"
                        "  %v = call i64 @g(ptr byval([8 x i64]) %p)\n  ret i64 %v\n}\n",
                    secret.address());
}

TEST(EmuConfine, ACopyThatOverlapsIsAMove) {
  Outcome moved =
      run(function("  %a = alloca [100 x i64]\n"
                   "  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 800, i1 false)\n"
                   "  %last = getelementptr i64, ptr %a, i64 98\n"
                   "  store i64 42, ptr %last\n"
                   "  %next = getelementptr i64, ptr %a, i64 1\n"
                   "  call void @llvm.memmove.p0.p0.i64(ptr %next, ptr %a, i64 792, i1 false)\n"
                   "  %at = getelementptr i64, ptr %a, i64 99\n"
                   "  %v = load i64, ptr %at\n  ret i64 %v\n") +
          "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n");
  EXPECT_TRUE(moved.report.ok()) << moved.report.str();
  EXPECT_EQ(moved.results[0], 42u);
}

TEST(EmuConfine, ConstantsEndWhereTheyEnd) {
  std::string table = "@table = internal constant [4 x i64] [i64 10, i64 11, i64 12, i64 13]\n";
  std::string at = "  %e = getelementptr [4 x i64], ptr @table, i64 0, i64 %n\n";
  std::string read = table + function(at + "  %v = load i64, ptr %e\n  ret i64 %v\n");
  EXPECT_EQ(run(read, 3).results[0], 13u);
  expectOutOfBounds(read, 4);
  expectOutOfBounds(read, ~uint64_t(0));
  expectOutOfBounds(table + function(at + "  store i64 1, ptr %e\n  ret i64 0\n"), 1);
}

TEST(EmuConfine, SymbolsOfTheHostAreRefused) {
  EXPECT_EQ(refusal("@environ = external global ptr\n" +
                    function("  %v = load i64, ptr @environ\n  ret i64 %v\n")),
            "the emulator does not know the variable `environ`, which nothing defines");
  EXPECT_EQ(refusal("declare i32 @system(ptr)\n" +
                    function("  %v = ptrtoint ptr @system to i64\n  ret i64 %v\n")),
            "the emulator does not know the address of `system`, which nothing defines");
  EXPECT_EQ(
      refusal("declare i64 @getpid()\n" + function("  %v = call i64 @getpid()\n  ret i64 %v\n")),
      "the emulator does not know the function `getpid`");
  EXPECT_NE(refusal("@secret = external thread_local global i64\n" +
                    function("  %v = load i64, ptr @secret\n  ret i64 %v\n")),
            "");
}

TEST(EmuConfine, NamesOfTheMachineAreItsOwn) {
  EXPECT_EQ(
      refusal("define internal ptr @tileEmuGlobal(ptr %t, i64 %a, i32 %b, i32 %c, i32 %d) {\n"
              "  %p = inttoptr i64 %a to ptr\n  ret ptr %p\n}\n" +
              function("  ret i64 0\n")),
      "the emulator does not know the symbol `tileEmuGlobal`: the name is the emulator's own");
}

TEST(EmuConfine, JumpsAndMachineCodeAreRefused) {
  std::string indirect = refusal(function("  %p = inttoptr i64 %n to ptr\n"
                                          "  indirectbr ptr %p, [label %x]\nx:\n  ret i64 0\n"));
  EXPECT_EQ(indirect, "the emulator does not know the instruction `indirectbr`");
  EXPECT_EQ(
      refusal(function("  %p = inttoptr i64 %n to ptr\n  %v = call i64 %p()\n  ret i64 %v\n")),
      "the emulator does not know indirect calls");
  EXPECT_EQ(refusal("module asm \".globl x\"\n" + function("  ret i64 0\n")),
            "the emulator does not know assembly outside of functions");
  std::string masked =
      refusal("declare void @llvm.x86.sse2.maskmov.dqu(<16 x i8>, <16 x i8>, ptr)\n" +
              function("  %p = inttoptr i64 %n to ptr\n"
                       "  call void @llvm.x86.sse2.maskmov.dqu(<16 x i8> zeroinitializer, "
                       "<16 x i8> zeroinitializer, ptr %p)\n  ret i64 0\n"));
  EXPECT_EQ(masked, "the emulator does not know the intrinsic `llvm.x86.sse2.maskmov.dqu`");
  EXPECT_EQ(refusal("declare ptr @llvm.returnaddress(i32)\n" +
                    function("  %p = call ptr @llvm.returnaddress(i32 0)\n"
                             "  %v = ptrtoint ptr %p to i64\n  ret i64 %v\n")),
            "the emulator does not know the intrinsic `llvm.returnaddress`");
}

TEST(EmuConfine, StacksHaveAnEnd) {
  EXPECT_EQ(refusal("define internal i64 @g(i64 %n) noinline {\n"
                    "  %m = add i64 %n, 1\n  %v = call i64 @g(i64 %m)\n  %w = add i64 %v, %n\n"
                    "  ret i64 %w\n}\n" +
                    function("  %v = call i64 @g(i64 %n)\n  ret i64 %v\n")),
            "the emulator does not know recursion: `g` calls itself");
  EXPECT_EQ(refusal(function("  %a = alloca [1000000 x i64]\n"
                             "  %e = getelementptr i64, ptr %a, i64 %n\n  store i64 1, ptr %e\n"
                             "  ret i64 0\n")),
            "the emulator does not know so much private memory: a variable of 8000000 bytes, where "
            "a thread has 524288");
  EXPECT_EQ(refusal(function("  %a = alloca i64, i64 %n\n  store i64 1, ptr %a\n  ret i64 0\n")),
            "the emulator does not know private memory whose size is not known before it runs");
  EXPECT_EQ(
      refusal(function("  br label %l\nl:\n  %i = phi i64 [0, %0], [%j, %l]\n"
                       "  %a = alloca [512 x i64]\n  store volatile i64 %n, ptr %a\n"
                       "  %j = add i64 %i, 1\n  %c = icmp ult i64 %j, 1000000\n"
                       "  br i1 %c, label %l, label %e\ne:\n  ret i64 0\n")),
      "the emulator does not know private memory that is taken after a function's first block");
  EXPECT_EQ(refusal(function("  %a = alloca [40000 x i64]\n  %b = alloca [40000 x i64]\n"
                             "  %e = getelementptr i64, ptr %a, i64 %n\n  store i64 1, ptr %e\n"
                             "  %g = getelementptr i64, ptr %b, i64 %n\n  store i64 1, ptr %g\n"
                             "  ret i64 0\n"))
                .substr(0, 30),
            "the kernel needs 640032 bytes ");
}

TEST(EmuConfine, MemoryOfModulesHasAnEnd) {
  EXPECT_EQ(refusal("@g = internal global [4294967296 x i8] zeroinitializer\n" +
                    function("  %e = getelementptr i8, ptr @g, i64 %n\n"
                             "  store i8 1, ptr %e\n  ret i64 0\n")),
            "the emulator does not know so many variables: up to `g` they take 4294967296 bytes, "
            "where a module has 67108864");
  EXPECT_EQ(refusal("@g = internal global i64 0, align 8192\n" +
                    function("  store i64 1, ptr @g\n  ret i64 0\n")),
            "the emulator does not know an alignment of 8192 bytes, as of `g`: at most 4096");
}

/// `@f` calls `@f1` twice, that calls `@f2` twice, and so on.
std::string doubling(unsigned depth, const std::string &last) {
  std::string text;
  for (unsigned i = 1; i <= depth; ++i) {
    std::string next = "call i64 @f" + std::to_string(i + 1);
    text += "define internal i64 @f" + std::to_string(i) + "(i64 %n) noinline {\n";
    text += i == depth
                ? last + "  ret i64 %n\n}\n"
                : "  %a = " + next + "(i64 %n)\n  %b = " + next + "(i64 %a)\n  ret i64 %b\n}\n";
  }
  return text + function("  %v = call i64 @f1(i64 %n)\n  ret i64 %v\n");
}

TEST(EmuConfine, CallsThatDoubleAreRefused) {
  std::string text = " has more than 1048576 instructions, with those of all that it calls";
  EXPECT_EQ(refusal(doubling(40, "")), "the emulator does not know so much code: `f21`" + text);
  EXPECT_EQ(refusal(doubling(40, "  store volatile i64 1, ptr null\n")),
            "the emulator does not know so much code: `f22`" + text);
}

TEST(EmuConfine, WhatFunctionsOfFunctionsDoIsTheMachines) {
  Secret secret;
  std::string pointer = "  %p = inttoptr i64 %n to ptr\n";
  for (const char *access :
       {"  store volatile i64 1, ptr %p\n", "  %o = atomicrmw add ptr %p, i64 1 seq_cst\n",
        "  %o = cmpxchg ptr %p, i64 0, i64 1 seq_cst seq_cst\n"}) {
    Outcome outcome = run(doubling(3, pointer + access), secret.address());
    EXPECT_TRUE(outcome.report.has(FindingKind::OutOfBounds)) << access << outcome.report.str();
  }
  EXPECT_EQ(secret.bytes[0], 0x5ec2e7u);
  Outcome trapped = run(doubling(3, "  call void @llvm.trap()\n") + "declare void @llvm.trap()\n");
  EXPECT_TRUE(trapped.report.has(FindingKind::Trap)) << trapped.report.str();
  // So is what only asks which thread it is.
  Outcome asks = run("define internal i64 @g() noinline {\n"
                     "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                     "  %w = zext i32 %t to i64\n  ret i64 %w\n}\n" +
                     function("  %v = call i64 @g()\n  ret i64 %v\n"));
  EXPECT_TRUE(asks.report.ok()) << asks.report.str();
  EXPECT_EQ(asks.results[3], 3u);
}

TEST(EmuConfine, WhatIsNeverReachedTraps) {
  Outcome outcome = run(function("  %c = icmp eq i64 %n, 1\n  br i1 %c, label %a, label %b\n"
                                 "a:\n  unreachable\nb:\n  ret i64 0\n"),
                        1);
  EXPECT_TRUE(outcome.report.has(FindingKind::Trap)) << outcome.report.str();
}

TEST(EmuConfine, DeviceOutputReadsNoStringsOfTheHost) {
  static const char secret[] = "a secret of the host";
  std::string print = "@format = internal constant [4 x i8] c\"%s\\0A\\00\"\n"
                      "declare i32 @vprintf(ptr, ptr)\n" +
                      function("  %a = alloca i64\n  store i64 %n, ptr %a\n"
                               "  %r = call i32 @vprintf(ptr @format, ptr %a)\n  ret i64 0\n");
  Bench bench(calling(print));
  std::vector<uint64_t> in{reinterpret_cast<uint64_t>(secret)}, out(4);
  bench.buffer(in), bench.buffer(out);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  RunOptions options;
  options.printTo = &os;
  Report report = bench.run(4, 0, options);
  EXPECT_TRUE(report.has(FindingKind::OutOfBounds)) << report.str();
  EXPECT_EQ(printed.find("secret"), std::string::npos);
}

} // namespace
