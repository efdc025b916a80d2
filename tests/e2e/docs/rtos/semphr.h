/* As FreeRTOS.h beside it: semaphores. */
#ifndef SEMAPHORE_H
#define SEMAPHORE_H

#include "FreeRTOS.h"

typedef struct {
  uint32_t state;
} StaticSemaphore_t;
typedef StaticSemaphore_t* SemaphoreHandle_t;

SemaphoreHandle_t xSemaphoreCreateBinaryStatic(StaticSemaphore_t* semaphore);
SemaphoreHandle_t xSemaphoreCreateMutexStatic(StaticSemaphore_t* semaphore);
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks);
BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore);
BaseType_t xSemaphoreGiveFromISR(SemaphoreHandle_t semaphore, BaseType_t* woken);

#endif
