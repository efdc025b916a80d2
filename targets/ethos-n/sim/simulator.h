/* The Ethos-N78, simulated behind its mailbox: for programs that run on the development machine. */
#ifndef intarsia_ethos_n_simulator_h
#define intarsia_ethos_n_simulator_h

#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The registers of a fresh device, which lives as long as the program and sees all of its memory.
 * `tag` is one of isa/variants.def; of another name there is no device: all registers are 0. Why a run
 * stopped is written to stderr. */
struct intarsia_register_bus intarsia_ethos_n_simulator(const char* tag);

#ifdef __cplusplus
}
#endif

#endif
