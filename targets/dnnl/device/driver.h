/* Runs streams of the `dnnl` kind with oneDNN on this machine's processors. For programs under an operating system: it
 * needs oneDNN 2 (libdnnl), whose header must be there when this is compiled. */
#ifndef INTARSIA_DNNL_DRIVER_H
#define INTARSIA_DNNL_DRIVER_H

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INTARSIA_DNNL_MAX_PROGRAMS = 64 };

/* A stream's primitives, with weights in the form that they want, made at its first run. */
struct intarsia_dnnl_program {
  const uint8_t *commands;
  void *layers;
};

/* One device, for one thread at a time. Its members are the driver's. */
struct intarsia_dnnl {
  struct intarsia_device device;
  void *engine;
  void *stream;
  uint32_t program_count;
  struct intarsia_dnnl_program programs[INTARSIA_DNNL_MAX_PROGRAMS];
};

/* INTARSIA_ERROR_DEVICE_ABSENT, with a line on standard error that says why, when oneDNN gives no engine. `registers` is
 * not used. */
intarsia_status intarsia_dnnl_open(struct intarsia_dnnl *dnnl, void *registers);
void intarsia_dnnl_close(struct intarsia_dnnl *dnnl);

#ifdef __cplusplus
}
#endif

#endif
