/* Cores with one instruction at a time in the stage that executes: Cortex-M0, M0+, M3 and M4. */
#include "cycles_model.h"

static bool accesses_memory(const struct instruction* instruction) {
  return instruction->class_id == CLASS_Load || instruction->class_id == CLASS_Store;
}

static bool is_product(const struct instruction* instruction) {
  return instruction->class_id == CLASS_Multiply || instruction->class_id == CLASS_MultiplyAdd ||
         instruction->class_id == CLASS_LongMultiply ||
         instruction->class_id == CLASS_LongMultiplyAdd;
}

static void behind_previous(struct cycle_state* state, struct instruction* instruction) {
  const struct instruction* previous = state->previous;
  const bool follows_load = previous->class_id == CLASS_Load && !previous->literal &&
                            (previous->written & instruction->of_address) == 0;
  if (accesses_memory(instruction)) {
    if (follows_load && instruction->class_id == CLASS_Load)
      cycles_add_rule(state, instruction, RULE_AfterLoad);
    if (!follows_load && instruction->class_id == CLASS_Store && instruction->register_offset)
      cycles_add_rule(state, instruction, RULE_StoreByRegisters);
  }
  if (instruction->class_id == CLASS_Store &&
      (previous->class_id == CLASS_Store || previous->class_id == CLASS_StoreMany))
    cycles_add_rule(state, instruction, RULE_StoreAfterStore);
  if ((previous->written & instruction->of_address) != 0 && previous->class_id != CLASS_Load &&
      previous->class_id != CLASS_LoadMany)
    cycles_add_rule(state, instruction, RULE_AddressJustMade);
  if (instruction->class_id == CLASS_IfThen && previous->size == 2)
    cycles_add_rule(state, instruction, RULE_IfThenBehindNarrow);
  if (is_product(previous) &&
      (previous->written & instruction->read & ~instruction->accumulated) != 0)
    cycles_add_rule(state, instruction, RULE_ProductJustMade);
  if (previous->class_id >= CLASS_FloatAdd && previous->class_id <= CLASS_FloatDivide &&
      (previous->written & instruction->read) != 0)
    cycles_add_rule(state, instruction, RULE_FloatJustMade);
}

void cycles_execute_sequential(struct cycle_state* state, struct instruction* instruction) {
  const struct class_timing* timing = &state->timing->classes[instruction->class_id];
  for (int v = 0; v < VARIANTS; ++v)
    cycles_add(state, instruction, (enum variant)v,
               timing->held[v] + timing->per_word[v] * instruction->words);
  if (state->previous != NULL) behind_previous(state, instruction);
  if (instruction->literal && instruction->class_id == CLASS_Load)
    cycles_add_rule(state, instruction, RULE_LiteralLoad);
  state->misaligned_run = instruction->misaligned_wide ? state->misaligned_run + 1 : 0;
  if (state->misaligned_run == 3) {
    cycles_add_rule(state, instruction, RULE_ThreeMisalignedWide);
    state->misaligned_run = 0;
  }
}
