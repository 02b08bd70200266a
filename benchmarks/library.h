/*===- library.h - libtile, opened at run time ------------------------------===*\
 *
 * What the benchmarks of launches share. `FUNCTIONS(X)` names what of the library they call,
 * with `tile_last_error` among it; behind `openLibrary` all of it is in `api`.
 *
\*===----------------------------------------------------------------------===*/
#ifndef TILE_BENCHMARKS_LIBRARY_H
#define TILE_BENCHMARKS_LIBRARY_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
#define FIELD(name) __typeof__(&name) name;
  FUNCTIONS(FIELD)
} api;

static void openLibrary(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define RESOLVE(name)                                                                              \
  if (!(*(void **)&api.name = dlsym(library, #name))) {                                            \
    fprintf(stderr, "%s has no %s\n", path, #name);                                                \
    exit(1);                                                                                       \
  }
  FUNCTIONS(RESOLVE)
}

static void check(tile_status status) {
  if (status != TILE_OK) {
    fprintf(stderr, "%s\n", api.tile_last_error());
    exit(1);
  }
}

static double nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compareDoubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#endif /* TILE_BENCHMARKS_LIBRARY_H */
