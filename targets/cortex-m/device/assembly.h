// What assembly this compilation can hold: asked of the compiler where it says, else of whoever builds. What
// cannot be held is computed by portable twins, which give the same results. To be set for all sources:
//   INTARSIA_NO_ASM        no assembly at all
//   INTARSIA_RESERVED_R9   r9 is somebody else's (-ffixed-r9, RWPI, a static base): set here for -frwpi and -fpic, the
//                          compilers do not tell of -ffixed-r9
//   INTARSIA_KEEP_R7       r7 holds a frame pointer that assembly has to save: set here for clang; GCC keeps none in these
//                          sources (below)
//   INTARSIA_USERS_LEVEL   optimise.h leaves the level of optimisation alone
#ifndef INTARSIA_CORTEX_M_ASSEMBLY_H_
#define INTARSIA_CORTEX_M_ASSEMBLY_H_

// An M-profile core, an optimising compiler that takes GNU assembly. Assembly that fills the register file is for
// optimised builds: at -O0 the compiler has registers of its own in use.
#if defined(__ARM_ARCH_PROFILE) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !defined(INTARSIA_NO_ASM)
#if __ARM_ARCH_PROFILE == 'M'
#define INTARSIA_HAS_ASM 1
#endif
#endif
#ifndef INTARSIA_HAS_ASM
#define INTARSIA_HAS_ASM 0
#endif

#if !defined(INTARSIA_RESERVED_R9) && (defined(__ARM_RWPI) || defined(__pic__))
#define INTARSIA_RESERVED_R9 1
#endif
#ifdef INTARSIA_RESERVED_R9
#define INTARSIA_FREE_R9 0
#else
#define INTARSIA_FREE_R9 1
#endif

// The DSP extension: single instructions; and loops that take all registers, or load words that are not aligned.
#if INTARSIA_HAS_ASM && defined(__ARM_FEATURE_DSP)
#define INTARSIA_HAS_DSP 1
#else
#define INTARSIA_HAS_DSP 0
#endif
#define INTARSIA_HAS_DSP_LOOPS (INTARSIA_HAS_DSP && INTARSIA_FREE_R9)
#ifdef __ARM_FEATURE_UNALIGNED
#define INTARSIA_HAS_DSP_WORDS INTARSIA_HAS_DSP
#else
#define INTARSIA_HAS_DSP_WORDS 0
#endif

// The Cortex-M7 executes two instructions at a time. It is told by its doubles: one without a floating-point unit gets the order of
// instructions that others want, with the same results.
#if INTARSIA_HAS_ASM && __ARM_ARCH == 7 && defined(__ARM_FP) && (__ARM_FP & 8)
#define INTARSIA_TWO_AT_A_TIME 1
#else
#define INTARSIA_TWO_AT_A_TIME 0
#endif

// Helium. Elements are aligned to their own size, which is all that it asks for.
#if INTARSIA_HAS_ASM && defined(__ARM_FEATURE_MVE)
#define INTARSIA_HAS_MVE 1
#else
#define INTARSIA_HAS_MVE 0
#endif

// Armv6-M and Armv8-M Baseline; Armv7-M and Armv8-M Mainline with or without the extensions above.
#if INTARSIA_HAS_ASM && __ARM_ARCH_ISA_THUMB == 1 && INTARSIA_FREE_R9
#define INTARSIA_HAS_THUMB1 1
#else
#define INTARSIA_HAS_THUMB1 0
#endif
#if INTARSIA_HAS_ASM && __ARM_ARCH_ISA_THUMB == 2 && INTARSIA_FREE_R9
#define INTARSIA_HAS_THUMB2 1
#else
#define INTARSIA_HAS_THUMB2 0
#endif

// GCC takes r8 to r11 for registers that calls change where it optimises Thumb-1 code for size, and then saves none that
// assembly names; who calls it was perhaps compiled for speed, or by another compiler, and relies on them. So Thumb-1
// assembly saves them itself, with four low registers that are free, and does not name them. What it pushes is unknown to
// GCC's call graph: such assembly is alone in a function whose name ends in _pushes_<bytes>, which the bound of the stack
// counts (r7, below, included).
#define INTARSIA_SAVE_HIGH(a, b, c, d) \
  "mov " a                             \
  ", r8\n"                             \
  "mov " b                             \
  ", r9\n"                             \
  "mov " c                             \
  ", r10\n"                            \
  "mov " d                             \
  ", r11\n"                            \
  "push {" a ", " b ", " c ", " d "}\n"
#define INTARSIA_RESTORE_HIGH(a, b, c, d) \
  "pop {" a ", " b ", " c ", " d          \
  "}\n"                                   \
  "mov r8, " a                            \
  "\n"                                    \
  "mov r9, " b                            \
  "\n"                                    \
  "mov r10, " c                           \
  "\n"                                    \
  "mov r11, " d "\n"

// The frame pointer of Thumb code is r7. GCC refuses assembly that takes it where there is one; sources with such
// assembly include optimise.h or no_frame_pointer.h before it, and keep none whatever the command line says. For other
// compilers assembly saves r7 and does not name it; its operands are bound to other registers, and none of
// them is memory, which could be found by r7 or the stack pointer.
#if !defined(INTARSIA_KEEP_R7) && (!defined(__GNUC__) || defined(__clang__))
#define INTARSIA_KEEP_R7 1
#endif
#ifdef INTARSIA_KEEP_R7
#define INTARSIA_SAVE_R7 "push {r7}\n"
#define INTARSIA_RESTORE_R7 "pop {r7}\n"
#define INTARSIA_CLOBBERS_R7
// An operand that the assembly has in r7: here it comes in r1, which the assembly changes.
#define INTARSIA_OPERAND_R7 "r1"
#define INTARSIA_TAKE_R7 "push {r7}\nmov r7, r1\n"
#define INTARSIA_CLOBBERS_R1
#else
#define INTARSIA_SAVE_R7
#define INTARSIA_RESTORE_R7
#define INTARSIA_CLOBBERS_R7 "r7",
#define INTARSIA_OPERAND_R7 "r7"
#define INTARSIA_TAKE_R7
#define INTARSIA_CLOBBERS_R1 "r1",
#endif

// Assembly that sets the predicate says so. Clang has no name for it; its sources hold no vectors across assembly.
#if defined(__GNUC__) && !defined(__clang__)
#define INTARSIA_CLOBBERS_PREDICATE , "p0"
#else
#define INTARSIA_CLOBBERS_PREDICATE
#endif

// Where an indirect jump may land when branch targets are enforced: BTI, by its number, since assemblers know the name
// for some cores only. Others take it for a hint.
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define INTARSIA_LANDING ".inst.w 0xf3af800f\n"
#define INTARSIA_LANDING_BYTES 4
#else
#define INTARSIA_LANDING
#define INTARSIA_LANDING_BYTES 0
#endif

#endif  // INTARSIA_CORTEX_M_ASSEMBLY_H_
