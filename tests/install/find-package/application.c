// A model compiled by the installed Intarsia, called from C.
#include <stdio.h>

#include "clamp_sum.h"

static _Alignas(CLAMP_SUM_ALIGNMENT) uint8_t ram[CLAMP_SUM_RAM_BYTES];
static struct clamp_sum model;

int main(void) {
  const struct clamp_sum_resources resources = {.ram = ram};
  if (clamp_sum_init(&model, &resources) != 0) return 1;
  int8_t *left = clamp_sum_input(&model, 0), *right = clamp_sum_input(&model, 1);
  for (int i = 0; i < 8; ++i) {
    left[i] = (int8_t)(10 * i);
    right[i] = -25;
  }
  if (clamp_sum_run(&model) != 0) return 1;
  const int8_t* sum = clamp_sum_output(&model, 0);
  for (int i = 0; i < 8; ++i) printf("%d ", sum[i]);
  printf("\n");
  return 0;
}
