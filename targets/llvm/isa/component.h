/* Between the kind and the component that links LLVM. The component is loaded when a model is compiled for this kind, so
 * that a compiler without LLVM is whole but for it, and one with it starts as fast. */
#ifndef INTARSIA_TARGETS_LLVM_COMPONENT_H_
#define INTARSIA_TARGETS_LLVM_COMPONENT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of an answer; of a text without the zero at its end. */
typedef void (*intarsia_llvm_take)(void* context, const char* bytes, size_t size);

/* For which machine, in LLVM's words; empty texts leave the choice to LLVM. */
struct intarsia_llvm_machine {
  const char *triple, *cpu, *features; /* "thumbv7em-none-eabi", "cortex-m4", "+dsp,-fp" */
};

/* What code for a machine depends on. */
struct intarsia_llvm_facts {
  int32_t pointer_bits;
  int32_t typed_pointers; /* in the text of IR: "i8*"; else "ptr" */
  int32_t little_endian;
  int32_t
      runs_here; /* by all that is known of it: the processor that we run on, or an older one of its kind */
  int32_t vector_bits; /* of a register that holds several numbers; 0: there is none */
  int32_t permutes; /* whether elements of such a register change places at once, not one by one */
  int32_t
      pair_bits; /* of the widest register whose 16-bit numbers x86 multiplies and adds in pairs; 0: none */
};

/* A constant whose bytes are not in the text, which declares it as @name of `size` bytes. */
struct intarsia_llvm_constant {
  const char* name;
  const uint8_t* bytes;
  size_t size;
};

/* A module, as text of LLVM's IR, and its constants. */
struct intarsia_llvm_module {
  const char* text;
  size_t text_size;
  const struct intarsia_llvm_constant* constants;
  size_t constant_count;
};

/* Both return 0, or 1 where `take` was given what is wrong, a sentence. */
typedef int (*intarsia_llvm_describe_function)(const struct intarsia_llvm_machine* machine,
                                               struct intarsia_llvm_facts* facts,
                                               intarsia_llvm_take take, void* context);
/* Optimised, as an object file for the machine. The helpers that the module calls are in it. */
typedef int (*intarsia_llvm_compile_function)(const struct intarsia_llvm_machine* machine,
                                              const struct intarsia_llvm_module* module,
                                              intarsia_llvm_take take, void* context);

/* An object file in the memory of this process; null where it is for another machine, or where `take` was given what is
 * wrong. Code is in memory until it is unloaded. */
struct intarsia_llvm_code;
typedef struct intarsia_llvm_code* (*intarsia_llvm_load_function)(const char* object, size_t size,
                                                                  intarsia_llvm_take take,
                                                                  void* context);
/* The address of a function; null where there is none of that name. */
typedef void* (*intarsia_llvm_find_function)(struct intarsia_llvm_code* code, const char* name);
typedef void (*intarsia_llvm_unload_function)(struct intarsia_llvm_code* code);

#ifdef __cplusplus
}
#endif

#endif
