/* Arm's core driver (ethosu_driver.h) as the device of a model: each of its streams is handed to
 * ethosu_invoke_v3(). The driver is the program's own: it is linked, set up by ethosu_init() and served by
 * ethosu_irq_handler() as for any other of its users. */
#ifndef intarsia_ethos_u_core_driver_h
#define intarsia_ethos_u_core_driver_h

#include "intarsia/contract/device.h"
#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ethosu_driver;

struct intarsia_ethos_u_core_driver {
  struct intarsia_device device; /* first: what emitted code is handed */

  /* Both may be changed after open, which sets them to null. */

  /* The NPU to use. Null: one is reserved for each run (ethosu_reserve_driver), which waits until one is
   * free, and released behind it. A program whose NPUs differ names the one that the model was compiled for;
   * then nothing is reserved. */
  struct ethosu_driver* driver;
  /* What ethosu_inference_begin() and ethosu_inference_end() are handed. */
  void* user_arg;

  /* What the last call of ethosu_invoke_v3() returned. */
  int result;
};

/* `registers` is not looked at: the program has told the driver where they are. */
intarsia_status intarsia_ethos_u_core_driver_open(struct intarsia_ethos_u_core_driver* npu,
                                                  void* registers);

/* The same over a simulated NPU, whose arena lies where the memory mode of the model says. Defined by what stands in
 * for Arm's driver in programs that the compiler builds and runs itself, and nowhere else. */
intarsia_status intarsia_ethos_u_core_driver_open_bus_shared(
    struct intarsia_ethos_u_core_driver* npu, const struct intarsia_register_bus* bus);
intarsia_status intarsia_ethos_u_core_driver_open_bus_dedicated(
    struct intarsia_ethos_u_core_driver* npu, const struct intarsia_register_bus* bus);

#ifdef __cplusplus
}
#endif

#endif
