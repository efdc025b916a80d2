/* beside_npu: its devices on this board, behind the boards' generic main program. Generated
 * file; a program of your own does not need it. */
#include "intarsia/contract/board_devices.h"

#include <stddef.h>

#include "intarsia/targets/example_npu/driver.h"

/* example-npu: example-npu */
static struct intarsia_device *open_device0(void) {
  static struct intarsia_example_npu driver;
  void *registers = intarsia_board_registers("example-npu", 0);
  if (registers == NULL) return NULL;
  if (intarsia_example_npu_open(&driver, registers) != INTARSIA_OK) return NULL;
  return &driver.device;
}

struct intarsia_device *intarsia_board_device(int32_t index) {
  switch (index) {
    case 0: return open_device0();
    default: return NULL;
  }
}
