/* Kernels that were built ahead, launched; without a GPU the status says so. */
#include "modelled.h"
#include "tuned.h"
#include "vector_add.h"
#include <stdio.h>

static int isFine(const char *what, tile_status status) {
  printf("built ahead: %s: %s\n", what, status == TILE_OK ? "launched" : tile_rt_last_error());
  return status == TILE_OK || status == TILE_NO_DRIVER;
}

int main(void) {
  static float buffer[4];
  /* By records and by the cost model: code of several configurations. */
  if (scale.num_configurations != 2 || scale.num_choices != 2 || shift.num_choices < 4)
    return 2;
  return isFine("add", add_launch(NULL, NULL, buffer, buffer, buffer, 4)) &&
                 isFine("scale", scale_launch(NULL, NULL, buffer, 4)) &&
                 isFine("shift", shift_launch(NULL, NULL, buffer, 4))
             ? 0
             : 1;
}
