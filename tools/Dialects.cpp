//===- Dialects.cpp - what a module may hold, at any step ------------------===//
#include "tools/Dialects.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "ir/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

void tile::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<tile::TileDialect, tile::cta::CtaDialect, tile::graph::GraphDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
                  mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  mlir::func::registerInlinerExtension(registry);
}
