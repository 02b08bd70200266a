//===- CompileOptions.h - what a compilation is asked for -----------------===//
//
// Everything that decides what comes out, besides the source. The front end, the
// compiler, the runtime and the tools all speak of it; none of them owns it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_COMPILEOPTIONS_H
#define TILE_TARGET_COMPILEOPTIONS_H

#include "target/Target.h"
#include "target/WarpRoles.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tile {

/// Where to stop, in pipeline order.
enum class Stage { Ast, Tile, Cta, Llvm, Ptx };

/// How many programs of its grid a multiprocessor has.
enum class GridPrograms {
  Any,  ///< many, and whoever launches takes a form for few where a grid has few
  Few,  ///< loops load turns ahead what no other program hides the wait for
  Many, ///< however many there are
};

/// Everything that decides what comes out, besides the source. Hashed whole
/// into cache keys, but for `print`.
struct CompileOptions {
  std::string kernel;    ///< function to compile; empty: the file's only kernel
  std::string signature; ///< see `tilec compile --help`; empty: from annotations
  /// NAME -> VALUE (JSON, `tl.float16`, `@function`, inf, -inf, nan), in order.
  std::vector<std::pair<std::string, std::string>> constexprs;
  int numWarps = kDefaultWarps;
  int numStages = kDefaultStages; ///< 0: as many as fit
  std::string target = fallbackTarget().name.str();
  bool enableFpFusion = true; ///< contract a*b+c
  bool debug = false;         ///< keep device asserts
  /// On sm_90 and later: wait for the grids before it inside the kernel, which
  /// lets the launch overlap their end.
  bool dependentLaunch = true;
  /// One thread block runs several programs of the grid, where that pays. The
  /// launcher starts no more blocks than fit the chip and passes the true grid.
  bool persistent = false;
  /// On sm_90a, of a persistent kernel: thread blocks of a cluster, which load once
  /// what their programs have in common.
  int numCtas = 1;
  WarpRoles warpRoles = WarpRoles::Auto;
  GridPrograms programs = GridPrograms::Any;
  /// The launcher checks that arrays suit TMA and takes a kernel compiled with
  /// `tensorMaps` off where they do not: strides may be taken to suit.
  bool checkedLaunch = false;
  bool tensorMaps = true; ///< copies by TMA on targets that have it
  /// What the launcher knows of values and addresses beyond the signature: an entry of it, and what
  /// its value is a multiple of, a power of two. 1: nothing, and launches look for no more.
  std::vector<std::pair<unsigned, unsigned>> multiples;
  /// Launches look whether arguments are multiples that the kernel would be faster for, and take
  /// a form of it that was compiled for them. Off where another value is to compile nothing.
  bool multiplesAtLaunch = true;
  /// Every lane of a warp tells a copying warp that it is done, not one for all: slower,
  /// for tools that do not follow what a warp's barrier orders.
  bool eachLaneArrives = false;
  /// Numbers of a ring in the place of floating-point ones (docs/algebraic-mode.md): for the
  /// emulator only, up to `Stage::Llvm`.
  bool algebraic = false;
  /// For devices that check: report what only running can tell, such as a name that is read
  /// and that no turn of its loop has bound.
  bool checked = false;
  int maxRegisters = 0;      ///< `.maxnreg`; 0: none
  std::string libdevicePath; ///< optional: NVIDIA's libdevice bitcode
  std::vector<std::string> includePaths;
  bool lineInfo = true; ///< `.loc` in the PTX
  Stage stopAfter = Stage::Ptx;
  std::string printIrAfter; ///< pass name; dump goes to `CompileResult::irDump`
  bool timing = false;
  /// Told what `static_print` prints, in the thread that compiles; empty: nobody is. No part
  /// of what comes out, nor of keys.
  std::function<void(llvm::StringRef)> print;
};

} // namespace tile

#endif // TILE_TARGET_COMPILEOPTIONS_H
