//===- AsyncInstructions.cpp - mbarriers, TMA, warpgroup matrix products --===//
//
// The part of the instruction room that is sm_90's own, and sm_80's asynchronous
// copies. Everything here is
// inline PTX, one instruction each (a wait is a loop around one), with a side
// effect, so that the optimiser keeps the order in which they are built.
// Shared addresses are 32-bit integers.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/instructions/Instructions.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

void Instructions::effect(StringRef text, StringRef constraints, ValueRange args) {
  inlineAsm(text, constraints, Type(), args, /*sideEffects=*/true);
}

void Instructions::effectOfOne(std::string text, std::string constraints, SmallVector<Value> args) {
  if (elected) {
    text = "@$" + std::to_string(args.size()) + " " + text;
    constraints += ",b";
    args.push_back(elected);
  }
  effect(text, constraints + ",~{memory}", args);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

void Instructions::copyAsync(Value to, Address from, unsigned bytes, Value sourceBytes,
                             Value predicate, bool again, Value policy) {
  if (!llvm::isInt<32>(from.offset))
    from = {pointerTo(from), 0};
  // Whole lines need no place in the first cache.
  std::string text = llvm::formatv("cp.async.{0}.shared.global{1} [$0], [$1{2}], {3}",
                                   bytes == 16 && !again ? "cg" : "ca",
                                   policy ? ".L2::cache_hint" : "", immediate(from.offset), bytes);
  std::string constraints = "r,l";
  SmallVector<Value> args{to, from.base};
  if (sourceBytes) {
    text += ", $2";
    constraints += ",r";
    args.push_back(sourceBytes);
  }
  if (policy) {
    text += ", $" + std::to_string(args.size());
    constraints += ",l";
    args.push_back(policy);
  }
  if (predicate) {
    text = "@$" + std::to_string(args.size()) + " " + text;
    constraints += ",b";
    args.push_back(predicate);
  }
  effect(text + ";", constraints + ",~{memory}", args);
}

Value Instructions::cachePolicy(EvictionPolicy evict) {
  needPtx(74);
  StringRef name = evict == EvictionPolicy::evict_first ? "evict_first" : "evict_last";
  return inlineAsm(("createpolicy.fractional.L2::" + name + ".b64 $0, 1.0;").str(), "=l",
                   b.getI64Type(), {}, /*sideEffects=*/false);
}

void Instructions::copyAsyncCommit() { effect("cp.async.commit_group;", "~{memory}", {}); }

void Instructions::copyAsyncArrive(Value barrier) {
  effect("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}", barrier);
}

void Instructions::copyAsyncWait(unsigned pending) {
  effect("cp.async.wait_group " + std::to_string(pending) + ";", "~{memory}", {});
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Instructions::namedBarrier(Value id, unsigned threads) {
  effect("bar.sync $0, " + std::to_string(threads) + ";", "r,~{memory}", id);
}

void Instructions::arrive(Value id, unsigned threads) {
  effect("bar.arrive $0, " + std::to_string(threads) + ";", "r,~{memory}", id);
}

void Instructions::mbarrierInit(Value barrier, unsigned arrivals) {
  effect("mbarrier.init.shared::cta.b64 [$0], " + std::to_string(arrivals) + ";", "r,~{memory}",
         barrier);
}

void Instructions::fenceMbarrierInit() {
  effect("fence.mbarrier_init.release.cluster;", "~{memory}", {});
}

void Instructions::fenceProxyAsync() { effect("fence.proxy.async.shared::cta;", "~{memory}", {}); }

void Instructions::mbarrierExpect(Value barrier, unsigned bytes) {
  effectOfOne("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " + std::to_string(bytes) + ";",
              "r", {barrier});
}

void Instructions::mbarrierExpect(Value barrier, Value bytes) {
  effectOfOne("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r", {barrier, bytes});
}

Value Instructions::electLane() {
  return inlineAsm("{\n.reg .b32 lane;\nelect.sync lane|$0, -1;\n}", "=b", b.getI1Type(), {},
                   /*sideEffects=*/true);
}

void Instructions::warpBarrier() { effect("bar.warp.sync -1;", "~{memory}", {}); }

void Instructions::mbarrierArrive(Value barrier, Value predicate) {
  effect("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", {barrier, predicate});
}

void Instructions::mbarrierArriveAt(Value barrier, Value rank, Value predicate) {
  // Neither `.release.cluster` nor `.cluster`: copies are all that the barrier
  // orders, and a fence of the whole cluster before every arrival is slow.
  effect("{\n"
         ".reg .b32 there;\n"
         "@$2 mapa.shared::cluster.u32 there, $0, $1;\n"
         "@$2 mbarrier.arrive.shared::cluster.b64 _, [there];\n"
         "}",
         "r,r,b,~{memory}", {barrier, rank, predicate});
}

void Instructions::mbarrierWait(Value barrier, Value parity) {
  // Labels in braces are the block's own.
  effect("{\n"
         ".reg .pred done;\n"
         "again:\n"
         "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
         "@!done bra again;\n"
         "}",
         "r,r,~{memory}", {barrier, parity});
}

void Instructions::mbarrierTouch(Value barrier, Value parity) {
  effect("{\n"
         ".reg .pred done;\n"
         "mbarrier.test_wait.parity.shared::cta.b64 done, [$0], $1;\n"
         "}",
         "r,r,~{memory}", {barrier, parity});
}

void Instructions::clusterBarrier() {
  effect("barrier.cluster.arrive;\nbarrier.cluster.wait;", "~{memory}", {});
}

Value Instructions::clusterRank() {
  return inlineAsm("mov.u32 $0, %cluster_ctarank;", "=r", b.getI32Type(), {},
                   /*sideEffects=*/false);
}

void Instructions::setMaxRegisters(unsigned count, bool increase) {
  effect(
      llvm::formatv("setmaxnreg.{0}.sync.aligned.u32 {1};", increase ? "inc" : "dec", count).str(),
      "", {});
}

//===----------------------------------------------------------------------===//
// Tensor memory accelerator
//===----------------------------------------------------------------------===//

/// "{$first, $first+1, ...}"
static std::string operandList(unsigned first, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i)
    list += (i ? ", $" : "$") + std::to_string(first + i);
  return list + "}";
}

static std::string repeated(StringRef constraint, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += ("," + constraint).str();
  return text;
}

void Instructions::tmaLoad(Value destination, Value map, ValueRange coordinates, Value barrier,
                           Value mask, Value policy) {
  unsigned rank = coordinates.size();
  SmallVector<Value> args{destination, map};
  llvm::append_range(args, coordinates);
  args.push_back(barrier);
  std::string more, constraints = "r,l" + repeated("r", rank + 1);
  auto add = [&](Value v, StringRef constraint) {
    more += ", $" + std::to_string(args.size());
    constraints += constraint;
    args.push_back(v);
  };
  if (mask)
    add(mask, ",h");
  if (policy)
    add(policy, ",l");
  effectOfOne(
      llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global.mbarrier::complete_tx::"
                    "bytes{1}{2} [$0], [$1, {3}], [${4}]{5};",
                    rank, mask ? ".multicast::cluster" : "", policy ? ".L2::cache_hint" : "",
                    operandList(2, rank), rank + 2, more)
          .str(),
      constraints, args);
}

