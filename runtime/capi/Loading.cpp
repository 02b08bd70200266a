//===- Loading.cpp - before LLVM registers its options --------------------===//
//
// Loading the compiler's library is mostly LLVM: two thousand options register themselves in a
// table that grows as often as its size doubles, and write to a page each. Here the table gets its
// size, and the pages are asked for at once.
//
//===----------------------------------------------------------------------===//
#include "llvm/Support/CommandLine.h"
#include <cstdint>
#include <sys/mman.h>

/// Where the library's variables that begin as zeros are, by the linker.
extern __attribute__((visibility("hidden"))) char zerosBegin[] __asm__("__bss_start");
extern __attribute__((visibility("hidden"))) char zerosEnd[] __asm__("_end");

/// Ahead of all that have no priority.
__attribute__((constructor(101))) static void prepareForOptions() {
  constexpr unsigned kOptions = 2048; // a few more than LLVM 22 has
  llvm::cl::SubCommand::getTopLevel().OptionsMap.reserve(kOptions);
#ifdef MADV_POPULATE_WRITE
  constexpr uintptr_t kPage = 4096;
  uintptr_t begin = reinterpret_cast<uintptr_t>(zerosBegin) / kPage * kPage + kPage;
  uintptr_t end = reinterpret_cast<uintptr_t>(zerosEnd) / kPage * kPage;
  if (begin < end) // an older kernel refuses, and nothing is lost
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_POPULATE_WRITE);
#endif
}
