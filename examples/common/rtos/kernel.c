#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"

/* Armv7-M and Armv8-M Architecture Reference Manuals: the system control space. */
#define ICSR (*(volatile uint32_t*)0xE000ED04u)
#define SHPR3 (*(volatile uint32_t*)0xE000ED20u)
#define SYST_CSR (*(volatile uint32_t*)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t*)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t*)0xE000E018u)
#define PEND_PENDSV (1u << 28)
/* PendSV and SysTick are the least urgent: a switch happens when no interrupt is at work. */
#define LEAST_URGENT 0xFFFF0000u

enum {
  THUMB_STATE = 1 << 24,
  TO_THREAD_ON_PROCESS_STACK = (int)0xFFFFFFFDu,
  FRAME = 8, /* words that an exception pushes: r0-r3, r12, lr, pc, xPSR */
  SAVED = 9, /* words that the switch pushes: r4-r11 and how to return */
  IDLE_WORDS = 128
};

void PendSV_Handler(void);
void SysTick_Handler(void);
uint32_t* rtos_switch(uint32_t* stack);

static struct rtos_task* tasks; /* the more urgent first, of equals the older first */
static struct rtos_task* current;
static volatile TickType_t now;
static uint32_t nesting;
static StaticTask_t idle_task;
static StackType_t idle_stack[IDLE_WORDS] __attribute__((aligned(8)));
/* What the switch from main to the first task saves, and nobody needs. */
static uint32_t start_stack[IDLE_WORDS] __attribute__((aligned(8)));

void rtos_enter_critical(void) {
  __asm__ volatile("cpsid i" ::: "memory");
  ++nesting;
}

void rtos_exit_critical(void) {
  if (--nesting == 0) __asm__ volatile("cpsie i\n isb" ::: "memory");
}

void rtos_yield(void) {
  ICSR = PEND_PENDSV;
  __asm__ volatile("dsb\n isb" ::: "memory");
}

static _Noreturn void ended(void) {
  for (;;) __asm__ volatile("bkpt 0");
}

static uint32_t word(const void* pointer) {
  return (uint32_t)(uintptr_t)pointer;
}

/* As if it had been interrupted before its first instruction. */
static uint32_t* first_frame(StackType_t* stack, uint32_t words, TaskFunction_t function,
                             void* parameter) {
  uint32_t* frame = stack + words / 2 * 2 - FRAME;
  uint32_t* saved = frame - SAVED;
  for (uint32_t* at = saved; at < frame + FRAME; ++at) *at = 0;
  frame[0] = word(parameter);
  frame[5] = (uint32_t)(uintptr_t)ended;
  frame[6] = (uint32_t)(uintptr_t)function & ~1u;
  frame[7] = THUMB_STATE;
  saved[SAVED - 1] = (uint32_t)TO_THREAD_ON_PROCESS_STACK;
  return saved;
}

TaskHandle_t xTaskCreateStatic(TaskFunction_t function, const char* name, uint32_t words,
                               void* parameter, UBaseType_t priority, StackType_t* stack,
                               StaticTask_t* task) {
  (void)name;
  *task = (struct rtos_task){
      .stack = first_frame(stack, words, function, parameter), .priority = priority, .ready = 1};
  struct rtos_task** place = &tasks;
  while (*place != 0 && (*place)->priority >= priority) place = &(*place)->next;
  task->next = *place;
  *place = task;
  return task;
}

/* From PendSV_Handler: keeps where the registers of the task that ran are, answers where those of the next one are. */
uint32_t* rtos_switch(uint32_t* stack) {
  __asm__ volatile("cpsid i" ::: "memory");
  if (current != 0) current->stack = stack;
  struct rtos_task* task = tasks;
  while (!task->ready) task = task->next; /* the idle task always is */
  current = task;
  __asm__ volatile("cpsie i" ::: "memory");
  return task->stack;
}

