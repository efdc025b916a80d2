/* For FreeRTOS and for the small kernel of ../common/rtos alike. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 32000000u /* AN547 */
#define configTICK_RATE_HZ 1000u
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 1
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 5
#define configMINIMAL_STACK_SIZE 256
#define configMAX_TASK_NAME_LEN 12
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configUSE_TIMERS 0
#define configCHECK_FOR_STACK_OVERFLOW 0

/* The core leaves reset in the secure state and stays there; it has an FPU and Helium. */
#define configENABLE_TRUSTZONE 0
#define configRUN_FREERTOS_SECURE_ONLY 1
#define configENABLE_FPU 1
#define configENABLE_MVE 1
#define configENABLE_MPU 0
/* Interrupts that call the RTOS are no more urgent than this; three bits are there. */
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x40

#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1

#endif
