/* The board's Ethos-U55. */
#ifndef EXAMPLES_NPU_H
#define EXAMPLES_NPU_H

#include "intarsia/targets/ethos_u/driver.h"

/* Its number in the vector table of AN547, behind the 16 of the core. */
enum { NPU_INTERRUPT = 56 };

/* Ready for the model, or null when there is none. Beside QEMU, which has no NPU, it is the simulator of the package in
 * another program (npu.mk), with the same driver and the same streams. */
struct intarsia_ethos_u* npu_open(void);

/* Less urgent than what an RTOS keeps for itself. The handler is startup.c's interrupt_of_device. */
void npu_enable_interrupt(void);

#ifdef NPU_BESIDE_EMULATOR
/* Around every access to a register of the simulated NPU; they do nothing unless the application defines them. */
void npu_bus_begin(void);
void npu_bus_end(void);
/* Whether an NPU on the chip would hold its interrupt's wire now, and that interrupt. */
int npu_interrupt_line(void);
void npu_raise_interrupt(void);
#endif

#endif
