/* The core's SysTick timer as a stopwatch, for the board MPS2 AN386, whose core and timer run at 25 MHz. */
#ifndef DENOISER_CYCLES_H
#define DENOISER_CYCLES_H

#include <stdint.h>

enum {
  CYCLES_PER_SECOND = 25000000,
  /* QEMU is started with -icount shift=5: an instruction takes 32 ns, which are 0.8 ticks of 40 ns. */
  TICKS_PER_5_INSTRUCTIONS = 4
};

void cycles_start(void);

/* Ticks since cycles_start, up to 2^24 - 1, which is two thirds of a second. */
int32_t cycles_since_start(void);

#endif
