// What the sanitizers are told where nobody tells them something else (ASAN_OPTIONS and the like
// still do): every program of a build with TILE_SANITIZE has this, so that a test and a tool run by
// hand behave alike.
//
// LLVM's own libraries are not instrumented. They neither keep the marks that our copies of the
// headers' code leave behind vectors' ends and in arenas, nor clear them.
#define TILE_DEFAULTS extern "C" __attribute__((visibility("default"), used)) const char *

// Emulated threads run on stacks of their own, which a second stack for locals does not know. Who
// asks for more memory than there is, and for a null pointer if so, gets that.
TILE_DEFAULTS __asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:detect_stack_use_after_return=0:"
         "allocator_may_return_null=1";
}

TILE_DEFAULTS __ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }

// Not lost, but kept until the process ends: what LLVM's libraries have for themselves, also where
// a library that uses them was closed; the states of kernels built ahead, some of which tests have
// on their stacks; what a driver of tests was told not to free.
TILE_DEFAULTS __lsan_default_suppressions() {
  return "leak:libMLIR.so\nleak:libLLVM.so\nleak:tile::ahead::stateOf\nleak:FakeCuda.cpp\n";
}
