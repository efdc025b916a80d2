/* What all pipelines have in common: where cycles are booked, and what branches cost. */
#include "cycles_model.h"

#include <string.h>

void cycles_start(struct cycle_state* state, const struct core_timing* timing) {
  memset(state, 0, sizeof *state);
  state->timing = timing;
}

void cycles_add(struct cycle_state* state, struct instruction* instruction, enum variant variant,
                half_cycles more) {
  state->total[variant] += more;
  state->board[variant].now += more;
  instruction->spent[variant] += more;
}

void cycles_add_rule(struct cycle_state* state, struct instruction* instruction,
                     enum timing_rule rule) {
  for (int v = 0; v < VARIANTS; ++v)
    cycles_add(state, instruction, (enum variant)v, state->timing->rules[rule][v]);
}

void cycles_execute(struct cycle_state* state, struct instruction* instruction) {
  ++instruction->count;
  if (state->timing->scoreboard)
    cycles_execute_scoreboard(state, instruction);
  else
    cycles_execute_sequential(state, instruction);
  state->previous = instruction;
}

/* Nothing starts beside an instruction before a jump. */
static void refill(struct cycle_state* state) {
  for (int v = 0; v < VARIANTS; ++v) state->board[v].slot_used = true;
}

static void end_of_loop(struct cycle_state* state, struct instruction* end, bool taken) {
  if (taken)
    cycles_add_rule(state, end, state->loop == end ? RULE_LoopAgain : RULE_LoopFirst);
  else
    cycles_add_rule(state, end, RULE_LoopLeft);
  state->loop = taken ? end : NULL;
}

/* One backward branch is predicted to be taken. */
static void remembered_branch(struct cycle_state* state, struct instruction* branch,
                              uint32_t address, const struct instruction* target, bool taken) {
  const bool predicted = state->loop == branch;
  if (!taken) {
    if (predicted) cycles_add_rule(state, branch, RULE_LoopLeft);
    if (predicted) state->loop = NULL;
    return;
  }
  cycles_add_rule(state, branch, predicted ? RULE_LoopAgain : RULE_TakenBranch);
  if (!predicted && target != NULL && target->misaligned_wide)
    cycles_add_rule(state, branch, RULE_TakenToMisaligned);
  if (address < branch->address) state->loop = branch;
}

static void taken_branch(struct cycle_state* state, struct instruction* branch,
                         const struct instruction* target) {
  switch (branch->class_id) {
    case CLASS_Call:
      cycles_add_rule(state, branch, RULE_TakenCall);
      break;
    case CLASS_Branch:
    case CLASS_LoopStart:
      cycles_add_rule(state, branch, RULE_TakenBranch);
      break;
    case CLASS_TableBranch:
      cycles_add_rule(state, branch, RULE_TableBranch);
      break;
    case CLASS_Load:
    case CLASS_LoadMany:
      cycles_add_rule(state, branch, RULE_ReturnByLoads);
      break;
    default:
      cycles_add_rule(state, branch, RULE_TakenIndirect);
      break;
  }
  if (target != NULL && target->misaligned_wide)
    cycles_add_rule(state, branch, RULE_TakenToMisaligned);
}

void cycles_continue_at(struct cycle_state* state, uint32_t address,
                        const struct instruction* target) {
  struct instruction* branch = state->previous;
  bool taken;
  if (branch == NULL) return;
  taken = address != branch->address + branch->size;
  if (branch->class_id == CLASS_LoopEnd) {
    end_of_loop(state, branch, taken);
    refill(state);
    return;
  }
  if (branch->class_id == CLASS_Branch && state->timing->remembers_loop) {
    remembered_branch(state, branch, address, target, taken);
    return;
  }
  if (branch->class_id == CLASS_Branch && taken != branch->last_taken) {
    cycles_add_rule(state, branch, RULE_Mispredicted);
    branch->last_taken = taken;
  }
  if (!taken) return;
  taken_branch(state, branch, target);
  refill(state);
}
