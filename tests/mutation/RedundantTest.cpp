//===- RedundantTest.cpp - which barriers, fences and waits others stand in for --===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace tile::mutation;

namespace {

/// A kernel in short: `bar` and other names stand for instructions, what has a colon or
/// begins with `br` or `ret` is LLVM's.
std::string kernelOf(llvm::StringRef body, unsigned threads) {
  std::string ir = "define ptx_kernel void @k(i1 %c, ptr addrspace(3) %p, i32 %a) "
                   "\"nvvm.reqntid\"=\"" +
                   std::to_string(threads) + "\" {\n";
  for (llvm::StringRef line : llvm::split(body, '\n')) {
    line = line.trim();
    if (line.starts_with("br") || line.starts_with("ret") || line.ends_with(":"))
      ir += line;
    else if (line == "bar")
      ir += "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
    else if (line == "fork")
      ir += "%d = icmp eq i32 %a, 0\nbr i1 %d, label %x, label %y";
    else if (line == "store")
      ir += "store i32 1, ptr addrspace(3) %p";
    else if (!line.empty())
      ir += ("call void asm sideeffect \"" + line + ";\", \"r,b,~{memory}\"(i32 %a, i1 %c)").str();
    ir += '\n';
  }
  return ir + "}\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n";
}

/// Of each barrier and fence, or of each mutation of that kind, in order: `-` if it is needed, or
/// else `+`.
std::string redundant(llvm::StringRef body, unsigned threads = 128, llvm::StringRef kind = "") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kernelOf(body, threads), diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  std::string result;
  for (const Mutation &m : module ? findMutations(*module) : std::vector<Mutation>())
    if (kind.empty() ? m.kind == "barrier" || m.kind == "fence" : m.kind == kind)
      result += m.redundant.empty() ? '-' : '+';
  return result;
}

const char *copy = "\n@$1 cp.async.ca.shared.global [$0], [$0], 16\ncp.async.commit_group\n";

TEST(Redundant, BarriersSideBySide) {
  EXPECT_EQ(redundant("store\nbar\nbar\nstore\nret void"), "++"); // either may go
  EXPECT_EQ(redundant("store\nbar\nstore\nbar\nstore\nret void"), "--");
  EXPECT_EQ(redundant("store\nbar\nbar.sync $0, 64\nstore\nret void"), "--"); // other threads
}

TEST(Redundant, BarriersThatNothingComesBefore) {
  EXPECT_EQ(redundant("bar\nstore\nret void"), "+");
  EXPECT_EQ(redundant(copy + std::string("bar\nstore\nret void")), "+");
  EXPECT_EQ(redundant(copy + std::string("cp.async.wait_group 0\nbar\nstore\nret void")), "-");
  EXPECT_EQ(redundant("mbarrier.init.shared::cta.b64 [$0], 1\nbar\nstore\nret void"), "-");
  EXPECT_EQ(redundant("mbarrier.arrive.shared::cta.b64 _, [$0]\nbar\nstore\nret void"), "-");
}

TEST(Redundant, BarriersOnEveryPath) {
  EXPECT_EQ(redundant("store\nbar\nbr i1 %c, label %x, label %y\nx:\nbar\nbr label %y\ny:\n"
                      "store\nret void"),
            "-+"); // a path leads past the second, which follows the first
  EXPECT_EQ(redundant("br label %x\nx:\nbar\nstore\nbr i1 %c, label %x, label %y\ny:\nret void"),
            "-"); // the turn before has stored
}

TEST(Redundant, BarriersBehindProductsAlone) {
  const std::string products = "wgmma.mma_async.x\n"
                               "wgmma.commit_group.sync.aligned\n"
                               "wgmma.wait_group.sync.aligned 0\n";
  const std::string arrive = "@$1 mbarrier.arrive.shared::cta.b64 _, [$0]\n";
  EXPECT_EQ(redundant("store\nbar\n" + products + "bar\nstore\nret void"), "-+");
  EXPECT_EQ(redundant("store\nbar\nstore\n" + products + "bar\nstore\nret void"), "--");
  // Of several warpgroups each knows its own products.
  EXPECT_EQ(redundant("store\nbar\n" + products + "bar\nstore\nret void", 256), "--");
  EXPECT_EQ(
      redundant("store\nbar.sync $0, 128\n" + products + "bar.sync $0, 128\nstore\nret void", 256),
      "-+");
  // Before a slot of theirs is given back.
  EXPECT_EQ(redundant("store\nbar\n" + products + "bar.warp.sync -1\n" + arrive + "ret void", 256),
            "-+");
  EXPECT_EQ(
      redundant("store\nbar\n" + products + "store\nbar.warp.sync -1\n" + arrive + "ret void", 256),
      "--");
}

TEST(Redundant, BarriersBehindWaits) {
  const std::string wait = "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $0\n";
  const std::string release = "bar.warp.sync -1\nmbarrier.arrive.shared::cta.b64 _, [$0]\n";
  EXPECT_EQ(redundant("store\nbar\n" + wait + release + "ret void", 256), "--");
  EXPECT_EQ(redundant("store\nbar\n" + wait + "wgmma.mma_async.x\n" + release + "ret void", 256),
            "-+");
}

