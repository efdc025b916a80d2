/* Where emitted objects go in a board's memories. A board's linker script gives every memory of its board.json the section
 * .intarsia.<memory>, and puts .intarsia.weights into the memory of the role "constants" (of several: the first) and .intarsia.streams,
 * which devices read, into that of the role "streams". INTARSIA_BOARD_MEMORIES is defined when such a linker script is used;
 * without it (the host, a foreign build system) objects go where the compiler puts them.
 *
 *   INTARSIA_ALIGNED(16) static uint8_t arena[4096] INTARSIA_IN_MEMORY(sram);   not zeroed by the startup code
 *   static const int8_t conv_1_weights[72] INTARSIA_WEIGHTS = {1, 2, 3};   or INTARSIA_WEIGHTS_IN_MEMORY(ddr)
 *
 * Each can be defined on the compiler's command line instead, for all models:
 *   -D'INTARSIA_WEIGHTS=__attribute__((section(".qspi")))'   which is then INTARSIA_WEIGHTS_IN_MEMORY(...) too
 * (of assembler sources: intarsia/contract/incbin.h), and `intarsia compile --section` chooses for one model, a kind
 * of object or a single one. */
#ifndef INTARSIA_CONTRACT_PLACEMENT_H
#define INTARSIA_CONTRACT_PLACEMENT_H

#define INTARSIA_SECTION(name) __attribute__((section(name)))

#ifdef __cplusplus
#define INTARSIA_ALIGNED(bytes) alignas(bytes)
#else
#define INTARSIA_ALIGNED(bytes) _Alignas(bytes)
#endif

#ifdef INTARSIA_BOARD_MEMORIES
#if !defined(INTARSIA_WEIGHTS_IN_MEMORY) && !defined(INTARSIA_WEIGHTS)
#define INTARSIA_WEIGHTS_IN_MEMORY(memory) INTARSIA_SECTION(".intarsia.constants." #memory)
#endif
#ifndef INTARSIA_IN_MEMORY
#define INTARSIA_IN_MEMORY(memory) INTARSIA_SECTION(".intarsia." #memory)
#endif
#ifndef INTARSIA_WEIGHTS
#define INTARSIA_WEIGHTS INTARSIA_SECTION(".intarsia.weights")
#endif
#ifndef INTARSIA_STREAMS
#define INTARSIA_STREAMS INTARSIA_SECTION(".intarsia.streams")
#endif
#endif

#ifndef INTARSIA_IN_MEMORY
#define INTARSIA_IN_MEMORY(memory)
#endif
#ifndef INTARSIA_WEIGHTS
#define INTARSIA_WEIGHTS
#endif
#ifndef INTARSIA_STREAMS
#define INTARSIA_STREAMS
#endif
#ifndef INTARSIA_WEIGHTS_IN_MEMORY
#define INTARSIA_WEIGHTS_IN_MEMORY(memory) INTARSIA_WEIGHTS
#endif

#endif
