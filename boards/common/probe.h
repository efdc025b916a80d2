/* A call of the host through a debug probe, see probe.c. */
#ifndef INTARSIA_BOARD_PROBE_H
#define INTARSIA_BOARD_PROBE_H

#include <stdint.h>

/* An operation of semihosting and its arguments. What the host answers; -1 without one. */
int32_t intarsia_probe_wait(uint32_t operation, const void* arguments);

#endif
