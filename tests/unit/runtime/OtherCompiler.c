/*===- OtherCompiler.c - a libtile_compiler.so of some other build ---------===*/
#include <stddef.h>

static const struct {
  const char *build;
  const void *runtime;
} entries = {"0.0.0-some-other", NULL};

__attribute__((visibility("default"))) const void *tile_compiler_entries(void) { return &entries; }
