//===- ProbesTest.cpp - which faults a run meets ---------------------------===//
#include "emulator/Emulator.h"
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace tile;
using namespace tile::mutation;

namespace {

std::string kernelOf(const std::string &statements) {
  std::string ir =
      "target datalayout = \"e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-"
      "i256:256-v16:16-v32:32-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n"
      "@smem = external addrspace(3) global [0 x i8], align 16\n"
      "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "define ptx_kernel void @k(ptr addrspace(1) %g, i32 %n) {\n"
      "  %s = ptrtoint ptr addrspace(3) @smem to i32\n  %b = add i32 %s, 64\n"
      "  %c = icmp ne i32 %n, 0\n"
      "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  for (llvm::StringRef line : llvm::split(statements, '\n'))
    if (line.consume_front("wait "))
      ir += "  call void asm sideeffect \"{\\0A.reg .pred done;\\0Aagain:\\0A"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\\0A@!done bra "
            "again;\\0A}\", \"r,r,~{memory}\"(i32 %b, i32 " +
            line.trim().str() + ")\n";
    else if (line.consume_front("%"))
      ir += ("  %" + line + "\n").str();
    else if (!line.trim().empty())
      ir += ("  call void asm sideeffect \"" + line.trim() +
             "\", \"r,l,b,r,~{memory}\"(i32 %s, ptr addrspace(1) %g, i1 %c, i32 %b)\n")
                .str();
  return ir + "  ret void\n}\n";
}

/// Of each fault of a kind, in order: `+` if a launch meets it.
std::string met(llvm::StringRef kind, const std::string &statements, int n = 1,
                uint32_t programs = 1, uint32_t threads = 1) {
  std::string ir = kernelOf(statements), result;
  size_t count = 0;
  {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(ir, diagnostic, context);
    EXPECT_TRUE(module) << diagnostic.getMessage().str();
    count = module ? findMutations(*module).size() : 0;
  }
  for (size_t i = 0; i < count; ++i) {
    bool isWanted = false;
    auto probe = [&](llvm::Module &m) {
      std::vector<Mutation> all = findMutations(m);
      isWanted = all[i].kind == kind;
      all[i].trapWhereMet();
    };
    emu::LoadOptions options;
    options.mutate = probe;
    std::string error;
    auto program = emu::Program::load(ir, options, error);
    EXPECT_TRUE(program) << error;
    if (!program || !isWanted)
      continue;
    alignas(16) int32_t memory[32] = {};
    auto base = reinterpret_cast<uint64_t>(memory);
    emu::LaunchConfig config;
    config.grid = {programs, 1, 1};
    config.threads = threads, config.sharedBytes = 128;
    config.parameters = {&base, &n};
    config.memory = {{base, sizeof memory}};
    emu::RunOptions run;
    run.check = false;
    result += program->run(config, run).ok() ? '-' : '+';
  }
  return result;
}

const std::string copy = "@$2 cp.async.ca.shared.global [$0], [$1], 16;\n";
const std::string commit = "cp.async.commit_group;\n";

TEST(Probes, GroupsWithNothingInThem) {
  const std::string wait = "cp.async.wait_group 0;\n", wait1 = "cp.async.wait_group 1;\n";
  const std::string all = "cp.async.wait_all;\n";
  EXPECT_EQ(met("commit", copy + commit + commit + wait), "+-");
  EXPECT_EQ(met("commit", copy + commit + commit + wait, 0), "--") << "the copy is switched off";
  // No wait, and one for all but one more.
  EXPECT_EQ(met("wait", copy + commit + wait), "++");
  EXPECT_EQ(met("wait", copy + commit + wait, 0), "--");
  EXPECT_EQ(met("wait", copy + commit + commit + wait), "+-") << "the last group is empty";
  EXPECT_EQ(met("wait", copy + commit + wait1 + all), "--+") << "one may go on";
  EXPECT_EQ(met("wait", copy + commit + copy + commit + wait1 + all), "+++");
  EXPECT_EQ(met("wait", copy + commit + wait + wait), "++--") << "it has been waited for";
}

TEST(Probes, TheFirstWaitAtAnMbarrier) {
  const std::string init = "mbarrier.init.shared::cta.b64 [$3], 1;\n";
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [$3];\n";
  // Parity 1 is the phase before the first, and then the second.
  EXPECT_EQ(met("wait", init + "wait 1\n" + arrive + "wait 0\n" + arrive + "wait 1\n"), "-++");
  EXPECT_EQ(met("wait", init + arrive + "wait 0\n"), "+");
}

TEST(Probes, BarriersWithNothingBefore) {
  const std::string bar = "bar.sync 0, 1;\n", store = "@$2 st.shared.b32 [$0], $0;\n";
  EXPECT_EQ(met("barrier", bar + store + bar + bar + store), "-+-");
  EXPECT_EQ(met("barrier", bar + store + bar + bar + store, 0), "---") << "it is switched off";
  // What has only been read stays as it is until somebody writes.
  const std::string load = "ld.shared.b32 _, [$0];\n", away = "st.global.b32 [$1], $0;\n";
  EXPECT_EQ(met("barrier", bar + load + bar + away), "--");
  EXPECT_EQ(met("barrier", bar + load + bar + away + bar + store), "--+");
  EXPECT_EQ(met("barrier", bar + load + bar + away + store), "-+");
  EXPECT_EQ(met("barrier", bar + load + bar + copy + "cp.async.wait_all;\n"), "-+");
  EXPECT_EQ(met("barrier", store + bar + load + bar + away), "+-");
  // What is given away behind it is met by who waits.
  const std::string init = "mbarrier.init.shared::cta.b64 [$3], 1;\n";
  const std::string arrive = "bar.warp.sync -1;\nmbarrier.arrive.shared::cta.b64 _, [$3];\n";
  EXPECT_EQ(met("barrier", init + store + arrive), "-");
  EXPECT_EQ(met("barrier", init + store + arrive + "wait 0\n"), "+");
}

TEST(Probes, FencesForOtherPrograms) {
  EXPECT_EQ(met("fence", "fence.acq_rel.gpu;\n", 1, 1), "-");
  EXPECT_EQ(met("fence", "fence.acq_rel.gpu;\n", 1, 2), "+");
  EXPECT_EQ(met("fence", "fence.proxy.async;\n", 1, 1), "+");
}

/// Where it is computed for accesses alone, a wrong address is met by those that run.
TEST(Probes, AddressesOfWhatIsSwitchedOff) {
  auto store = [](const std::string &guard) {
    return "%x = and i32 %t, 1\n%y = shl i32 %x, 2\n%z = add i32 %s, %y\n"
           "%w = call i32 asm sideeffect \"" +
           guard +
           "st.shared.b32 [$1], $1; mov.b32 $0, $1;\", \"=r,r,b,~{memory}\"(i32 %z, i1 %c)\n";
  };
  EXPECT_EQ(met("lane bit", store(""), 0, 1, 2), "++") << "the mask, and the shift";
  EXPECT_EQ(met("lane bit", store("@$2 "), 1, 1, 2), "++");
  EXPECT_EQ(met("lane bit", store("@$2 "), 0, 1, 2), "--");
  EXPECT_EQ(met("lane bit", store(""), 0, 1, 1), "--") << "thread 0 has no bits";
}

} // namespace
