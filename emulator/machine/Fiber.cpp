//===- Fiber.cpp - stacks that take turns on one host thread --------------===//
#include "emulator/machine/Fiber.h"
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__)
#include <memory>
#include <ucontext.h>
#endif

using namespace tile::emu;

#if defined(__x86_64__)

extern "C" void tileSwitchFiber(void **from, void *to);
extern "C" void tileEnterFiber();

// The callee-saved registers go on the old stack and come off the new one. A
// fresh stack returns into tileEnterFiber with the entry in rbx and its
// argument in r12.
asm(R"(
  .text
  .globl tileSwitchFiber
  .hidden tileSwitchFiber
  .type tileSwitchFiber, @function
tileSwitchFiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size tileSwitchFiber, . - tileSwitchFiber
  .globl tileEnterFiber
  .hidden tileEnterFiber
  .type tileEnterFiber, @function
tileEnterFiber:
  movq %r12, %rdi
  callq *%rbx
  ud2
  .size tileEnterFiber, . - tileEnterFiber
)");

void tile::emu::switchFiber(FiberContext &from, FiberContext to) { tileSwitchFiber(&from, to); }

FiberContext tile::emu::makeFiber(void *stack, size_t bytes, void (*entry)(void *),
                                  void *argument) {
  auto *top = reinterpret_cast<uint64_t *>(static_cast<char *>(stack) + bytes);
  // After the return into tileEnterFiber the stack is aligned as a call wants it.
  *--top = 0;
  *--top = 0;
  *--top = reinterpret_cast<uint64_t>(&tileEnterFiber);
  *--top = 0;                                    // rbp
  *--top = reinterpret_cast<uint64_t>(entry);    // rbx
  *--top = reinterpret_cast<uint64_t>(argument); // r12
  *--top = 0;                                    // r13
  *--top = 0;                                    // r14
  *--top = 0;                                    // r15
  return top;
}

#else

// Anywhere else: the C library's contexts, which also save the signal mask. A
// context lives at the top of its stack; that of a host thread is kept for it.
namespace {
struct Saved {
  ucontext_t context;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
};
void enter(unsigned low, unsigned high) {
  auto *saved = reinterpret_cast<Saved *>((uint64_t(high) << 32) | low);
  saved->entry(saved->argument);
}
thread_local Saved hostContext;
thread_local Saved *running = nullptr;
} // namespace

void tile::emu::switchFiber(FiberContext &from, FiberContext to) {
  Saved *here = running ? running : &hostContext;
  from = here;
  running = static_cast<Saved *>(to) == &hostContext ? nullptr : static_cast<Saved *>(to);
  swapcontext(&here->context, &static_cast<Saved *>(to)->context);
}

FiberContext tile::emu::makeFiber(void *stack, size_t bytes, void (*entry)(void *),
                                  void *argument) {
  size_t usable = (bytes - sizeof(Saved)) & ~size_t(63);
  auto *saved = new (static_cast<char *>(stack) + usable) Saved;
  saved->entry = entry, saved->argument = argument;
  getcontext(&saved->context);
  saved->context.uc_stack.ss_sp = stack;
  saved->context.uc_stack.ss_size = usable;
  saved->context.uc_link = nullptr;
  auto bits = reinterpret_cast<uint64_t>(saved);
  makecontext(&saved->context, reinterpret_cast<void (*)()>(enter), 2, unsigned(bits),
              unsigned(bits >> 32));
  return saved;
}

#endif

static size_t pageBytes() {
  static const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

StackPool::~StackPool() {
  for (void *block : blocks)
    munmap(block, bytes + pageBytes());
}

void *StackPool::take() {
  if (free.empty()) {
    void *block = mmap(nullptr, bytes + pageBytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
      return nullptr;
    mprotect(block, pageBytes(), PROT_NONE);
#ifdef MADV_NOHUGEPAGE
    madvise(block, bytes + pageBytes(), MADV_NOHUGEPAGE); // a touch takes a page, not megabytes
#endif
    blocks.push_back(block);
    free.push_back(static_cast<char *>(block) + pageBytes());
  }
  void *stack = free.back();
  free.pop_back();
  return stack;
}
