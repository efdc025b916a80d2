#include "intarsia/contract/npu_hooks.h"

/* Without an operating system: nobody else uses the device, and its status is read over and over. In a file of their own, so
 * that a linker takes none of it where the firmware defines them all. */
__attribute__((weak)) int32_t intarsia_npu_lock(struct intarsia_device *device) {
  (void)device;
  return 0;
}

__attribute__((weak)) void intarsia_npu_unlock(struct intarsia_device *device) {
  (void)device;
}

__attribute__((weak)) int32_t intarsia_npu_wait(struct intarsia_device *device,
                                                uint32_t patience_ms) {
  (void)device;
  (void)patience_ms;
  return 0;
}

__attribute__((weak)) void intarsia_npu_signal(struct intarsia_device *device) {
  (void)device;
}
