//===- Explain.h - what became of a kernel, and what limits it ------------===//
//
// Reads a compiled kernel (laid out, before it is lowered) back as a report:
// how each access reaches memory, what each product runs on, what moves through
// shared memory, and from that what a program costs. Bounds come from the data
// sheet of a device: they say what cannot be beaten, not what will be reached.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_EXPLAIN_H
#define TILE_COMPILER_EXPLAIN_H

#include "compiler/Compiler.h"
#include "target/Devices.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>
#include <optional>

namespace tile {

struct ExplainOptions {
  CompileOptions compile;
  std::string device; ///< empty: one that runs the target
  /// Integer arguments by name, for trip counts.
  std::map<std::string, int64_t> values;
  /// Programs of the launch along each axis; zeros: not known.
  std::array<uint32_t, 3> grid = {};
  /// Goes no further than layouts: there is no PTX then.
  bool onlyLaidOut = false;
};

/// What one pass over some code moves and computes, for one program.
struct Work {
  double read = 0, written = 0; ///< bytes between global memory and the program
  double sectors = 0;           ///< bytes that its requests take: whole sectors of 32
  double lines = 0;             ///< the same, where rows of copies by TMA count as whole lines
  double wavefronts = 0;        ///< of shared memory, in exchanges
  std::array<double, kNumArithmetic> operations{};
  void add(const Work &other, double times);
};

struct Explanation {
  struct Place {
    unsigned line = 0, column = 0; ///< 1-based; 0: none
    int loop = -1;                 ///< innermost loop around it, in `loops`
  };
  struct Access : Place {
    std::string kind;  ///< "load", "store", "atomic"
    std::string block; ///< "128x64 fp16"
    std::string path;  ///< "TMA", "cp.async", "vector", "scalar"
    /// More about the path; why it is not TMA; why it is not cp.async either; why a thread
    /// moves no more at once.
    std::string detail, reason, copyReason, widthReason;
    unsigned vectorBytes = 0;             ///< that a thread moves at once
    unsigned requests = 0;                ///< instructions of a thread
    double sectors = 0, idealSectors = 0; ///< of one request of a warp
    double bytes = 0;                     ///< of the block
    double moved = 0;                     ///< that its requests take, in whole sectors
    /// Of the first programs of the grid, in its order, those before which no other has loaded
    /// the same block; none: not known. And how many were asked.
    std::vector<uint32_t> firstReaders;
    uint32_t programsAsked = 0;
  };
  struct Exchange : Place {
    std::string what, block, path; ///< "registers", "shuffles", "shared memory"
    double bytes = 0;
    double wavefronts = 0, idealWavefronts = 0; ///< all warps, writing and reading
  };
  struct Dot : Place {
    std::string shape, instruction, left, right, reason;
    double operations = 0;
  };
  struct Loop : Place { ///< its own place; `loop` is the one around it
    std::optional<int64_t> trips;
    Work each; ///< of one iteration, inner loops not counted
  };
  struct Ring : Place {
    int stages = 0, wanted = 0;
    double bytes = 0;             ///< of one stage
    bool hasStageForEach = false; ///< iteration of its loop: more are of no use
  };

  KernelMetadata metadata;
  const DeviceModel *device = nullptr; ///< null: no bounds
  std::vector<Access> accesses;
  std::vector<Exchange> exchanges;
  std::vector<Dot> dots;
  std::vector<Loop> loops;
  std::vector<Ring> rings;
  Work outside; ///< of all loops
  int consumerWarps = 0, producerWarps = 0;
  int groups = 1; ///< of consumers, which take blocks by turns
  /// Axes of the grid along which programs start from the end: those are the longest.
  std::vector<int> fromEnd;
  /// Arguments of which launches with such multiples are better served by a form of their own.
  std::vector<std::pair<std::string, int>> wantedMultiples;
  /// What was asked for in vain, and why: ("pingpong", "a warpgroup has ...").
  std::vector<std::pair<std::string, std::string>> refused;
  int blockRegisters = 0;         ///< of a thread, that blocks take where most are held, about
  std::vector<int> roleRegisters; ///< set by setmaxnreg: consumers, producer
  // Known after assembling:
  int registers = -1, spillBytes = -1;

  std::string assemblerError; ///< of an assembler that was there and failed

  // Set by conclude:
  std::optional<Occupancy> occupancy;
  Work scope;                            ///< what the bound is about
  int scopeLoop = -1;                    ///< one iteration of this loop; -1: a whole program
  double boundSeconds = 0;               ///< of `scope` on one multiprocessor
  std::map<std::string, double> seconds; ///< by what would take them
  std::string limit;                     ///< one line

  /// Works out occupancy, bounds and what limits the kernel.
  void conclude();
  void print(llvm::raw_ostream &os, const frontend::SourceFile &file) const;
  llvm::json::Value toJson() const;
};

/// Compiles to PTX (`result.output`) and explains; call `conclude` after
/// filling in what the assembler says. False if `result` has errors.
bool explain(Compiler &compiler, const frontend::SourceFile &file, const ExplainOptions &options,
             CompileResult &result, Explanation &out);

/// Registers and spills from the remarks of ptxas or the driver.
void readAssemblerLog(llvm::StringRef log, Explanation &out);

} // namespace tile

#endif // TILE_COMPILER_EXPLAIN_H
