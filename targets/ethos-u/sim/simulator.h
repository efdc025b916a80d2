/* Arm Ethos-U55 and Ethos-U65, simulated register by register: for programs that run on the
 * development machine. */
#ifndef intarsia_ethos_u_simulator_h
#define intarsia_ethos_u_simulator_h

#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The registers of a fresh device, which lives as long as the program and sees all of its memory.
 * `configuration` is a tag, "ethos-u55-128"; `memory_mode` says where constants and feature maps lie,
 * "shared-sram", and `system` which of the systems of isa/memory_systems.def it is in; null or empty: the
 * usual ones. They change cycles and no results. For what does not exist all members are null.
 *
 * Every run is checked (sim/checker.h); findings go to the standard error output and make it fail, as does
 * what a run itself fails with. A trace and a profile are written to the files that the environment names in
 * INTARSIA_DEVICE_TRACE and INTARSIA_DEVICE_PROFILE. INTARSIA_DEVICE_FAULTS makes runs fail, counted from 0, so that a program's
 * handling of faults can be tried: "power@1,bus@3", with bus, command, weights, power (lost while it works) and stuck (it never
 * begins). */
struct intarsia_register_bus intarsia_ethos_u_simulator(const char* configuration);
struct intarsia_register_bus intarsia_ethos_u_simulator_in(const char* configuration,
                                                           const char* system,
                                                           const char* memory_mode);

#ifdef __cplusplus
}
#endif

#endif
