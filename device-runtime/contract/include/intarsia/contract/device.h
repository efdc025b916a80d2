/* An accelerator as emitted code sees it: something that runs one command stream. A driver (under
 * targets/<name>/device) fills in `run`; the structure lives wherever the firmware puts it. */
#ifndef INTARSIA_CONTRACT_DEVICE_H
#define INTARSIA_CONTRACT_DEVICE_H

#include <stdint.h>

#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which memory a region lies in, as the compiler planned it. */
enum intarsia_memory {
  INTARSIA_MEMORY_UNKNOWN = 0,
  INTARSIA_MEMORY_CONSTANTS = 1, /* weights and tables, beside the streams: mostly flash */
  INTARSIA_MEMORY_MAIN = 2,      /* activations */
  INTARSIA_MEMORY_FAST =
      3 /* activations, where the device has a faster memory than the main one: its SRAM */
};

/* What is known of a region beside its base. */
struct intarsia_region {
  uint32_t bytes;  /* from the base on, to the end of the block that it lies in */
  uint32_t needed; /* of them, what the stream uses */
  uint8_t memory;  /* enum intarsia_memory */
  uint8_t reserved[3];
};

/* One function of a package, in the package's own bytes. Pointers are 16-byte aligned, and
 * null where there are no bytes. */
struct intarsia_stream {
  const uint8_t *commands;
  uint32_t command_bytes;
  const uint8_t *constants; /* weights, scales, tables */
  uint32_t constant_bytes;
  /* One for each base that `run` is given; null where nothing is known of them. Valid during the call only. */
  const struct intarsia_region *regions;
};

struct intarsia_device {
  /* Runs the stream to its end. bases[i] is where region i of the stream begins; valid during the
   * call only. */
  intarsia_status (*run)(struct intarsia_device *device, const struct intarsia_stream *stream,
                         void *const *bases, uint32_t base_count);
};

#ifdef __cplusplus
}
#endif

#endif
