//===- Instruction.h - the compiled form of a function --------------------===//
//
// A function becomes a flat list of instructions over registers. A register is
// a dense, row-major array of elements at a fixed offset of the frame (the
// working memory of one running program); a scalar is an array of one. Each
// instruction names the host function that carries it out on whole registers,
// so the interpreter's own cost is one indirect call a block, and the loops
// inside are plain enough for the host compiler to vectorise.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_INSTRUCTION_H
#define TILE_RUNTIME_INTERP_INSTRUCTION_H

#include "runtime/interp/Interpreter.h"
#include "runtime/interp/Numeric.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace tile::interp {

struct Frame;
struct Instruction;

/// Carries out `i` on the first `n` elements of its registers.
using Kernel = void (*)(Frame &frame, const Instruction &i, uint32_t n);

enum class Control : uint8_t {
  Run,         ///< call the kernel, go on
  RunChecked,  ///< call the kernel, stop if the frame failed
  Jump,        ///< to `target`
  JumpIfFalse, ///< to `target` if the i1 register `a` is 0
  JumpIfDone,  ///< to `target` if the i64 register `a` is 0
  ForBack,     ///< Jump that closes a counted loop: a sign of progress
  LoopBack,    ///< Jump that closes a loop of unknown length
  Spend,       ///< what follows is work of `imm`, and `n` a lane, as often as register `a` says
  Return,
};

struct Instruction {
  Kernel kernel = nullptr;
  Control control = Control::Run;
  uint32_t n = 1;
  uint32_t dst = 0, a = 0, b = 0, c = 0; ///< frame offsets; `kNone`: absent
  uint32_t target = 0;                   ///< jumps: an index into the code
  uint32_t place = 0;                    ///< index into ProgramImpl::places
  int64_t imm = 0;
  const void *aux = nullptr; ///< what else the kernel needs, owned by the program
};
inline constexpr uint32_t kNone = ~0u;

/// Where an operation came from.
struct Place {
  SourcePlace place;
  std::vector<SourcePlace> callers;
};

/// Base of what `aux` may point to when it has to be freed.
struct Aux {
  virtual ~Aux();
  /// Instructions that run as part of the one this belongs to, or null.
  virtual std::vector<Instruction> *nestedCode() { return nullptr; }
};

struct Parameter {
  DType type;
  uint32_t offset;
  bool isPointer;
  std::string name;         ///< as in the source, if known
  int64_t divisibility = 1; ///< what the caller promises
  bool isConstant = false;  ///< pointers: nobody writes through them
};

struct ProgramImpl {
  std::string name;
  std::vector<Instruction> code;
  /// What runs as part of other instructions; counted behind `code`.
  std::vector<const std::vector<Instruction> *> nested;
  std::vector<Place> places; ///< the first is the function's
  std::vector<Parameter> parameters;
  std::vector<std::unique_ptr<Aux>> auxiliary;
  /// Constants sit at the start of every frame and are copied there once.
  std::vector<uint8_t> constants;
  uint64_t frameBytes = 0;
  bool checked = false;
  /// The smallest element any memory operation touches.
  unsigned granule = 8;
  /// As it is written: which thread holds which lane is not known yet.
  bool isAsWritten = true;

  uint32_t numInstructions() const;
  uint32_t indexOf(const Instruction &i) const;
  const Instruction &instruction(uint32_t index) const;
};

class CheckState;
struct Launch;

/// One running program.
struct Frame {
  uint8_t *base = nullptr;
  uint32_t programId[3] = {0, 0, 0};
  uint32_t grid[3] = {1, 1, 1};
  uint64_t linearId = 0;
  uint32_t pc = 0;
  bool failed = false;
  bool changedMemory = false; ///< since the last look of the scheduler
  uint64_t work = 0;          ///< done, and not yet added to the launch's
  const ProgramImpl *program = nullptr;
  Launch *launch = nullptr;
  CheckState *check = nullptr;
  std::string printed;

  template <class T> T *reg(uint32_t offset) { return reinterpret_cast<T *>(base + offset); }
  /// Records a finding and stops this program.
  void fail(FindingKind kind, const Instruction &i, int64_t lane, std::string message);
};

/// Runs `code` from `pc` until it returns, fails or (outside of combiners)
/// gives way to other programs. `lanes`: run every instruction on that many
/// elements in place of its own count; 0: as compiled.
enum class Outcome { Finished, Failed, Suspended };
Outcome execute(Frame &frame, const Instruction *code, uint32_t &pc, uint32_t lanes);

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_INSTRUCTION_H
