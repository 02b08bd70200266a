//===- CountAllocations.h - what a test's code asks of the system ---------===//
//
// Replaces operator new, malloc and pthread_mutex_lock in a test program with ones that
// count. Under a sanitizer, which has its own, nothing is counted.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_COUNTALLOCATIONS_H
#define TILE_TESTS_COUNTALLOCATIONS_H

namespace tile::test {
struct Counts {
  unsigned long news = 0, mallocs = 0, locks = 0;
};
/// So far, of all threads.
Counts counts();
/// Whether anything is counted.
bool countsMallocs();
} // namespace tile::test

#endif // TILE_TESTS_COUNTALLOCATIONS_H
