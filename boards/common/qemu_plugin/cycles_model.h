/* Estimated cycles of executed Thumb code: what the plugin feeds, and what it gets. */
#ifndef INTARSIA_CYCLES_MODEL_H
#define INTARSIA_CYCLES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variant { OPTIMISTIC, NOMINAL, PESSIMISTIC, VARIANTS };

/* Half cycles, so that two words a cycle can be said of one word. */
typedef int64_t half_cycles;
#define HALF_CYCLES(cycles) ((half_cycles)((cycles)*2))

/* X(class): classes of instructions. */
#define INSTRUCTION_CLASSES(X)                                                                     \
  X(Unknown)                                                                                       \
  X(Alu)                                                                                           \
  X(Simd)                                                                                          \
  X(Multiply)                                                                                      \
  X(MultiplyAdd) X(LongMultiply) X(LongMultiplyAdd) X(LongShift) X(Divide) X(Load) X(LoadMany)     \
      X(Store) X(StoreMany) X(Branch) X(Call) X(CallRegister) X(BranchRegister) X(TableBranch)     \
          X(IfThen) X(LoopStart) X(LoopEnd) X(System) X(FloatAdd) X(FloatMultiply)                 \
              X(FloatMultiplyAdd) X(FloatDivide) X(FloatMove) X(FloatLoad) X(FloatLoadMany)        \
                  X(FloatStore) X(FloatStoreMany) X(VectorLoad) X(VectorLoadApart) X(VectorGather) \
                      X(VectorStore) X(VectorScatter) X(VectorInteger) X(VectorShift)              \
                          X(VectorAcross) X(VectorNarrow) X(VectorCompare) X(VectorMultiply)       \
                              X(VectorMultiplyAdd) X(VectorReduce) X(VectorMove)                   \
                                  X(VectorPredicate)

enum instruction_class {
#define CLASS(name) CLASS_##name,
  INSTRUCTION_CLASSES(CLASS)
#undef CLASS
      CLASS_COUNT
};

/* X(rule, when). */
#define TIMING_RULES(X)                                                                      \
  X(TakenBranch, "a branch to an address in the instruction is taken")                       \
  X(TakenToMisaligned, "the target is a 32-bit instruction that no word begins with")        \
  X(TakenCall, "a function is called")                                                       \
  X(TakenIndirect, "a branch to an address in a register is taken")                          \
  X(ReturnByLoads, "the program counter is loaded")                                          \
  X(TableBranch, "a branch by a table")                                                      \
  X(Mispredicted, "a branch goes another way than the last time")                            \
  X(AfterLoad, "a load or store behind a load that does not make its address")               \
  X(StoreByRegisters, "a store to the sum of two registers, not behind a load")              \
  X(StoreAfterStore, "a store behind a store")                                               \
  X(AddressJustMade, "the instruction before made an address by arithmetic")                 \
  X(LiteralLoad, "a load relative to the program counter")                                   \
  X(MisalignedEven, "an access of a word at half a word, or of two bytes at an odd address") \
  X(MisalignedOdd, "an access of a word at an odd address")                                  \
  X(MisalignedVector, "a vector from an address that no word begins with")                   \
  X(ThreeMisalignedWide, "three 32-bit instructions in a row that no word begins with")      \
  X(IfThenBehindNarrow, "IT behind a 16-bit instruction")                                    \
  X(ProductJustMade, "a product is used at once by anything but a sum")                      \
  X(FloatJustMade, "a floating-point result is used at once")                                \
  X(PartOfWordLate, "a load of less than a word is later")                                   \
  X(AddressEarly, "registers of an address are needed earlier")                              \
  X(ShiftedEarly, "registers that are shifted are needed earlier")                           \
  X(GatherAddressEarly, "vectors of offsets are needed earlier")                             \
  X(GatherPerElement, "each element of a gather or scatter, at least two cycles together")   \
  X(SumsForwarded, "latency between instructions that add to the same sum")                  \
  X(BeatsOverlap, "cycles after which a vector instruction lets the next one start")         \
  X(LoopFirst, "the end of a loop jumps back for the first time")                            \
  X(LoopAgain, "the end of a loop jumps back")                                               \
  X(LoopLeft, "a loop is left at its end")

enum timing_rule {
#define RULE_ID(name, when) RULE_##name,
  TIMING_RULES(RULE_ID)
#undef RULE_ID
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
  struct class_timing classes[CLASS_COUNT];
  half_cycles rules[RULE_COUNT][VARIANTS];
};

/* False where no timing is known of a core of that name (-mcpu). */
bool core_timing_of(const char* name, struct core_timing* timing);

typedef uint64_t register_set; /* bits 0 to 15: r0 to pc; 16 to 47: s0 to s31 */
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
  const struct instruction* loop; /* the LE that jumped last */
  struct {
    half_cycles now;
    bool slot_used; /* a second instruction started in this cycle */
    half_cycles ready[48], sum_ready[48], free_at[PIPE_COUNT];
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
