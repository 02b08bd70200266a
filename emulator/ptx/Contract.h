//===- Contract.h - a*b+c in one rounding, as on the GPU ------------------===//
#ifndef TILE_EMULATOR_PTX_CONTRACT_H
#define TILE_EMULATOR_PTX_CONTRACT_H

namespace llvm {
class Function;
} // namespace llvm

namespace tile::emu {

/// Makes one operation of each product and the sum it goes into, where NVPTX does.
/// True if there were any.
bool contractMulAdd(llvm::Function &function);

/// Fused operations of 16-bit floats in steps that round once: hosts go through
/// f32, which rounds twice.
void expandNarrowMulAdd(llvm::Function &function);

/// Integers to bf16 in steps that round once, as sm_90 does.
void expandIntegersToBF16(llvm::Function &function);

/// `cvt.rn.bf16x2.f32` as the rounding of each half.
void expandPairsToBF16(llvm::Function &function);

} // namespace tile::emu

#endif // TILE_EMULATOR_PTX_CONTRACT_H