void Instructions::tmaStore(Value source, Value map, ValueRange coordinates, Value policy) {
  unsigned rank = coordinates.size();
  SmallVector<Value> args{map, source};
  llvm::append_range(args, coordinates);
  std::string more, constraints = "l,r" + repeated("r", rank);
  if (policy) {
    more = ", $" + std::to_string(args.size());
    constraints += ",l";
    args.push_back(policy);
  }
  effect(llvm::formatv(
             "cp.async.bulk.tensor.{0}d.global.shared::cta.bulk_group{1} [$0, {2}], [$1]{3};", rank,
             policy ? ".L2::cache_hint" : "", operandList(2, rank), more)
             .str(),
         constraints + ",~{memory}", args);
}

void Instructions::bulkLoad(Value destination, Address from, Value bytes, Value barrier,
                            Value predicate, Value policy) {
  needPtx(80);
  SmallVector<Value> args{destination, from.base, bytes, barrier, predicate};
  if (policy)
    args.push_back(policy);
  effect(llvm::formatv("@$4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{0} "
                       "[$0], [$1{1}], $2, [$3]{2};",
                       policy ? ".L2::cache_hint" : "", immediate(from.offset),
                       policy ? ", $5" : "")
             .str(),
         std::string("r,l,r,r,b") + (policy ? ",l" : "") + ",~{memory}", args);
}

void Instructions::bulkCommit() { effect("cp.async.bulk.commit_group;", "~{memory}", {}); }

void Instructions::bulkWaitRead() { effect("cp.async.bulk.wait_group.read 0;", "~{memory}", {}); }
void Instructions::bulkWait() { effect("cp.async.bulk.wait_group 0;", "~{memory}", {}); }

Value Instructions::tensorMapAddress(Value parameter) {
  return LLVM::PtrToIntOp::create(b, *loc, b.getI64Type(), parameter);
}

void Instructions::prefetchTensorMap(Value map) {
  effect("prefetch.tensormap [$0];", "l,~{memory}", map);
}

