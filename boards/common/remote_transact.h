/* One access to a register that another program holds (intarsia/contract/remote_device.h). */
#ifndef INTARSIA_BOARD_REMOTE_TRANSACT_H
#define INTARSIA_BOARD_REMOTE_TRANSACT_H

#include <stdint.h>

#include "intarsia/contract/remote_device.h"

/* What was read; for a write, nothing of meaning. Waits for the other program. */
static inline uint32_t intarsia_remote_transact(volatile struct intarsia_remote_device* device,
                                                uint32_t operation, uint32_t offset,
                                                uint32_t value) {
  const uint32_t number = device->request + 1u;
  device->operation = operation;
  device->offset = offset;
  device->value = value;
  __asm__ volatile("dsb" ::: "memory");
  device->request = number;
  __asm__ volatile("dsb" ::: "memory");
  while (device->answer != number) {
  }
  __asm__ volatile("dsb" ::: "memory");
  return device->value;
}

#endif
