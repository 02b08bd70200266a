//===- RoomTest.cpp - what the lowering can emit, the emulator knows ------===//
//
// Builds everything that passes/lowering/instructions/Instructions.h can build, in each form
// that it has, and loads it. Loading fails with a message that names the
// instruction.
//
//===----------------------------------------------------------------------===//
#include "emulator/Emulator.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/lowering/instructions/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

namespace {

class Room : public testing::Test {
protected:
  Room() : b(&context) {
    DialectRegistry registry;
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }

  /// A kernel of what `build` builds must load. %g and %s point to global and to
  /// shared memory.
  void check(llvm::function_ref<void(Instructions &)> build) {
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToStart(module->getBody());
    auto global = LLVM::LLVMPointerType::get(&context, kGlobal);
    auto shared = LLVM::LLVMPointerType::get(&context, kShared);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), {global, shared});
    auto kernel = LLVM::LLVMFuncOp::create(b, loc, "k", type);
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    Block *entry = kernel.addEntryBlock(b);
    g = entry->getArgument(0), s = entry->getArgument(1);
    b.setInsertionPointToStart(entry);
    Instructions in(b, *findTarget("sm_90"), /*numThreads=*/256);
    in.setLoc(loc);
    build(in);
    LLVM::ReturnOp::create(b, loc, ValueRange());
    ASSERT_TRUE(succeeded(verify(*module)));
    llvm::LLVMContext target;
    std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(*module, target);
    ASSERT_TRUE(translated);
    translated->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
    std::string text, error;
    llvm::raw_string_ostream(text) << *translated;
    auto program = emu::Program::load(text, {}, error);
    EXPECT_TRUE(program) << error << "\n" << text;
  }
  Value value(Type type) { return LLVM::UndefOp::create(b, b.getUnknownLoc(), type); }
  SmallVector<Value> values(Type type, unsigned n) { return SmallVector<Value>(n, value(type)); }
  Type i(unsigned bits) { return b.getIntegerType(bits); }

  MLIRContext context;
  OpBuilder b;
  Value g, s;
};

TEST_F(Room, RegistersAndCommunication) {
  check([&](Instructions &in) {
    in.threadId();
    for (unsigned axis = 0; axis < 3; ++axis)
      in.blockId(axis), in.gridSize(axis);
    in.barrier();
    in.setRole(1, 128);
    in.barrier();
    in.waitForGrids();
    for (Type t : {i(8), i(16), i(32), i(64), Type(b.getF16Type()), Type(b.getF64Type())}) {
      in.shuffleIdx(value(t), in.i32(3));
      for (unsigned mask : {1, 16})
        in.shuffleXor(value(t), mask);
    }
    in.pin(values(b.getF16Type(), 8));
    in.pin(values(i(64), 2));
  });
}

TEST_F(Room, GlobalMemory) {
  for (CacheModifier cache :
       {CacheModifier::none, CacheModifier::ca, CacheModifier::cg, CacheModifier::cs,
        CacheModifier::cv, CacheModifier::wb, CacheModifier::wt})
    for (EvictionPolicy evict :
         {EvictionPolicy::normal, EvictionPolicy::evict_first, EvictionPolicy::evict_last})
      for (bool isVolatile : {false, true})
        check([&](Instructions &in) {
          AccessHints hints{cache, evict, isVolatile};
          for (auto [type, count] : {std::pair<Type, unsigned>{i(8), 1},
                                     {i(8), 16},
                                     {i(16), 1},
                                     {b.getF16Type(), 8},
                                     {b.getF32Type(), 2},
                                     {i(64), 2}})
            for (bool predicated : {false, true}) {
              Value p = predicated ? value(i(1)) : Value();
              in.loadGlobal(type, count, {g, 16}, p, {}, hints);
              in.loadGlobal(type, count, {g, 0}, p,
                            predicated ? values(type, count) : SmallVector<Value>(), hints);
              in.storeGlobal({g, -16}, values(type, count), p, hints);
            }
        });
}

TEST_F(Room, SharedMemory) {
  check([&](Instructions &in) {
    for (auto [type, count] : {std::pair<Type, unsigned>{i(8), 1},
                               {i(8), 16},
                               {b.getF16Type(), 2},
                               {b.getF32Type(), 4},
                               {i(64), 2}})
      for (bool predicated : {false, true}) {
        in.loadShared(type, count, s);
        in.storeShared(s, values(type, count), predicated ? value(i(1)) : Value());
      }
    in.addShared(s, in.i32(1), {});
    in.addShared(s, in.i32(1), value(i(1)));
  });
}

