/* Driver of the example NPU. Its state is the caller's; nothing is allocated and nothing is global. */
#ifndef intarsia_example_npu_driver_h
#define intarsia_example_npu_driver_h

#include <stdint.h>

#include "intarsia/contract/device.h"
#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_example_npu {
  struct intarsia_device device; /* first: what emitted code is handed */
  /* How often the status is read before a run is given up; open sets a default. */
  uint32_t poll_limit;
  /* Of the last run that ended in INTARSIA_ERROR_DEVICE_FAULT: isa/faults.def, and which command. */
  uint32_t fault_cause, fault_command;
  union {
    void* registers;
    struct intarsia_register_bus bus;
  } access;
};

/* INTARSIA_ERROR_DEVICE_ABSENT when no such device answers. */
intarsia_status intarsia_example_npu_open(struct intarsia_example_npu* npu, void* registers);

/* The same over functions: a simulated device, or one behind another bus. */
intarsia_status intarsia_example_npu_open_bus(struct intarsia_example_npu* npu,
                                              const struct intarsia_register_bus* bus);

#ifdef __cplusplus
}
#endif

#endif
