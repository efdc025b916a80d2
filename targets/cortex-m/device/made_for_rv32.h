// Of a model whose kernels are made for RV32 with multiplication: plain C, which any flags compile.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_RV32_H_
#define INTARSIA_CORTEX_M_MADE_FOR_RV32_H_

#if defined(__riscv) && !defined(__riscv_mul) && !defined(INTARSIA_ANY_FLAGS)
#warning \
    "this model was compiled for a RISC-V core with multiplication; these flags have none: every product is a call. \
Compile with the -march of that core, such as -march=rv32imc; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_RV32_H_
