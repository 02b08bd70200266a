//===- CountAllocations.cpp -----------------------------------------------===//
#include "CountAllocations.h"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <pthread.h>

static std::atomic<unsigned long> news, mallocs, locks;

tile::test::Counts tile::test::counts() { return {news, mallocs, locks}; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
bool tile::test::countsMallocs() { return false; }
#else
bool tile::test::countsMallocs() { return true; }

// Shown to the libraries, too: what they ask for in a test's name counts.
#pragma GCC visibility push(default)
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = aligned_alloc(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  using Function = int (*)(pthread_mutex_t *);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks.fetch_add(1, std::memory_order_relaxed);
  return next(mutex);
}
}
#pragma GCC visibility pop

void *operator new(size_t bytes) {
  news.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}
void *operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
#endif
