/*===- glibc_compat.c - release builds run on older glibc -----------------===*\
 *
 * The static libraries of the build machine call functions that older glibc
 * versions do not have. With these definitions in the binary itself, releases
 * built against glibc 2.36 run from 2.34 on.
 *
\*===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* Since 2.36. For std::random_device. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    abort();
  return value;
}

/* Since 2.35. For the unwinder: which loaded object holds an address, and where
 * its table of frame descriptions is. */
struct search {
  uintptr_t address;
  struct dl_find_object *result;
};

static int visit(struct dl_phdr_info *object, size_t size, void *data) {
  struct search *search = data;
  uintptr_t start = UINTPTR_MAX, end = 0, frames = 0;
  int holds = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME)
      frames = from;
    if (segment->p_type != PT_LOAD)
      continue;
    uintptr_t to = from + segment->p_memsz;
    start = from < start ? from : start;
    end = to > end ? to : end;
    holds |= search->address >= from && search->address < to;
  }
  if (!holds || !frames)
    return 0;
  search->result->dlfo_flags = 0;
  search->result->dlfo_map_start = (void *)start;
  search->result->dlfo_map_end = (void *)end;
  search->result->dlfo_link_map = NULL;
  search->result->dlfo_eh_frame = (void *)frames;
  return 1;
}

__attribute__((visibility("hidden"))) int _dl_find_object(void *address,
                                                          struct dl_find_object *result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit, &search) ? 0 : -1;
}
