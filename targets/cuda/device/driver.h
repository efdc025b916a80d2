/* Runs streams of the `cuda` kind on the first NVIDIA GPU. For programs under Linux: the CUDA driver (libcuda) and, where
 * a stream holds CUDA C, its compiler (NVRTC) are opened when the program runs, so that it links without either. */
#ifndef INTARSIA_CUDA_DRIVER_H
#define INTARSIA_CUDA_DRIVER_H

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INTARSIA_CUDA_MAX_PROGRAMS = 64, INTARSIA_CUDA_MAX_MEMORIES = 8 };

/* A stream's program and constants on the GPU, kept from its first run on. */
struct intarsia_cuda_program {
  const uint8_t *commands;
  void *module;
  uint64_t constants;
};

/* Memory of the GPU, for one region of whatever stream runs. */
struct intarsia_cuda_memory {
  uint64_t address;
  uint32_t bytes;
};

/* One GPU. Its members are the driver's. */
struct intarsia_cuda {
  struct intarsia_device device;
  void *context;
  int32_t ordinal;
  uint32_t program_count;
  struct intarsia_cuda_program programs[INTARSIA_CUDA_MAX_PROGRAMS];
  struct intarsia_cuda_memory memories[INTARSIA_CUDA_MAX_MEMORIES];
};

/* INTARSIA_ERROR_DEVICE_ABSENT, with a line on standard error that says why, when there is no GPU.
 * `registers` is not used. */
intarsia_status intarsia_cuda_open(struct intarsia_cuda *cuda, void *registers);
void intarsia_cuda_close(struct intarsia_cuda *cuda);

#ifdef __cplusplus
}
#endif

#endif
