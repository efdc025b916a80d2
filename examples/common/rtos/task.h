/* Tasks, by FreeRTOS's interface. */
#ifndef EXAMPLES_RTOS_TASK_H
#define EXAMPLES_RTOS_TASK_H

#include "FreeRTOS.h"

/* `words` of `stack`; a higher number is a higher priority, 0 is the idle task's. `function` does not return. */
TaskHandle_t xTaskCreateStatic(TaskFunction_t function, const char* name, uint32_t words,
                               void* parameter, UBaseType_t priority, StackType_t* stack,
                               StaticTask_t* task);

/* Does not return. */
void vTaskStartScheduler(void);

TickType_t xTaskGetTickCount(void);
void vTaskDelay(TickType_t ticks);

/* Sleeps until `*previous + increment`, and sets `*previous` to that; pdFALSE when it had passed already. */
BaseType_t xTaskDelayUntil(TickType_t* previous, TickType_t increment);

/* The application's, called by every tick's interrupt. */
void vApplicationTickHook(void);

#endif
