/* How the boards' generic main program starts the further parts of a model for several cores. A firmware of
 * your own starts its cores as the chip's manual says. */
#ifndef INTARSIA_CONTRACT_BOARD_CORES_H
#define INTARSIA_CONTRACT_BOARD_CORES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Core `core` of the board (0 is the one that runs main) begins to execute `entry`, which may return. 0, or -1 when
 * there is no such core. Written by the board: boards/<name>/second_core.c. */
int32_t intarsia_board_start_core(int32_t core, void (*entry)(void));

/* Called by a core that has nothing to do at the moment. */
void intarsia_board_idle(void);

#ifdef __cplusplus
}
#endif

#endif
