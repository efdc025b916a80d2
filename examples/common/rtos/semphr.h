/* Binary semaphores, by FreeRTOS's interface. */
#ifndef EXAMPLES_RTOS_SEMPHR_H
#define EXAMPLES_RTOS_SEMPHR_H

#include "FreeRTOS.h"

/* Empty. */
SemaphoreHandle_t xSemaphoreCreateBinaryStatic(StaticSemaphore_t* semaphore);

/* Blocks until it is given, `ticks` at most: pdTRUE when it was. */
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks);

/* `*woken` becomes pdTRUE when a task waits for it that is more urgent than the interrupted one. */
BaseType_t xSemaphoreGiveFromISR(SemaphoreHandle_t semaphore, BaseType_t* woken);

#endif