TEST_F(Room, Atomics) {
  for (MemSemantic sem :
       {MemSemantic::relaxed, MemSemantic::acquire, MemSemantic::release, MemSemantic::acq_rel})
    check([&](Instructions &in) {
      for (MemScope scope : {MemScope::cta, MemScope::gpu, MemScope::sys})
        for (bool predicated : {false, true}) {
          Value p = predicated ? value(i(1)) : Value();
          for (AtomicKind kind : {AtomicKind::add, AtomicKind::max, AtomicKind::min,
                                  AtomicKind::umax, AtomicKind::umin, AtomicKind::band,
                                  AtomicKind::bor, AtomicKind::bxor, AtomicKind::xchg})
            for (unsigned bits : {32, 64})
              if (in.hasAtomic(kind, i(bits)))
                in.atomicRmw(kind, sem, scope, g, value(i(bits)), p);
          for (Type t : {Type(b.getF16Type()), Type(b.getBF16Type()), Type(b.getF32Type()),
                         Type(b.getF64Type())})
            if (in.hasAtomic(AtomicKind::fadd, t))
              in.atomicRmw(AtomicKind::fadd, sem, scope, g, value(t), p);
          for (unsigned bits : {16, 32, 64})
            in.atomicCas(sem, scope, g, value(i(bits)), value(i(bits)), p);
        }
    });
}

TEST_F(Room, Matrices) {
  check([&](Instructions &in) {
    for (unsigned count : {1, 2, 4})
      for (bool transposed : {false, true}) {
        in.loadMatrices(s, count, transposed);
        in.storeMatrices(s, values(i(32), count), transposed);
      }
    for (unsigned count : {1, 2, 4})
      in.storeMatrix(in.i32(0), values(i(32), count));
  });
}

TEST_F(Room, MatrixProducts) {
  Type f16 = b.getF16Type(), bf16 = b.getBF16Type(), f32 = b.getF32Type(), f64 = b.getF64Type();
  Type e4m3 = Float8E4M3FNType::get(&context), e5m2 = Float8E5M2Type::get(&context);
  struct Product {
    unsigned m, n, k;
    Type a, b, acc;
    unsigned wordsA, wordsB, sums;
  };
  const Product products[] = {
      {16, 8, 8, f16, f16, f16, 2, 1, 4},      {16, 8, 8, f16, f16, f32, 2, 1, 4},
      {16, 8, 16, f16, f16, f16, 4, 2, 4},     {16, 8, 16, f16, f16, f32, 4, 2, 4},
      {16, 8, 8, bf16, bf16, f32, 2, 1, 4},    {16, 8, 16, bf16, bf16, f32, 4, 2, 4},
      {16, 8, 4, f32, f32, f32, 2, 1, 4},      {16, 8, 8, f32, f32, f32, 4, 2, 4},
      {16, 8, 16, i(8), i(8), i(32), 2, 1, 4}, {16, 8, 32, i(8), i(8), i(32), 4, 2, 4},
      {16, 8, 32, e4m3, e4m3, f32, 4, 2, 4},   {16, 8, 32, e4m3, e5m2, f32, 4, 2, 4},
      {16, 8, 32, e5m2, e4m3, f32, 4, 2, 4},   {16, 8, 32, e5m2, e5m2, f32, 4, 2, 4},
      {8, 8, 4, f64, f64, f64, 1, 1, 2},
  };
  for (const Product &p : products)
    check([&](Instructions &in) {
      Type word = p.a.isF64() ? p.a : i(32);
      in.multiplyMatrices(p.m, p.n, p.k, p.a, p.b, values(word, p.wordsA), values(word, p.wordsB),
                          values(p.acc, p.sums));
    });
}

TEST_F(Room, Arithmetic) {
  check([&](Instructions &in) {
    Type f32 = b.getF32Type(), f64 = b.getF64Type();
    Value x = value(f32);
    in.exp2Approx(x), in.sqrtApprox(x), in.rsqrtApprox(x), in.divFull(x, x);
    in.truncateTowardZero(x, b.getF16Type()), in.truncateTowardZero(x, b.getBF16Type());
    in.cutToTf32(x);
    for (Type t : {f32, f64})
      in.sqrtRn(value(t)), in.divRn(value(t), value(t));
    for (Type t : {Type(b.getF16Type()), Type(b.getBF16Type()), f32, f64, i(32)})
      in.multiplyAdd(value(t), value(t), value(t));
    for (unsigned bits : {8, 16, 32, 64})
      in.negate(value(i(bits)));
    for (unsigned bits : {32, 64})
      in.mulHiUnsigned(value(i(bits)), value(i(bits)));
    for (bool e4m3 : {false, true})
      in.f32x2ToFp8(x, x, e4m3), in.fp8x2ToF16(value(i(16)), e4m3);
    in.print("%d %lld %f", {value(i(32)), value(i(64)), value(f64)});
    in.print("nothing", {});
    in.assertFail("message", "file", 1, "function");
    in.assume(value(i(1)));
    in.trap();
  });
}

