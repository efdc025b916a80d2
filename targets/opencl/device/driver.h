/* Runs streams of the `opencl` kind on the first OpenCL device that answers. For programs under an operating system:
 * it needs the ICD loader (libOpenCL), whose headers must be there when this is compiled. */
#ifndef INTARSIA_OPENCL_DRIVER_H
#define INTARSIA_OPENCL_DRIVER_H

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INTARSIA_OPENCL_MAX_PROGRAMS = 64 };

/* A stream's program and constants on the device, kept from its first run on. */
struct intarsia_opencl_program {
  const uint8_t *commands;
  void *program;
  void *constants;
};

/* One device. Its members are the driver's. */
struct intarsia_opencl {
  struct intarsia_device device;
  void *context;
  void *queue;
  void *cl_device;
  uint32_t program_count;
  struct intarsia_opencl_program programs[INTARSIA_OPENCL_MAX_PROGRAMS];
};

/* INTARSIA_ERROR_DEVICE_ABSENT, with a line on standard error that says why, when no device answers.
 * `registers` is not used. */
intarsia_status intarsia_opencl_open(struct intarsia_opencl *opencl, void *registers);
void intarsia_opencl_close(struct intarsia_opencl *opencl);

#ifdef __cplusplus
}
#endif

#endif
