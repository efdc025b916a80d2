/* Cores whose instructions overlap: Cortex-M7, M33 and M55, and RISC-V cores, which start one at a time. Instructions start in their order, when their operands are
 * ready and their pipe is free; some start in the same cycle as the one before. */
#include "cycles_model.h"

static bool is_vector(const struct instruction* instruction) {
  return instruction->class_id >= CLASS_VectorLoad && instruction->class_id <= CLASS_VectorMove;
}

/* What the M33 and M55 start beside another 16-bit instruction: branches, IT, moves, sums with a constant, extensions.
 * The classes do not tell these from other arithmetic; of that, what reads one register at most is taken for it. */
static bool is_simple(const struct instruction* instruction) {
  if (instruction->class_id == CLASS_Branch || instruction->class_id == CLASS_IfThen) return true;
  return instruction->class_id == CLASS_Alu && (instruction->read & (instruction->read - 1)) == 0;
}

static bool pairs_narrow(const struct instruction* first, const struct instruction* second) {
  return first->size == 2 && second->size == 2 && (is_simple(first) || is_simple(second));
}

static bool has_room_beside(enum pipe first, enum pipe second) {
  if (first != second) return true;
  return first == IntegerPipe || first == LoadPipe; /* the M7 has two of each */
}

static bool pairs_by_pipes(const struct core_timing* timing, const struct instruction* first,
                           const struct instruction* second) {
  const struct class_timing* a = &timing->classes[first->class_id];
  const struct class_timing* b = &timing->classes[second->class_id];
  if (a->blocks || b->blocks) return false;
  if (second->class_id == CLASS_Simd) return false; /* only the first of two */
  if (first->shifts_operand && second->shifts_operand) return false;
  return has_room_beside(a->pipe, b->pipe);
}

static bool may_pair(const struct cycle_state* state, const struct instruction* instruction,
                     int variant) {
  const struct instruction* previous = state->previous;
  if (previous == NULL || state->board[variant].slot_used) return false;
  if ((previous->written & instruction->read) != 0) return false;
  if (state->timing->pairs_narrow)
    return variant != PESSIMISTIC && previous->class_id != CLASS_LoopEnd &&
           pairs_narrow(previous, instruction);
  return state->timing->pairs_by_pipes && pairs_by_pipes(state->timing, previous, instruction);
}

/* When the operands of an instruction are there. */
static half_cycles operands_ready(const struct cycle_state* state,
                                  const struct instruction* instruction, int variant,
                                  half_cycles at) {
  register_set rest = instruction->read;
  for (unsigned int r = 0; rest != 0; ++r, rest >>= 1) {
    const register_set bit = (register_set)1 << r;
    half_cycles ready;
    if ((rest & 1) == 0 || bit == PROGRAM_COUNTER) continue;
    ready = (instruction->accumulated & bit) != 0 ? state->board[variant].sum_ready[r]
                                                  : state->board[variant].ready[r];
    if ((instruction->of_address & bit) != 0) {
      const bool offsets = (bit & FLOAT_REGISTERS) != 0;
      ready += state->timing->rules[offsets ? RULE_GatherAddressEarly : RULE_AddressEarly][variant];
    } else if (instruction->shifts_operand) {
      ready += state->timing->rules[RULE_ShiftedEarly][variant];
    }
    if (ready > at) at = ready;
  }
  return at;
}

static enum pipe pipe_of(const struct cycle_state* state, const struct class_timing* timing,
                         int variant) {
  if (timing->pipe != EitherVectorPipe) return timing->pipe;
  return state->board[variant].free_at[IntegerVectorPipe] <=
                 state->board[variant].free_at[FloatPipe]
             ? IntegerVectorPipe
             : FloatPipe;
}

static half_cycles held_by(const struct cycle_state* state, const struct instruction* instruction,
                           const struct class_timing* timing, int variant) {
  half_cycles held = timing->held[variant] + timing->per_word[variant] * instruction->words;
  if (instruction->class_id == CLASS_VectorGather || instruction->class_id == CLASS_VectorScatter) {
    const half_cycles elements =
        state->timing->rules[RULE_GatherPerElement][variant] * instruction->elements;
    if (elements > held) held = elements;
  }
  if (held % 2 != 0) ++held; /* an instruction ends with a cycle */
  return held;
}

static void note_results(struct cycle_state* state, const struct instruction* instruction,
                         int variant, half_cycles start, half_cycles latency) {
  const half_cycles forwarded = state->timing->rules[RULE_SumsForwarded][variant];
  register_set rest = instruction->written;
  if (instruction->part_of_word) latency += state->timing->rules[RULE_PartOfWordLate][variant];
  for (unsigned int r = 0; rest != 0; ++r, rest >>= 1) {
    const register_set bit = (register_set)1 << r;
    if ((rest & 1) == 0) continue;
    /* An address that is written back is ready for the next instruction. */
    const half_cycles after =
        instruction->writes_back && (instruction->of_address & bit) != 0 ? HALF_CYCLES(1) : latency;
    state->board[variant].ready[r] = start + after;
    state->board[variant].sum_ready[r] =
        start + ((instruction->accumulated & bit) != 0 && forwarded < after ? forwarded : after);
  }
}

static void execute_in(struct cycle_state* state, struct instruction* instruction, int variant) {
  const struct class_timing* timing = &state->timing->classes[instruction->class_id];
  const half_cycles one = HALF_CYCLES(1);
  const half_cycles before = state->board[variant].now;
  const enum pipe pipe = pipe_of(state, timing, variant);
  const half_cycles held = held_by(state, instruction, timing, variant);
  bool pair = may_pair(state, instruction, variant);
  half_cycles start = before + (pair ? 0 : one);
  half_cycles more = 0;
  const half_cycles ready = operands_ready(state, instruction, variant, start);
  half_cycles free_at = pipe < PIPE_COUNT ? state->board[variant].free_at[pipe] : 0;
  if (pair && free_at <= start + one && has_room_beside(pipe, pipe)) free_at = start;
  if (ready > start || free_at > start) {
    start = ready > free_at ? ready : free_at;
    if (start < before + one) start = before + one;
    pair = false;
  }
  if (pipe < PIPE_COUNT) state->board[variant].free_at[pipe] = start + held;
  if (timing->blocks && held > one) more = held - one;
  if (is_vector(instruction)) {
    /* The second beat is beside the next instruction's first one; what takes more than two beats holds everything. */
    const half_cycles beats =
        state->timing->rules[RULE_BeatsOverlap][variant] > 0 ? HALF_CYCLES(2) : one;
    if (held > beats) more = held - beats;
  }
  note_results(state, instruction, variant, start + (timing->blocks ? more : 0),
               timing->latency[variant]);
  cycles_add(state, instruction, (enum variant)variant, start + more - before);
  state->board[variant].slot_used = pair || more > 0;
}

void cycles_execute_scoreboard(struct cycle_state* state, struct instruction* instruction) {
  if (instruction->class_id == CLASS_LoopEnd) return; /* cycles_continue_at */
  if (instruction->class_id == CLASS_LoopStart) state->loop = NULL;
  for (int v = 0; v < VARIANTS; ++v) execute_in(state, instruction, v);
}
