/* An accelerator as emitted code sees it: something that runs one command stream. A driver (under
 * targets/<name>/device) fills in `run`; the structure lives wherever the firmware puts it. */
#ifndef INTARSIA_CONTRACT_DEVICE_H
#define INTARSIA_CONTRACT_DEVICE_H

#include <stdint.h>

#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One function of a package, in the package's own bytes. Pointers are 16-byte aligned, and
 * null where there are no bytes. */
struct intarsia_stream {
  const uint8_t *commands;
  uint32_t command_bytes;
  const uint8_t *constants; /* weights, scales, tables */
  uint32_t constant_bytes;
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