TEST_F(Room, Asynchronous) {
  check([&](Instructions &in) {
    Value word = in.i32(0), map = in.i64(0), p = value(i(1));
    for (unsigned bytes : {4, 8, 16})
      for (bool cut : {false, true})
        for (bool predicated : {false, true})
          for (Value policy : {Value(), in.cachePolicy(EvictionPolicy::evict_first)})
            in.copyAsync(word, {g, 32}, bytes, cut ? word : Value(), predicated ? p : Value(),
                         /*again=*/false, policy);
    in.copyAsyncCommit(), in.copyAsyncWait(0), in.copyAsyncWait(3);
    in.namedBarrier(word, 128), in.arrive(word, 256), in.mbarrierInit(word, 2),
        in.fenceMbarrierInit();
    in.fenceProxyAsync(), in.mbarrierExpect(word, 4096), in.mbarrierArrive(word, p);
    in.mbarrierWait(word, word), in.setMaxRegisters(240, true), in.setMaxRegisters(24, false);
    in.prefetchTensorMap(map);
    for (unsigned rank = 1; rank <= 5; ++rank) {
      for (Value mask : {Value(), value(i(16))})
        for (Value policy : {Value(), in.cachePolicy(EvictionPolicy::evict_last)})
          in.tmaLoad(word, map, values(i(32), rank), word, mask, policy);
      for (Value policy : {Value(), in.cachePolicy(EvictionPolicy::evict_first)})
        in.tmaStore(word, map, values(i(32), rank), policy);
    }
    in.bulkCommit(), in.bulkWaitRead(), in.bulkWait();
    in.clusterBarrier(), in.clusterRank(), in.mbarrierArriveAt(word, word, p);
    in.mbarrierExpect(word, word), in.warpBarrier();
    for (Value policy : {Value(), in.cachePolicy(EvictionPolicy::evict_first)})
      in.bulkLoad(word, {g, 16}, word, word, p, policy);
  });
}

TEST_F(Room, WarpgroupProducts) {
  struct Types {
    const char *acc, *a, *b;
    unsigned k;
    bool transpose;
  };
  const Types types[] = {
      {"f32", "f16", "f16", 16, true},    {"f16", "f16", "f16", 16, true},
      {"f32", "bf16", "bf16", 16, true},  {"f32", "tf32", "tf32", 8, false},
      {"f32", "e4m3", "e4m3", 32, false}, {"f32", "e4m3", "e5m2", 32, false},
      {"f32", "e5m2", "e4m3", 32, false}, {"f32", "e5m2", "e5m2", 32, false},
      {"s32", "s8", "s8", 32, false},
  };
  for (const Types &t : types)
    for (unsigned n : {8, 16, 64, 96, 256})
      check([&](Instructions &in) {
        bool half = llvm::StringRef(t.acc) == "f16";
        Type type = llvm::StringRef(t.acc) == "f32" ? Type(b.getF32Type()) : i(32);
        SmallVector<Value> sums = values(type, n / (half ? 4 : 2));
        in.wgmmaFence();
        for (bool fromRegisters : {false, true})
          for (bool zeroFirst : {false, true})
            for (unsigned major = 0; major < (t.transpose ? 4u : 1u); ++major) {
              Instructions::WgmmaShape shape{n,
                                             t.k,
                                             t.acc,
                                             t.a,
                                             t.b,
                                             t.transpose,
                                             !fromRegisters && (major & 1),
                                             (major & 2) != 0};
              SmallVector<Value> a =
                  fromRegisters ? values(i(32), 4) : SmallVector<Value>{in.i64(0)};
              sums = in.wgmma(shape, sums, a, in.i64(0), zeroFirst);
            }
        in.wgmmaCommit(), in.wgmmaWaitFor(1);
        in.wgmmaWait(sums);
      });
}

} // namespace
