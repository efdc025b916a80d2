/* The control and status registers of RISC-V's machine mode that startup and the fault handler touch. */
#ifndef INTARSIA_BOARD_REGISTERS_RISCV_H
#define INTARSIA_BOARD_REGISTERS_RISCV_H

#include <stdint.h>

#define INTARSIA_MSTATUS 0x300
#define INTARSIA_PMPCFG0 0x3A0
#define INTARSIA_PMPADDR0 0x3B0

#define INTARSIA_MSTATUS_FS_INITIAL (1u << 13) /* the floating-point unit is on */
#define INTARSIA_PMP_LOCKED (1u << 7)
#define INTARSIA_PMP_POWER_OF_TWO \
  (3u << 3) /* an aligned region; the bits below allow accesses: none */

/* Encoded by hand (csrrw, csrrs): by its name an assembler takes the instruction only with the extension Zicsr in -march, which
 * compilers' libraries are not always there for, although every core has it that has machine mode. */
#define INTARSIA_CSR_WRITE_ASM(source, number) ".insn i 0x73, 1, x0, " source ", " number "\n"
#define INTARSIA_CSR_READ_ASM(destination, number) \
  ".insn i 0x73, 2, " destination ", x0, " number "\n"

#define INTARSIA_CSR_WRITE(number, value) \
  __asm__ volatile(".insn i 0x73, 1, x0, %0, %1" ::"r"((uint32_t)(value)), "i"(number) : "memory")
#define INTARSIA_CSR_SET(number, bits) \
  __asm__ volatile(".insn i 0x73, 2, x0, %0, %1" ::"r"((uint32_t)(bits)), "i"(number) : "memory")

#endif
