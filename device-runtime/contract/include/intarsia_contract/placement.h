/* Where emitted objects go in a board's memories. A board's linker script gives every memory of
 * its board.json the section .intarsia.<memory>, and puts .intarsia.weights into the memory of the
 * role "constants" and .intarsia.streams, which devices read, into that of the role "streams".
 * INTARSIA_BOARD_MEMORIES is defined when such a linker script is used; without
 * it (the host, a foreign build system) the objects go where the compiler puts them.
 *
 *   static uint8_t arena[4096] INTARSIA_IN_MEMORY(sram);          not zeroed by the startup code
 *   static const int8_t conv_1_weights[72] INTARSIA_WEIGHTS = {1, 2, 3};
 */
#ifndef INTARSIA_CONTRACT_PLACEMENT_H
#define INTARSIA_CONTRACT_PLACEMENT_H

#ifdef INTARSIA_BOARD_MEMORIES
#define INTARSIA_IN_MEMORY(memory) __attribute__((section(".intarsia." #memory)))
#define INTARSIA_WEIGHTS __attribute__((section(".intarsia.weights")))
#define INTARSIA_STREAMS __attribute__((section(".intarsia.streams")))
#else
#define INTARSIA_IN_MEMORY(memory)
#define INTARSIA_WEIGHTS
#define INTARSIA_STREAMS
#endif

#endif
