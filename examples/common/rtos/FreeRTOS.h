/* A small preemptive kernel behind the part of the FreeRTOS API that the examples call, so that they run without FreeRTOS
 * itself; with it they compile unchanged (FREERTOS=its folder). Tasks have fixed priorities and static memory; a task of
 * higher priority runs as soon as it can. For Armv7-M and Armv8-M cores, of the latter in the secure state. */
#ifndef EXAMPLES_RTOS_FREERTOS_H
#define EXAMPLES_RTOS_FREERTOS_H

#include <stdint.h>

#include "FreeRTOSConfig.h"

typedef int32_t BaseType_t;
typedef uint32_t UBaseType_t;
typedef uint32_t TickType_t;
typedef uint32_t StackType_t;

#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define portMAX_DELAY ((TickType_t)0xFFFFFFFFu)
#define pdMS_TO_TICKS(ms) ((TickType_t)((uint64_t)(ms)*configTICK_RATE_HZ / 1000u))

struct rtos_semaphore {
  uint32_t available; /* 0 or 1 */
};
typedef struct rtos_semaphore StaticSemaphore_t;
typedef struct rtos_semaphore* SemaphoreHandle_t;

typedef void (*TaskFunction_t)(void* parameter);
struct rtos_task {
  uint32_t* stack; /* where its registers are while it does not run */
  uint32_t priority;
  TickType_t wakes;                   /* when it waits for a time */
  const struct rtos_semaphore* waits; /* for what else */
  uint8_t ready;
  uint8_t waits_for_time;
  uint8_t given; /* it was woken by what it waited for, not by the time */
  struct rtos_task* next;
};
typedef struct rtos_task StaticTask_t;
typedef struct rtos_task* TaskHandle_t;

/* Interrupts wait; the pairs nest. */
void rtos_enter_critical(void);
void rtos_exit_critical(void);
#define taskENTER_CRITICAL() rtos_enter_critical()
#define taskEXIT_CRITICAL() rtos_exit_critical()

/* At the end of an interrupt's handler: another task may have become the one to run. */
void rtos_yield(void);
#define portYIELD_FROM_ISR(woken) \
  do {                            \
    if (woken) rtos_yield();      \
  } while (0)

#endif
