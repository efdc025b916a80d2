#include "cycles.h"

/* Armv7-M Architecture Reference Manual, B3.3: control and status, reload value, current value. */
#define SYST_CSR (*(volatile uint32_t*)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t*)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t*)0xE000E018u)

enum { CORE_CLOCK_AND_ENABLE = 5, LARGEST = 0xFFFFFF };

void cycles_start(void) {
  SYST_CSR = 0;
  SYST_RVR = LARGEST;
  SYST_CVR = 0;
  SYST_CSR = CORE_CLOCK_AND_ENABLE;
}

int32_t cycles_since_start(void) {
  /* It counts down, from 0 to the reload value first. */
  return (int32_t)((0u - SYST_CVR) & LARGEST);
}
