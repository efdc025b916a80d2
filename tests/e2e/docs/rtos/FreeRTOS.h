/* The types of FreeRTOS that docs/ethos-u-driver.md uses, so that its example is compiled without FreeRTOS. */
#ifndef FREERTOS_H
#define FREERTOS_H

#include <stdint.h>

typedef int32_t BaseType_t;
typedef uint32_t TickType_t;
#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define pdMS_TO_TICKS(ms) ((TickType_t)(ms))
#define portYIELD_FROM_ISR(woken) ((void)(woken))

#endif
