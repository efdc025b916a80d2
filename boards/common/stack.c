/* Painted stack of a board: linker symbols give its place, see the linker script's .stack. */
#include "intarsia_board/stack.h"

#define INTARSIA_PAINT 0xC0DE57ACu

extern uint32_t __intarsia_stack_bottom[];
extern uint32_t __intarsia_stack_top[];

/* Not in .bss: the first painting happens before .bss is cleared. */
static uint32_t level __attribute__((section(".noinit")));

/* In assembly because it must not use the stack it paints. */
#if defined(__riscv)
__attribute__((naked)) void intarsia_stack_paint(void) {
  __asm__ volatile(
      "la t0, __intarsia_stack_bottom\n"
      "li t1, %0\n"
      "j 2f\n"
      "1: sw t1, 0(t0)\n"
      "addi t0, t0, 4\n"
      "2: bltu t0, sp, 1b\n"
      "la t0, __intarsia_stack_top\n"
      "sub t0, t0, sp\n"
      "la t1, %1\n"
      "sw t0, 0(t1)\n"
      "ret\n" ::"i"(INTARSIA_PAINT),
      "i"(&level));
}
#else
/* Thumb-1 so that it runs on all cores. */
__attribute__((naked)) void intarsia_stack_paint(void) {
  __asm__ volatile(
      ".syntax unified\n"
      "ldr r0, =__intarsia_stack_bottom\n"
      "mov r1, sp\n"
      "ldr r2, =%c0\n"
      "b 2f\n"
      "1: stmia r0!, {r2}\n"
      "2: cmp r0, r1\n"
      "blo 1b\n"
      "ldr r0, =__intarsia_stack_top\n"
      "subs r0, r0, r1\n"
      "ldr r1, =%c1\n"
      "str r0, [r1]\n"
      "bx lr\n"
      ".ltorg\n" ::"i"(INTARSIA_PAINT),
      "i"(&level));
}
#endif

int32_t intarsia_stack_level(void) {
  return (int32_t)level;
}

int32_t intarsia_stack_depth(void) {
  const volatile uint32_t* word = __intarsia_stack_bottom;
  while (word < __intarsia_stack_top && *word == INTARSIA_PAINT) ++word;
  return (int32_t)((uintptr_t)__intarsia_stack_top - (uintptr_t)word);
}

int32_t intarsia_stack_size(void) {
  return (int32_t)((uintptr_t)__intarsia_stack_top - (uintptr_t)__intarsia_stack_bottom);
}
