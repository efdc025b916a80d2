/* A program in a package: what the executor does, as 32-bit words. It is written by the compiler and checked and read by
 * device-runtime/executor. An instruction is a word with the operation in its low eight bits and the number of words that
 * follow in the others, and then these.
 *
 * A place is two words: a segment and an offset in bytes. A segment is a memory of the program, by its index, or its
 * constants, which are only read. */
#ifndef INTARSIA_CONTRACT_PROGRAM_FORMAT_H
#define INTARSIA_CONTRACT_PROGRAM_FORMAT_H

#ifdef __cplusplus
extern "C" {
#endif

enum intarsia_program_operation {
  INTARSIA_PROGRAM_CALL = 0, /* index of a kernel; the place of each of its operands */
  INTARSIA_PROGRAM_STREAM =
      1, /* index of a function of the package; index of a device of the program */
  INTARSIA_PROGRAM_IF =
      2, /* place of a flag: what follows is done when the byte there is not zero */
  INTARSIA_PROGRAM_ELSE = 3,
  INTARSIA_PROGRAM_END = 4, /* of the innermost IF or LOOP */
  /* How often, and the place of a flag: what follows is done so many times, and no more once the flag is zero. A segment
   * of INTARSIA_PROGRAM_NO_SEGMENT: there is no flag. */
  INTARSIA_PROGRAM_LOOP = 5,
  /* State before the first run. */
  INTARSIA_PROGRAM_COPY = 6, /* place; bytes; offset of the constants that are copied */
  INTARSIA_PROGRAM_FILL = 7  /* place; how many elements; bytes of one (1, 2 or 4); the element */
};

#define INTARSIA_PROGRAM_CONSTANTS 0xFFFFu
#define INTARSIA_PROGRAM_NO_SEGMENT 0xFFFFFFFFu

/* What one program may have: limits that make everything of it fit on a small stack. */
#define INTARSIA_PROGRAM_MAX_MEMORIES 8u
#define INTARSIA_PROGRAM_MAX_DEVICES 8u
#define INTARSIA_PROGRAM_MAX_ALIGNMENT 32u /* of memories */
#define INTARSIA_PROGRAM_MAX_OPERANDS 48u
#define INTARSIA_PROGRAM_MAX_DEPTH 8u /* of IF and LOOP inside each other */

#ifdef __cplusplus
}
#endif

#endif
