/* The package: command streams and their constants in one flatbuffer (schema/package.fbs), read in
 * place. Opened once, when every offset is checked; nothing is checked again during a run. */
#ifndef INTARSIA_CONTRACT_PACKAGE_H
#define INTARSIA_CONTRACT_PACKAGE_H

#include <stdint.h>

#include "intarsia/contract/device.h"
#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Format version this runtime reads. The compiler writes the same. */
#define INTARSIA_PACKAGE_VERSION 2u

/* Base addresses one function may use. */
#define INTARSIA_PACKAGE_MAX_REGIONS 8u

/* An opened package. Its members are the runtime's. */
struct intarsia_package {
  const uint8_t *bytes;
  uint32_t size;
  uint32_t function_count;
};

/* `bytes` is 16-byte aligned and stays valid as long as the package is used. On any error `package`
 * is left closed: intarsia_package_run refuses it. */
intarsia_status intarsia_package_open(struct intarsia_package *package, const void *bytes,
                                      uint32_t size);

/* What a model's C sources give a package and expect of it: the blocks that its streams write to are of these
 * sizes. One per pool of the plan, in its order; 0 for a pool that the model does not use. */
struct intarsia_package_contract {
  uint32_t model_id;
  uint32_t pool_count;
  const uint32_t *pool_bytes;
  uint32_t alignment; /* of each block's address */
};

/* Whether an open package goes with the C sources: INTARSIA_ERROR_PACKAGE_MODEL when it was compiled from a model
 * that other C belongs to, INTARSIA_ERROR_PACKAGE_MEMORY when its streams need larger blocks, or more
 * alignment. A package that was compiled later and passes may be run. */
intarsia_status intarsia_package_check(const struct intarsia_package *package,
                                       const struct intarsia_package_contract *contract);

/* Runs function `function` on `device`. pools[i] is the memory of the plan's pool i; a pool that the
 * function does not use may be null. */
intarsia_status intarsia_package_run(const struct intarsia_package *package, uint32_t function,
                                     void *const *pools, uint32_t pool_count,
                                     struct intarsia_device *device);

/* What intarsia_package_run would hand to the device as its stream. */
intarsia_status intarsia_package_stream(const struct intarsia_package *package, uint32_t function,
                                        struct intarsia_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