__attribute__((naked)) void PendSV_Handler(void) {
  __asm__ volatile(
      "mrs r0, psp\n"
#ifdef __ARM_FP
      "tst lr, #16\n" /* clear: the task used the FPU or Helium */
      "it eq\n"
      "vstmdbeq r0!, {s16-s31}\n"
#endif
      "stmdb r0!, {r4-r11, lr}\n"
      "bl rtos_switch\n"
      "ldmia r0!, {r4-r11, lr}\n"
#ifdef __ARM_FP
      "tst lr, #16\n"
      "it eq\n"
      "vldmiaeq r0!, {s16-s31}\n"
#endif
      "msr psp, r0\n"
      "bx lr\n");
}

static int has_come(TickType_t time) {
  return (int32_t)(now - time) >= 0;
}

void SysTick_Handler(void) {
  rtos_enter_critical();
  now = now + 1;
  for (struct rtos_task* task = tasks; task != 0; task = task->next)
    if (task->waits_for_time && has_come(task->wakes)) {
      task->waits_for_time = 0;
      task->waits = 0;
      task->ready = 1;
    }
  rtos_exit_critical();
  vApplicationTickHook();
  rtos_yield();
}

static void idle(void* parameter) {
  (void)parameter;
  for (;;) __asm__ volatile("wfi");
}

void vTaskStartScheduler(void) {
  xTaskCreateStatic(idle, "idle", IDLE_WORDS, 0, 0, idle_stack, &idle_task);
  SHPR3 |= LEAST_URGENT;
  SYST_RVR = configCPU_CLOCK_HZ / configTICK_RATE_HZ - 1u;
  SYST_CVR = 0;
  SYST_CSR = 7; /* the core's clock, an interrupt, enabled */
  __asm__ volatile(
      "msr psp, %0\n"
      "mrs r1, control\n"
      "orr r1, r1, #2\n" /* threads have the process stack */
      "msr control, r1\n"
      "isb\n"
      "str %2, [%1]\n" /* the switch to the most urgent task */
      "dsb\n"
      "isb\n"
      "b .\n" ::"r"(start_stack + IDLE_WORDS),
      "r"(&ICSR), "r"(PEND_PENDSV)
      : "r1", "memory");
  __builtin_unreachable();
}

TickType_t xTaskGetTickCount(void) {
  return now;
}

/* In a critical section: the task that runs stops, and goes on behind this call. */
static void block(const struct rtos_semaphore* semaphore, TickType_t wakes, int for_time) {
  current->ready = 0;
  current->given = 0;
  current->waits = semaphore;
  current->waits_for_time = (uint8_t)for_time;
  current->wakes = wakes;
  rtos_yield();
}

void vTaskDelay(TickType_t ticks) {
  rtos_enter_critical();
  block(0, now + ticks, 1);
  rtos_exit_critical();
}

BaseType_t xTaskDelayUntil(TickType_t* previous, TickType_t increment) {
  rtos_enter_critical();
  *previous += increment;
  const int late = has_come(*previous);
  if (!late) block(0, *previous, 1);
  rtos_exit_critical();
  return late ? pdFALSE : pdTRUE;
}

SemaphoreHandle_t xSemaphoreCreateBinaryStatic(StaticSemaphore_t* semaphore) {
  semaphore->available = 0;
  return semaphore;
}

BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks) {
  rtos_enter_critical();
  if (semaphore->available != 0 || ticks == 0) {
    const BaseType_t taken = semaphore->available != 0 ? pdTRUE : pdFALSE;
    semaphore->available = 0;
    rtos_exit_critical();
    return taken;
  }
  block(semaphore, now + ticks, ticks != portMAX_DELAY);
  rtos_exit_critical(); /* the switch is here, and here the task goes on */
  return current->given ? pdTRUE : pdFALSE;
}

BaseType_t xSemaphoreGiveFromISR(SemaphoreHandle_t semaphore, BaseType_t* woken) {
  BaseType_t given = pdTRUE;
  rtos_enter_critical();
  struct rtos_task* task = tasks;
  while (task != 0 && task->waits != semaphore) task = task->next;
  if (task != 0) {
    task->waits = 0;
    task->waits_for_time = 0;
    task->given = 1;
    task->ready = 1;
    if (task->priority > current->priority) *woken = pdTRUE;
  } else {
    if (semaphore->available != 0) given = pdFALSE;
    semaphore->available = 1;
  }
  rtos_exit_critical();
  return given;
}
