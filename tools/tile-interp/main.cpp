//===- main.cpp - tile-interp: runs the functions of a tile module --------===//
//
// The executable side of tile-opt: what `tile-opt -some-pass` prints can be run
// and must give what it gave before. Arguments come from attributes, so that a
// test is one file:
//
//   func.func @double(%x: !tile.ptr<f32> {tile.data = dense<[1.0, 2.0]> : tensor<2xf32>},
//                     %n: i32 {tile.value = 2 : i32})
//       attributes {tile.grid = array<i64: 1, 1, 1>}
//
// Every public function runs, in order. Output: its name, what it prints, and
// its buffers as the function leaves them. `tile.unwritten` on a pointer makes
// its buffer's content count as nothing until a program writes it (--check).
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "runtime/interp/Interpreter.h"
#include "text/Format.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module>"), cl::init("-"),
                                      cl::cat(category));
static cl::opt<std::string> functionName("function", cl::desc("Run this function only"),
                                         cl::cat(category));
static cl::opt<bool> check("check", cl::desc("Watch memory: bounds, unwritten bytes, races"),
                           cl::cat(category));
static cl::opt<unsigned> threads("cores", cl::desc("How many to use; 0: all"), cl::init(1),
                                 cl::cat(category));

namespace {
/// The memory behind one pointer argument.
struct BufferArgument {
  unsigned index;
  Type element;
  int64_t count;
  std::unique_ptr<uint8_t[]> bytes;
};
} // namespace

static void appendBits(uint8_t *at, const APInt &bits, unsigned size) {
  uint64_t value = bits.getZExtValue();
  for (unsigned k = 0; k < size; ++k)
    at[k] = uint8_t(value >> (8 * k));
}

static BufferArgument makeBuffer(unsigned index, DenseElementsAttr data) {
  BufferArgument buffer{index, data.getElementType(), data.getNumElements(), nullptr};
  unsigned size = getElementBytes(buffer.element);
  buffer.bytes = std::make_unique<uint8_t[]>(buffer.count * size + 1);
  uint8_t *at = buffer.bytes.get();
  if (isa<FloatType>(buffer.element)) {
    for (const APFloat &v : data.getValues<APFloat>())
      appendBits(at, v.bitcastToAPInt(), size), at += size;
  } else {
    for (const APInt &v : data.getValues<APInt>())
      appendBits(at, v, size), at += size;
  }
  return buffer;
}

static void printBuffer(const BufferArgument &buffer) {
  unsigned size = getElementBytes(buffer.element), width = buffer.element.getIntOrFloatBitWidth();
  llvm::outs() << formatted("  arg{} = [", buffer.index);
  for (int64_t k = 0; k < buffer.count; ++k) {
    uint64_t bits = 0;
    for (unsigned b = 0; b < size; ++b)
      bits |= uint64_t(buffer.bytes[k * size + b]) << (8 * b);
    llvm::outs() << (k ? ", " : "");
    APInt value(64, bits);
    if (auto type = dyn_cast<FloatType>(buffer.element)) {
      APFloat number(type.getFloatSemantics(), value.trunc(width));
      bool lost;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      llvm::outs() << llvm::format("%.9g", number.convertToDouble());
    } else {
      llvm::outs() << value.trunc(width).getSExtValue();
    }
  }
  llvm::outs() << "]\n";
}

/// Builds the arguments; false after a message.
static bool readArguments(func::FuncOp function, std::vector<interp::Argument> &arguments,
                          std::vector<BufferArgument> &buffers, interp::MemoryMap &memory) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (auto data = function.getArgAttrOfType<DenseElementsAttr>(index, kDataAttr)) {
      buffers.push_back(makeBuffer(index, data));
      BufferArgument &buffer = buffers.back();
      memory.add(buffer.bytes.get(), buffer.count * getElementBytes(buffer.element),
                 !function.getArgAttr(index, kUnwrittenAttr));
      arguments.push_back(interp::Argument::pointer(buffer.bytes.get()));
    } else if (auto value = function.getArgAttrOfType<IntegerAttr>(index, kValueAttr)) {
      arguments.push_back(interp::Argument::integer(value.getValue().getSExtValue()));
    } else if (auto real = function.getArgAttrOfType<FloatAttr>(index, kValueAttr)) {
      arguments.push_back(interp::Argument::real(real.getValueAsDouble()));
    } else {
      function.emitError() << formatted("argument {} has no value: give it `tile.{}`", index,
                                        isa<PtrType>(type) ? "data = dense<...>" : "value = ...");
      return false;
    }
  }
  return true;
}

static bool runFunction(ModuleOp module, func::FuncOp function) {
  interp::MemoryMap memory;
  std::vector<interp::Argument> arguments;
  std::vector<BufferArgument> buffers;
  if (!readArguments(function, arguments, buffers, memory))
    return false;
  interp::Grid grid;
  if (auto sizes = function->getAttrOfType<DenseI64ArrayAttr>(kGridAttr)) {
    uint32_t *fields[] = {&grid.x, &grid.y, &grid.z};
    for (auto [field, size] : llvm::zip(fields, sizes.asArrayRef()))
      *field = uint32_t(size);
  }
  interp::LoadOptions load;
  load.function = function.getName().str();
  load.check = check;
  std::string error;
  auto program = interp::Program::load(module, load, error);
  if (!program) {
    llvm::errs() << "error: " << error << "\n";
    return false;
  }
  llvm::outs() << function.getName() << ":\n";
  interp::RunOptions run;
  run.numThreads = threads;
  run.memory = &memory;
  interp::Report report = program->run(grid, arguments, run);
  for (const BufferArgument &buffer : buffers)
    printBuffer(buffer);
  llvm::outs().flush();
  llvm::errs() << report.str();
  return report.ok();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "tile-interp: runs the functions of a tile module\n");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect>();
  std::string error;
  auto file = openInputFile(inputFile, &error);
  if (!file) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  bool ok = true, found = false;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (functionName.empty() ? function.isPrivate() : function.getName() != functionName)
      continue;
    found = true;
    ok &= runFunction(*module, function);
  }
  if (!found)
    llvm::errs() << "error: the module holds no function to run\n";
  return ok && found ? 0 : 1;
}
