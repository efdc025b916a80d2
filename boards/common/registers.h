/* The few system registers of an Arm M-profile core that startup and the fault handler touch. */
#ifndef INTARSIA_BOARD_REGISTERS_H
#define INTARSIA_BOARD_REGISTERS_H

#include <stdint.h>

#define INTARSIA_REGISTER(address) (*(volatile uint32_t*)(uintptr_t)(address))

#define INTARSIA_ICSR INTARSIA_REGISTER(0xE000ED04u)  /* which exception is active */
#define INTARSIA_CCR INTARSIA_REGISTER(0xE000ED14u)   /* configuration and control */
#define INTARSIA_CFSR INTARSIA_REGISTER(0xE000ED28u)  /* why: reads as zero on Armv6-M */
#define INTARSIA_BFAR INTARSIA_REGISTER(0xE000ED38u)  /* the address of a bus fault */
#define INTARSIA_CPACR INTARSIA_REGISTER(0xE000ED88u) /* access to coprocessors */

#define INTARSIA_CPACR_CP10_CP11 (0xFu << 20) /* the FPU and the vector extension */
#define INTARSIA_CCR_LOB (1u << 19)           /* low-overhead branches, Armv8.1-M */
#define INTARSIA_CCR_UNALIGN_TRP (1u << 3)
#define INTARSIA_VTOR INTARSIA_REGISTER(0xE000ED08u)  /* the vector table */
#define INTARSIA_SHCSR INTARSIA_REGISTER(0xE000ED24u) /* which faults have handlers of their own */
#define INTARSIA_HFSR INTARSIA_REGISTER(0xE000ED2Cu)  /* why a hard fault */

#define INTARSIA_SHCSR_MEMFAULTENA (1u << 16)
#define INTARSIA_CFSR_DACCVIOL (1u << 1) /* the memory protection unit refused an access to data */
#define INTARSIA_CFSR_BFARVALID (1u << 15)
#define INTARSIA_CFSR_STKOF (1u << 20) /* below the stack limit, Armv8-M */

/* The memory protection unit of Armv6-M and Armv7-M; MPU_TYPE reads as zero where there is none. */
#define INTARSIA_MPU_TYPE INTARSIA_REGISTER(0xE000ED90u)
#define INTARSIA_MPU_CTRL INTARSIA_REGISTER(0xE000ED94u)
#define INTARSIA_MPU_RNR INTARSIA_REGISTER(0xE000ED98u)
#define INTARSIA_MPU_RBAR INTARSIA_REGISTER(0xE000ED9Cu)
#define INTARSIA_MPU_RASR INTARSIA_REGISTER(0xE000EDA0u)

#define INTARSIA_MPU_CTRL_ENABLE_WITH_DEFAULT 5u /* what no region covers stays as it was */
#define INTARSIA_MPU_RASR_NO_ACCESS (1u << 28 | 1u)

/* Of Armv8-M: a region is from RBAR to RLAR, in units of 32 bytes. */
#define INTARSIA_MPU_RLAR INTARSIA_REGISTER(0xE000EDA0u)
#define INTARSIA_MPU_MAIR0 INTARSIA_REGISTER(0xE000EDC0u)

#define INTARSIA_MPU_CTRL_ENABLE 1u          /* what no region covers faults */
#define INTARSIA_MPU_RBAR_WRITABLE (1u << 1) /* at every privilege */
#define INTARSIA_MPU_RLAR_ENABLE 1u          /* attributes 0 of MAIR0 */
#define INTARSIA_MPU_NORMAL_MEMORY 0x44u     /* not cached */

#endif
