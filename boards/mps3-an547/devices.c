/* The Ethos-U55 of the FPGA image: where its registers are in the address map of AN547. */
#include <stddef.h>

#include "intarsia/contract/board_devices.h"

#define INTARSIA_ETHOS_U55 0x48102000u

static int is_ethos_u(const char* name) {
  static const char expected[] = "ethos-u";
  size_t i = 0;
  while (i < sizeof expected - 1u && name[i] == expected[i]) ++i;
  return name[i] == expected[i];
}

void* intarsia_board_registers(const char* name, int32_t unit) {
  return unit == 0 && is_ethos_u(name) ? (void*)(uintptr_t)INTARSIA_ETHOS_U55 : NULL;
}
