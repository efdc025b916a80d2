/* What Arm's core driver takes from CMSIS, on the development machine: mapped_registers.c has the interrupt. */
#ifndef intarsia_ethos_u_test_cmsis_compiler_h
#define intarsia_ethos_u_test_cmsis_compiler_h

void intarsia_test_wait_for_event(void);

#define __WFE() intarsia_test_wait_for_event()
#define __SEV() ((void)0)

#endif
