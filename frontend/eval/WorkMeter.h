//===- WorkMeter.h - what strings and containers cost ---------------------===//
//
// A loop may be short and what it handles long: joined, compared or printed,
// strings and containers take time and memory by their length. Operations say
// how much they are about to do, and that counts as steps of the evaluation.
// Past the limit they stop with whatever they have; who evaluates then throws
// it away (Evaluator::evaluate), or they return an error themselves.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_WORKMETER_H
#define TILE_FRONTEND_EVAL_WORKMETER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>

namespace tile::eval {

struct EvalError;

/// The longest string and container: what is longer is a mistake, not a program.
constexpr uint64_t maxElements = 1 << 22;

/// While one lives, work of this thread counts there. Without one it is free.
class Work {
public:
  Work(uint64_t &steps, uint64_t limit);
  ~Work();
  Work(const Work &) = delete;
  Work &operator=(const Work &) = delete;

  /// Elements of a container are about to be handled. False past the limit.
  static bool spend(uint64_t elements);
  /// So are bytes of a string, or bits of an integer that takes their square.
  static bool spendBytes(uint64_t bytes) { return spend(bytes / 16); }
  /// A string or container of so many elements, of 32 bytes each, is about to be kept. What can be
  /// made within the limit of steps therefore fits into memory, whether it is given up again or
  /// not.
  static bool spendObject(uint64_t elements) { return spend(8 + elements); }
  static bool spendBits(uint64_t bits) { return spend((bits / 64) * (bits / 64) / 16); }
  /// Why no more is done.
  static std::unique_ptr<EvalError> error();
  /// An error if a string or container of this length is not made.
  static std::unique_ptr<EvalError> checkLength(uint64_t elements);
  /// Adds a piece to a string that is put together, or says why not.
  static std::unique_ptr<EvalError> append(std::string &text, llvm::StringRef piece);

private:
  uint64_t &steps;
  const uint64_t limit;
  Work *const outer;
};

/// One more level of containers in containers, which may hold themselves.
class Nesting {
public:
  Nesting();
  ~Nesting();
  bool isTooDeep() const;
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_WORKMETER_H
