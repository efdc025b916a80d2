/* Where the boards' generic main program gets a model's devices from. A program of your own does
 * without: it opens drivers as it likes and hands them to <model>_init. */
#ifndef INTARSIA_CONTRACT_BOARD_DEVICES_H
#define INTARSIA_CONTRACT_BOARD_DEVICES_H

#include <stdint.h>

#include "intarsia/contract/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device `index` of the model in this program, opened; null when it cannot be. Written by the
 * compiler: <model>_devices.c. */
struct intarsia_device *intarsia_board_device(int32_t index);

/* Where the registers of the board's device `unit` (from 0) of this name begin; null when the board has
 * none. `name` is the one that board.json has in `accessible_by`. Written by the board. */
void *intarsia_board_registers(const char *name, int32_t unit);

#ifdef __cplusplus
}
#endif

#endif