void Instructions::prefetchBulk(Value from, Value bytes) {
  Type i64 = b.getI64Type();
  Value address = LLVM::PtrToIntOp::create(b, *loc, i64, from);
  Value mask = LLVM::ConstantOp::create(b, *loc, i64, b.getI64IntegerAttr(~int64_t(15)));
  address = LLVM::AndOp::create(b, *loc, address, mask);
  bytes = LLVM::AndOp::create(b, *loc, bytes, i32(~15));
  Value any = LLVM::ICmpOp::create(b, *loc, LLVM::ICmpPredicate::ne, bytes, i32(0));
  needPtx(80);
  effect("@$2 cp.async.bulk.prefetch.L2.global [$0], $1;", "l,r,b,~{memory}",
         {address, bytes, any});
}

void Instructions::storeMatrix(Value address, ValueRange words) {
  static const char *const shapes[] = {"x1", "x2", "", "x4"};
  effect(llvm::formatv("stmatrix.sync.aligned.m8n8.{0}.shared.b16 [$0], {1};",
                       shapes[words.size() - 1], operandList(1, words.size()))
             .str(),
         "r" + repeated("r", words.size()) + ",~{memory}", [&] {
           SmallVector<Value> args{address};
           llvm::append_range(args, words);
           return args;
         }());
}

//===----------------------------------------------------------------------===//
// Warpgroup matrix products
//===----------------------------------------------------------------------===//

void Instructions::wgmmaFence() { effect("wgmma.fence.sync.aligned;", "~{memory}", {}); }
void Instructions::wgmmaCommit() { effect("wgmma.commit_group.sync.aligned;", "~{memory}", {}); }

/// Runs `text` on registers that it reads and writes: outputs $0.. tied to the
/// first inputs, then `more` inputs.
SmallVector<Value> Instructions::updateRegisters(StringRef text, ValueRange registers,
                                                 ValueRange more, StringRef moreConstraints) {
  unsigned count = registers.size();
  Type type = registers.front().getType();
  char letter = type.isF32() ? 'f' : 'r';
  std::string constraints, ties;
  for (unsigned i = 0; i < count; ++i) {
    constraints += (i ? ",=" : "=") + std::string(1, letter);
    ties += "," + std::to_string(i);
  }
  // Inputs that are not tied come first: their numbers follow the outputs'.
  constraints += moreConstraints.str() + ties + ",~{memory}";
  SmallVector<Value> args(more);
  llvm::append_range(args, registers);
  Type result =
      count == 1
          ? type
          : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, type)));
  Value all = inlineAsm(text, constraints, result, args, /*sideEffects=*/true);
  if (count == 1)
    return {all};
  SmallVector<Value> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, *loc, all, i));
  return values;
}

void Instructions::wgmmaWaitFor(unsigned pending) {
  effect("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", "~{memory}", {});
}

SmallVector<Value> Instructions::wgmmaWait(ValueRange accumulators) {
  return updateRegisters("wgmma.wait_group.sync.aligned 0;", accumulators, {}, "");
}

SmallVector<Value> Instructions::wgmmaWaitBehind(ValueRange accumulators, unsigned pending) {
  Type type = accumulators.front().getType();
  std::string output = type.isF32() ? "=f" : "=r", constraints, ties;
  for (unsigned i = 0; i < accumulators.size(); ++i) {
    constraints += output + ",";
    ties += std::to_string(i) + ",";
  }
  Type all = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              SmallVector<Type>(accumulators.size(), type));
  Value done = inlineAsm("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";",
                         constraints + ties + "~{memory}", all, accumulators,
                         /*sideEffects=*/true);
  SmallVector<Value> values;
  for (unsigned i = 0; i < accumulators.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, getLoc(), done, i));
  return values;
}

SmallVector<Value> Instructions::wgmma(const WgmmaShape &shape, ValueRange accumulator,
                                       ValueRange a, Value bDescriptor, bool zeroFirst) {
  unsigned count = accumulator.size();
  bool aInRegisters = a.size() > 1;
  std::string text = llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k{1}.{2}.{3}.{4} ", shape.n,
                                   shape.k, shape.accType, shape.aType, shape.bType);
  text += operandList(0, count) + ", ";
  unsigned next = count;
  text += aInRegisters ? operandList(next, a.size()) : "$" + std::to_string(next);
  next += a.size();
  text += ", $" + std::to_string(next) + ", p";
  if (shape.accType != "s32")
    text += ", 1, 1";
  if (shape.hasTranspose)
    text += (aInRegisters     ? ""
             : shape.aMnMajor ? ", 1"
                              : ", 0") +
            std::string(shape.bMnMajor ? ", 1" : ", 0");
  text = std::string("{\n.reg .pred p;\nsetp.ne.b32 p, ") + (zeroFirst ? "0" : "1") + ", 0;\n" +
         text + ";\n}";
  SmallVector<Value> more(a);
  more.push_back(bDescriptor);
  return updateRegisters(text, accumulator, more,
                         (aInRegisters ? repeated("r", a.size()) : ",l") + ",l");
}
