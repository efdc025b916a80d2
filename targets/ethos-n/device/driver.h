/* Driver of Arm Ethos-N78. Its state is the caller's; nothing is allocated and nothing is global.
 *
 * It makes the table of buffers that a compiled network is run with, and hands it to the control unit
 * through a mailbox (isa/payload.def). The firmware of the control unit is Arm's. */
#ifndef intarsia_ethos_n_driver_h
#define intarsia_ethos_n_driver_h

#include <stdint.h>

#include "intarsia/contract/device.h"
#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers that one network may have: networks with more are refused. */
#define INTARSIA_ETHOS_N_MAX_BUFFERS 256

struct intarsia_ethos_n_buffer {
  uint64_t address;
  uint32_t bytes, type;
};

struct intarsia_ethos_n {
  struct intarsia_device device; /* first: what emitted code is handed */
  /* How often the status is read before a run is given up; open sets a default. */
  uint32_t poll_limit;
  /* Of the last run that ended in INTARSIA_ERROR_DEVICE_FAULT. */
  uint32_t fault_cause;
  uint32_t variant; /* in the order of isa/variants.def, as open found it */
  struct intarsia_ethos_n_buffer buffers[INTARSIA_ETHOS_N_MAX_BUFFERS];
  uint8_t over_bus;
  union {
    void* registers;
    struct intarsia_register_bus bus;
  } access;
};

/* INTARSIA_ERROR_DEVICE_ABSENT when no control unit with this mailbox answers. */
intarsia_status intarsia_ethos_n_open(struct intarsia_ethos_n* npu, void* registers);

/* The same over functions: a simulated device, or one behind another bus. */
intarsia_status intarsia_ethos_n_open_bus(struct intarsia_ethos_n* npu,
                                          const struct intarsia_register_bus* bus);

#ifdef __cplusplus
}
#endif

#endif
