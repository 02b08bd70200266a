//===- Ptx.h - the text of inline PTX, taken apart ------------------------===//
#ifndef TILE_EMULATOR_PTX_PTX_H
#define TILE_EMULATOR_PTX_PTX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tile::emu {

struct PtxOperand {
  enum Kind {
    Placeholder, ///< $3
    Name,        ///< a register, label or special register
    Integer,
    Float,  ///< the bits are in `value`, 32 or 64 of them in `floatBits`
    Vector, ///< {a, b}, and a|b
    Memory, ///< [a+8] or [a, {x, y}]: the address in elements[0], then the rest
    Sink,   ///< _
  } kind = Sink;
  unsigned index = 0; ///< Placeholder
  std::string name;
  int64_t value = 0; ///< Integer; Memory: the offset
  unsigned floatBits = 0;
  bool negated = false; ///< !p
  std::vector<PtxOperand> elements;
};

struct PtxStatement {
  std::string label;                       ///< of a statement that is a label and nothing else
  std::string opcode;                      ///< "ld.global.b32"; ".reg" for a declaration
  llvm::SmallVector<std::string, 8> parts; ///< the opcode, cut at its dots
  bool guarded = false;
  PtxOperand guard;
  std::vector<PtxOperand> operands;
  /// Of a declaration: the type without its dot; names in the operands.
  std::string type;

  bool has(llvm::StringRef part) const;
};

/// `text` with LLVM's placeholders `$0`, `${1:...}`, `$$`.
llvm::Expected<std::vector<PtxStatement>> parsePtx(llvm::StringRef text);

} // namespace tile::emu

#endif // TILE_EMULATOR_PTX_PTX_H
