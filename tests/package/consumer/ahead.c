/* A kernel that was built ahead, launched; without a GPU the status says so. */
#include "vector_add.h"
#include <stdio.h>

int main(void) {
  static float buffer[4];
  tile_status status = add_launch(NULL, NULL, buffer, buffer, buffer, 4);
  printf("built ahead: %s\n", status == TILE_OK ? "launched" : tile_rt_last_error());
  return status == TILE_OK || status == TILE_NO_DRIVER ? 0 : 1;
}
