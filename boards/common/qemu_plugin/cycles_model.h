/* Estimated cycles of executed code of Cortex-M and RISC-V cores: what the plugin feeds, and what it gets. */
#ifndef INTARSIA_CYCLES_MODEL_H
#define INTARSIA_CYCLES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variant { OPTIMISTIC, NOMINAL, PESSIMISTIC, VARIANTS };

/* Half cycles, so that two words a cycle can be said of one word. */
typedef int64_t half_cycles;
#define HALF_CYCLES(cycles) ((half_cycles)((cycles)*2))

enum instruction_class {
#define CLASS(name) CLASS_##name,
#include "instruction_classes.def"
#undef CLASS
  CLASS_COUNT
};

enum timing_rule {
#define TIMING_RULE(name, when) RULE_##name,
#include "timing_rules.def"
#undef TIMING_RULE
  RULE_COUNT
};

enum pipe {
  IntegerPipe,
  ProductPipe,
  LoadPipe,
  StorePipe,
  BranchPipe,
  FloatPipe,
  IntegerVectorPipe,
  PredicatePipe,
  PIPE_COUNT,
  EitherVectorPipe /* FloatPipe or IntegerVectorPipe, whichever is free */
};

struct class_timing {
  bool known;
  enum pipe pipe;
  bool blocks; /* nothing else starts while the pipe is held */
  half_cycles held[VARIANTS], per_word[VARIANTS], latency[VARIANTS];
};

struct core_timing {
  bool scoreboard;
  bool pairs_narrow;   /* two 16-bit instructions at a time, one of them simple */
  bool pairs_by_pipes; /* two instructions at a time, in different pipes */
  bool
      remembers_loop; /* predicts that the backward branch that was taken last is taken again, and no other */
  struct class_timing classes[CLASS_COUNT];
  half_cycles rules[RULE_COUNT][VARIANTS];
};

/* False where no timing is known of a core of that name (-mcpu). */
bool core_timing_of(const char* name, struct core_timing* timing);

/* Bits 0 to 15: r0 to pc; 16 to 47: s0 to s31. RISC-V: x1 to x31, with x15 as bit 0; 32 to 63: f0 to f31. */
typedef uint64_t register_set;
#define PROGRAM_COUNTER (UINT64_C(1) << 15)
#define FLOAT_REGISTERS (UINT64_C(0xffffffff) << 16)

struct instruction {
  uint32_t address;
  uint8_t size; /* in bytes: 2 or 4 */
  uint8_t class_id, words, elements;
  bool writes_back, literal, register_offset, shifts_operand, part_of_word;
  bool misaligned_wide;   /* 32 bits, and no word begins with it */
  bool last_taken;        /* for a prediction: which way it went */
  int32_t operator_index; /* -1: not said by this instruction */
  register_set written, read, of_address, accumulated;
  uint64_t count;
  half_cycles spent[VARIANTS];
};

/* What is known between instructions. */
struct cycle_state {
  const struct core_timing* timing;
  struct instruction* previous; /* NULL at the beginning */
  half_cycles total[VARIANTS];
  unsigned int misaligned_run;
  const struct instruction* loop; /* the LE, or the backward branch, that jumped last */
  struct {
    half_cycles now;
    bool slot_used; /* a second instruction started in this cycle */
    half_cycles ready[64], sum_ready[64], free_at[PIPE_COUNT];
  } board[VARIANTS];
};

void cycles_start(struct cycle_state* state, const struct core_timing* timing);
/* The next instruction that is executed. `state->previous` is it afterwards. */
void cycles_execute(struct cycle_state* state, struct instruction* instruction);
/* Behind an instruction that may branch: where execution went on. `target` may be NULL. */
void cycles_continue_at(struct cycle_state* state, uint32_t address,
                        const struct instruction* target);
/* A rule's cycles, or others, for an instruction that was executed. */
void cycles_add_rule(struct cycle_state* state, struct instruction* instruction,
                     enum timing_rule rule);
void cycles_add(struct cycle_state* state, struct instruction* instruction, enum variant variant,
                half_cycles more);

/* Of one kind of pipeline each. */
void cycles_execute_sequential(struct cycle_state* state, struct instruction* instruction);
void cycles_execute_scoreboard(struct cycle_state* state, struct instruction* instruction);

#endif
