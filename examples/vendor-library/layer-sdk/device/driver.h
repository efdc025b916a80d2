/* Hands networks to the vendor's runtime, which the application links. */
#ifndef INTARSIA_LAYER_SDK_DRIVER_H
#define INTARSIA_LAYER_SDK_DRIVER_H

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_layer_sdk {
  struct intarsia_device device;
};

/* INTARSIA_ERROR_DEVICE_ABSENT where no layer_sdk_execute is linked. `registers` is not used. */
intarsia_status intarsia_layer_sdk_open(struct intarsia_layer_sdk *sdk, void *registers);

/* What stands between us and the vendor: the application defines it with calls of the vendor's runtime, which has loaded
 * `network` from what its tools made of <network>.json. Zero for success. */
int layer_sdk_execute(const char *network, const void *const *inputs, void *const *outputs);

#ifdef __cplusplus
}
#endif

#endif
