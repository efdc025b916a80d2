/* Arm Ethos-U55 and Ethos-U65, simulated register by register: for programs that run on the
 * development machine. */
#ifndef intarsia_ethos_u_simulator_h
#define intarsia_ethos_u_simulator_h

#include "intarsia_contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The registers of a fresh device, which lives as long as the program and sees all of its memory.
 * `configuration` is a tag, "ethos-u55-128"; for one that does not exist all members are null. What a
 * run fails with is written to the standard error output. */
struct intarsia_register_bus intarsia_ethos_u_simulator(const char *configuration);

#ifdef __cplusplus
}
#endif

#endif