TEST(Redundant, FencesBetweenAtomicOperations) {
  const std::string fence = "fence.acq_rel.gpu\n",
                    sum = "red.relaxed.gpu.global.add.u32 [$0], $0\n";
  EXPECT_EQ(redundant(fence + sum + fence + "ret void"), "++");
  EXPECT_EQ(redundant("st.global.b32 [$0], $0\n" + fence + sum + "ret void"), "-");
  EXPECT_EQ(redundant("st.shared.b32 [$0], $0\n" + fence + sum + "ret void"), "+");
}

TEST(Redundant, FencesBeforeOthers) {
  const std::string fence = "fence.proxy.async.shared::cta\n";
  const std::string init = "fence.mbarrier_init.release.cluster\n";
  EXPECT_EQ(redundant("store\n" + fence + "bar\nstore\n" + fence + "bar\nwgmma\nret void"), "+---");
  EXPECT_EQ(redundant("store\n" + fence + "bar\nwgmma\n" + fence + "bar\nwgmma\nret void"), "----");
  EXPECT_EQ(redundant("mbarrier.init [$0], 1\n" + init + "bar\n" + fence + "bar\nuse\nret void"),
            "+---");
  EXPECT_EQ(redundant(fence + "mbarrier.init [$0], 1\n" + init + "bar\nuse\nret void"), "---");
  EXPECT_EQ(redundant(fence + "br i1 %c, label %x, label %y\nx:\n" + fence +
                      "br label %y\ny:\nuse\nret void"),
            "--");
  // The same condition, and another path.
  const std::string twice = "br i1 %c, label %x, label %y\nx:\n" + init +
                            "br label %y\ny:\nbar\nbr i1 %c, label %z, label %w\n";
  EXPECT_EQ(redundant(twice + "z:\n" + init + "br label %w\nw:\nuse\nret void"), "+--");
  EXPECT_EQ(redundant(twice + "w:\n" + init + "br label %z\nz:\nuse\nret void"), "---");
  EXPECT_EQ(redundant("wgmma.fence.sync.aligned\nwgmma.fence.sync.aligned\nret void"), "--");
}

TEST(Redundant, WaitsForProducts) {
  auto waits = [](const std::string &body) { return redundant(body + "ret void", 128, "wait"); };
  const std::string product = "wgmma.mma_async.x\nwgmma.commit_group.sync.aligned\n";
  const std::string one = "wgmma.wait_group.sync.aligned 1\n",
                    none = "wgmma.wait_group.sync.aligned 0\n";
  // Each is left out once, and once waits for one group fewer.
  EXPECT_EQ(waits(product + none + "store\n"), "--");
  EXPECT_EQ(waits(product + one + none + "store\n"), "++--");
  EXPECT_EQ(waits(product + none + one + "store\n"), "--++");
  EXPECT_EQ(waits(product + none + "store\n" + none + "store\n"), "--++");
  EXPECT_EQ(waits(product + one + "store\n" + none + "store\n"), "----");
  EXPECT_EQ(waits(product + none + product + none + "store\n"), "----");
  EXPECT_EQ(waits(product + one + "mbarrier.arrive.shared::cta.b64 _, [$0]\n" + one + "store\n"),
            "--++"); // a slot is given back
  EXPECT_EQ(waits(product + "br i1 %c, label %x, label %y\nx:\n" + none + "br label %y\ny:\n" +
                  none + "store\n"),
            "++--");
}

TEST(Redundant, CommitsBeforeOthers) {
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [$0], [$0], 16\n"
                            "cp.async.bulk.commit_group\n";
  const std::string all = "cp.async.bulk.wait_group.read 0\n";
  auto commits = [](const std::string &body) { return redundant(body, 128, "commit"); };
  EXPECT_EQ(commits(store + store + all + "ret void"), "+-");
  EXPECT_EQ(commits(store + all + store + all + "ret void"), "--");
  EXPECT_EQ(commits(store + store + "cp.async.bulk.wait_group.read 1\n" + all + "ret void"), "--")
      << "the groups are counted";
  EXPECT_EQ(commits(store + store + "ret void"), "+-");
  EXPECT_EQ(commits(store + copy + all + "ret void"), "--") << "of other copies";
  // By the same threads, or perhaps not.
  const std::string twice = "br label %s\ns:\nbr i1 %c, label %x, label %y\nx:\n" + store +
                            "br label %y\ny:\nbr i1 %c, label %z, label %e\nz:\n" + store +
                            "br label %e\ne:\n" + all + "ret void";
  EXPECT_EQ(commits(twice), "+-");
  EXPECT_EQ(commits("br label %s\ns:\n" + store + "br i1 %c, label %z, label %e\nz:\n" + store +
                    "br label %e\ne:\n" + all + "ret void"),
            "--");
}

/// A condition that is known stays so unless it is computed again.
TEST(Redundant, ConditionsBehindTheFirstBlock) {
  auto kernel = [](const std::string &end) {
    return "br label %s\ns:\nfork\nx:\ncp.async.bulk.commit_group\nbr label %y\ny:\n"
           "br i1 %d, label %z, label %e\nz:\ncp.async.bulk.commit_group\nbr label %e\ne:\n"
           "cp.async.bulk.wait_group 0\n" +
           end;
  };
  EXPECT_EQ(redundant(kernel("ret void"), 128, "commit"), "+-");
  EXPECT_EQ(redundant(kernel("br i1 %c, label %s, label %q\nq:\nret void"), 128, "commit"), "--");
}

} // namespace
