/* For the assembler sources (.S) of packages: an object that C declares as an array, its bytes taken in from a file. The
 * assembler looks for the file in the include folders (-I), as the preprocessor does for headers.
 *
 *   intarsia_weights kws_conv_1_weights, "kws_weights.bin", 0, 2560, 4    in the section of weights
 *   intarsia_weights_in_memory ddr, kws_conv_3_weights, "kws_weights.bin", 3072, 2560, 4    in that of a memory of the board
 *   intarsia_streams kws_package, "kws.intarsia", 0, 9216, 16             in that of command streams
 *   intarsia_object ".qspi", kws_conv_2_weights, "kws_weights.bin", 2560, 512, 4
 *
 * with the symbol, the file, where in it the object begins, and its bytes and alignment. Sections are those of placement.h;
 * instead of INTARSIA_WEIGHTS and INTARSIA_STREAMS, which are attributes of C, a program defines their names for all models:
 *   -DINTARSIA_WEIGHTS_SECTION=.qspi
 * GNU as, clang and armclang read this. */
#ifndef INTARSIA_CONTRACT_INCBIN_H
#define INTARSIA_CONTRACT_INCBIN_H

#ifdef __ASSEMBLER__

#if defined(INTARSIA_WEIGHTS) && !defined(INTARSIA_WEIGHTS_SECTION)
#error \
    "INTARSIA_WEIGHTS is an attribute of C: define INTARSIA_WEIGHTS_SECTION as well, or compile with --weights-file never"
#endif
#if defined(INTARSIA_STREAMS) && !defined(INTARSIA_STREAMS_SECTION)
#error \
    "INTARSIA_STREAMS is an attribute of C: define INTARSIA_STREAMS_SECTION as well, or compile with --weights-file never"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error \
    "the file's numbers have their lowest byte first: compile the model with --weights-file never"
#endif

.macro intarsia_bytes symbol, file, offset, bytes, alignment
  .balign \alignment
#ifdef __APPLE__
  .globl _\symbol
  .private_extern _\symbol
_\symbol:
#else
  .globl \symbol
\symbol:
#endif
  .incbin "\file", \offset, \bytes
#ifdef __ELF__
  .hidden \symbol
  .type \symbol, %object
  .size \symbol, \bytes
#endif
.endm

.macro intarsia_object section, symbol, file, offset, bytes, alignment
#ifdef __ELF__
  .section \section,"a",%progbits
#else
  .section \section
#endif
  intarsia_bytes \symbol, "\file", \offset, \bytes, \alignment
.endm

/* Where the compiler puts constants. */
.macro intarsia_constant symbol, file, offset, bytes, alignment
#if defined(__APPLE__)
  .const
#elif defined(__ELF__)
  .section .rodata.\symbol,"a",%progbits
#else
  .section .rdata,"dr"
#endif
  intarsia_bytes \symbol, "\file", \offset, \bytes, \alignment
.endm

.macro intarsia_weights symbol, file, offset, bytes, alignment
#if defined(INTARSIA_WEIGHTS_SECTION)
  intarsia_object INTARSIA_WEIGHTS_SECTION, \symbol, "\file", \offset, \bytes, \alignment
#elif defined(INTARSIA_BOARD_MEMORIES)
  intarsia_object .intarsia.weights.\symbol, \symbol, "\file", \offset, \bytes, \alignment
#else
  intarsia_constant \symbol, "\file", \offset, \bytes, \alignment
#endif
.endm

/* What is defined for all weights holds for these as well. */
.macro intarsia_weights_in_memory memory, symbol, file, offset, bytes, alignment
#if defined(INTARSIA_BOARD_MEMORIES) && !defined(INTARSIA_WEIGHTS_SECTION)
  intarsia_object .intarsia.constants.\memory\().\symbol, \symbol, "\file", \offset, \bytes, \alignment
#else
  intarsia_weights \symbol, "\file", \offset, \bytes, \alignment
#endif
.endm

.macro intarsia_streams symbol, file, offset, bytes, alignment
#if defined(INTARSIA_STREAMS_SECTION)
  intarsia_object INTARSIA_STREAMS_SECTION, \symbol, "\file", \offset, \bytes, \alignment
#elif defined(INTARSIA_BOARD_MEMORIES)
  intarsia_object .intarsia.streams.\symbol, \symbol, "\file", \offset, \bytes, \alignment
#else
  intarsia_constant \symbol, "\file", \offset, \bytes, \alignment
#endif
.endm

/* Without it, linkers of this system make the stack executable. */
#if defined(__linux__) && defined(__ELF__)
  .section .note.GNU-stack,"",%progbits
#endif

#endif

#endif
