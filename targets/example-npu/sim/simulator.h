/* The example NPU, simulated register by register: for programs that run on the development
 * machine. */
#ifndef intarsia_example_npu_simulator_h
#define intarsia_example_npu_simulator_h

#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The registers of a fresh device, which lives as long as the program and sees all of its memory.
 */
struct intarsia_register_bus intarsia_example_npu_simulator(void);

#ifdef __cplusplus
}
#endif

#endif
