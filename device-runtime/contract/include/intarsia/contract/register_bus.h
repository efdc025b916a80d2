/* Access to a device's registers through functions: how a driver talks to a simulated device, or to
 * one behind another bus. A memory-mapped device needs none of this. */
#ifndef INTARSIA_CONTRACT_REGISTER_BUS_H
#define INTARSIA_CONTRACT_REGISTER_BUS_H

#include <stdint.h>

/* Offsets are in bytes, multiples of 4, from the device's first register. */
struct intarsia_register_bus {
  uint32_t (*read)(void *context, uint32_t offset);
  void (*write)(void *context, uint32_t offset, uint32_t value);
  void *context;
};

#endif
