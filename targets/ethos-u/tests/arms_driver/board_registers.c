/* Takes the stand-in's place in firmware for mps3-an547 in QEMU, with the sources of Arm's core driver beside it: the
 * driver reads and writes registers where the board has them, and the simulated NPU answers there. The NPU's interrupt
 * does not reach the emulated core: who waits for it looks at the registers instead. */
/* The macros of the product stand before this text. */
#include <ethosu_driver.h>

#include "intarsia/contract/board_devices.h"
#include "intarsia/contract/remote_device.h"
#include "intarsia/targets/ethos_u/core_driver/core_driver.h"

enum { STATUS = 0x04, IRQ_RAISED = 2 };

static struct ethosu_driver driver;
static uintptr_t registers;

void intarsia_test_wait_for_event(void) {
  const volatile uint32_t* status = (const volatile uint32_t*)(registers + STATUS);
  if ((*status & IRQ_RAISED) != 0) ethosu_irq_handler(&driver);
}

/* Without a heap. */
void* ethosu_semaphore_create(void) {
  static uint8_t counts[2];
  static uint32_t made;
  return made == sizeof counts ? NULL : &counts[made++];
}

void ethosu_semaphore_destroy(void* semaphore) {
  (void)semaphore;
}

static intarsia_status open_npu(struct intarsia_ethos_u_core_driver* device) {
  const intarsia_status status = intarsia_ethos_u_core_driver_open(device, NULL);
  void* at = intarsia_board_registers("ethos-u", 0);
  if (status != INTARSIA_OK) return status;
  registers = (uintptr_t)at;
  if (at == NULL || intarsia_remote_registers(0, at) != 0 ||
      ethosu_init(&driver, at, NULL, 0, 1, 1) != 0)
    return INTARSIA_ERROR_DEVICE_ABSENT;
  return INTARSIA_OK;
}

intarsia_status intarsia_ethos_u_core_driver_open_bus_shared(
    struct intarsia_ethos_u_core_driver* device, const struct intarsia_register_bus* bus) {
  (void)bus;
  return open_npu(device);
}

intarsia_status intarsia_ethos_u_core_driver_open_bus_dedicated(
    struct intarsia_ethos_u_core_driver* device, const struct intarsia_register_bus* bus) {
  (void)bus;
  return open_npu(device);
}
