/* What drivers of NPUs ask of an operating system. The functions that the runtime brings are weak: nobody else uses the
 * device, and its status is read over and over. A firmware with an RTOS defines those it needs:
 *
 *   static SemaphoreHandle_t done;
 *   int32_t intarsia_npu_wait(struct intarsia_device *device, uint32_t patience_ms) {
 *     return xSemaphoreTake(done, pdMS_TO_TICKS(patience_ms)) == pdTRUE ? 0 : 1;
 *   }
 *   void intarsia_npu_signal(struct intarsia_device *device) {
 *     BaseType_t woken = pdFALSE;
 *     xSemaphoreGiveFromISR(done, &woken);
 *     portYIELD_FROM_ISR(woken);
 *   }
 */
#ifndef INTARSIA_CONTRACT_NPU_HOOKS_H
#define INTARSIA_CONTRACT_NPU_HOOKS_H

#include <stdint.h>

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Around each run of a stream, for devices that several tasks use. lock: 0 when the device is the caller's; anything else
 * ends the run with INTARSIA_ERROR_DEVICE_BUSY. */
int32_t intarsia_npu_lock(struct intarsia_device *device);
void intarsia_npu_unlock(struct intarsia_device *device);

/* Called while the device works, between two looks at its status: may block until intarsia_npu_signal was called since the
 * last return, at most `patience_ms` milliseconds. 0: the driver looks, and calls again when the device is not done;
 * anything else: it looks a last time, and gives the run up with INTARSIA_ERROR_DEVICE_TIMEOUT. */
int32_t intarsia_npu_wait(struct intarsia_device *device, uint32_t patience_ms);

/* Called by the driver's interrupt function, in the context of the handler. */
void intarsia_npu_signal(struct intarsia_device *device);

#ifdef __cplusplus
}
#endif

#endif
