/* Driver of Arm Ethos-U55 and Ethos-U65. Its state is the caller's; nothing is allocated and nothing is
 * global.
 *
 * It runs driver payloads (isa/actions.def), which say for which configuration their stream was made:
 * those in our packages, and those of Vela. */
#ifndef intarsia_ethos_u_driver_h
#define intarsia_ethos_u_driver_h

#include <stdint.h>

#include "intarsia/contract/device.h"
#include "intarsia/contract/npu_hooks.h"
#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INTARSIA_ETHOS_U_EVENT_COUNTERS 4

struct intarsia_ethos_u {
  struct intarsia_device device; /* first: what emitted code is handed */

  /* Everything down to the next comment may be changed after open, which sets defaults. */

  /* How often the status is read before a run is given up; before a run that shows no sign of having begun is; and before a
   * reset is. */
  uint32_t poll_limit, start_limit, reset_limit;
  /* Called while the NPU works, before each further look at its status: waits for the interrupt
   * (`interrupts` changes), or lets others run. Null: intarsia_npu_wait is, with `patience_ms`. */
  void (*wait)(struct intarsia_ethos_u* npu, void* context);
  void* wait_context;
  uint32_t patience_ms;
  /* Registers QCONFIG, REGIONCFG and AXI_LIMIT0..3: over which port, and with how many transactions
   * under way, the stream and the regions are read. Default: stream and region 0 (constants) over AXI1,
   * region 2 (fast memory) over AXI0, and the others (the arena) where the function that opened the device
   * says. A region of which the package says that it lies in constants or in fast memory goes as regions 0 and 2 do. */
  uint32_t queue_config, region_config, axi_limits[4];
  /* The privilege the NPU runs with, as register RESET takes it: bit 0 privileged, bit 1 non-secure. A
   * device that is in another one when it is to run, as after losing its power, is reset into it. */
  uint32_t protection;
  /* Counting: what each counter is to count (PMU_EVENT of isa/registers.def). */
  uint8_t counting;
  uint16_t events[INTARSIA_ETHOS_U_EVENT_COUNTERS];

  /* Of the last run, when `counting` was set. */
  uint64_t cycles;
  uint32_t event_counts[INTARSIA_ETHOS_U_EVENT_COUNTERS];
  /* Of the last run that ended in an error after the NPU was started: register STATUS, and how many bytes of the stream the
   * NPU had read. Of one that was refused for a region, `fault_region` is its number. */
  uint32_t fault_status, fault_offset, fault_region;
  /* Registers ID and CONFIG as open found them. */
  uint32_t id, config;
  /* How often intarsia_ethos_u_interrupt was called. */
  volatile uint32_t interrupts;
  /* How often the NPU was found without what a run had left in it, as after a loss of its power, and was set up again. */
  uint32_t power_losses;

  uint8_t over_bus;
  union {
    void* registers;
    struct intarsia_register_bus bus;
  } access;
};

/* INTARSIA_ERROR_DEVICE_ABSENT when no Ethos-U55 or -U65 answers, INTARSIA_ERROR_DEVICE_RESET when it does not come out of
 * reset. The arena
 * is where it is by default on the product (memory-mode): in SRAM on an Ethos-U55, as after
 * intarsia_ethos_u_open_shared, and beside the constants on an Ethos-U65, as after
 * intarsia_ethos_u_open_dedicated. */
intarsia_status intarsia_ethos_u_open(struct intarsia_ethos_u* npu, void* registers);

/* The same over functions: a simulated device, or one behind another bus. */
intarsia_status intarsia_ethos_u_open_bus(struct intarsia_ethos_u* npu,
                                          const struct intarsia_register_bus* bus);

/* The same for streams of a given memory mode: shared, where the arena lies in the SRAM behind AXI0
 * (shared-sram, sram-only), or dedicated, where it lies behind AXI1 and SRAM is the NPU's own. */
intarsia_status intarsia_ethos_u_open_shared(struct intarsia_ethos_u* npu, void* registers);
intarsia_status intarsia_ethos_u_open_bus_shared(struct intarsia_ethos_u* npu,
                                                 const struct intarsia_register_bus* bus);
intarsia_status intarsia_ethos_u_open_dedicated(struct intarsia_ethos_u* npu, void* registers);
intarsia_status intarsia_ethos_u_open_bus_dedicated(struct intarsia_ethos_u* npu,
                                                    const struct intarsia_register_bus* bus);

/* For the NPU's interrupt handler: acknowledges, counts `interrupts`, and calls intarsia_npu_signal. */
void intarsia_ethos_u_interrupt(struct intarsia_ethos_u* npu);

#ifdef __cplusplus
}
#endif

#endif
