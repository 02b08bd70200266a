//===- Differential.h - the same kernel on two machines --------------------===//
#ifndef TILE_TESTS_FUZZ_DIFFERENTIAL_H
#define TILE_TESTS_FUZZ_DIFFERENTIAL_H

#include "runtime/Device.h"
#include "tests/fuzz/Kernel.h"

namespace tile::fuzz {

/// What is compared with the plain interpreter.
class Differential {
public:
  /// `device`: "cuda"; "emu" for the emulator; or "cpu" for the interpreter behind the passes, with
  /// each kernel compiled to PTX for `target` besides.
  /// `algebraic`: both with numbers of a ring for floats (docs/algebraic-mode.md).
  static std::unique_ptr<Differential> create(const std::string &device, const std::string &target,
                                              bool algebraic, std::string &error);
  virtual ~Differential() = default;
  /// Empty if both agree; else what differs or failed, in one line.
  virtual std::string check(const Kernel &kernel) = 0;
};

/// Whether what `check` said is no fault: blocks that want more shared memory than the chip has,
/// refused with the place.
bool isRefusal(llvm::StringRef why);

/// The smallest kernel found by leaving statements out that still `fails`.
Kernel reduce(Kernel kernel, llvm::function_ref<bool(const Kernel &)> fails);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_DIFFERENTIAL_H
