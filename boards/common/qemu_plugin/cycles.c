/* A QEMU TCG plugin (plugin API version 1, QEMU 4.2 to 8.x) that estimates the cycles of executed code between two
 * addresses, from the timings in core_timings.def. Arguments: core=NAME (an -mcpu), listing=FILE (cycles_listing.h),
 * begin=ADDRESS, end=ADDRESS, out=FILE and, optional, pause=ADDRESS, resume=ADDRESS, between which nothing is counted, and
 * profile=FILE.
 *
 * FILE gets a line of JSON per interval: the instructions from the one at `begin` up to, not including, the one at `end`,
 * their cycles (optimistic, nominal, pessimistic), and both of each operator, by its index; what runs before the first
 * operator or belongs to none has index -1. `profile` gets the instructions of the last interval with counts and cycles.
 *
 * Every block of code is replayed through the model when it is entered, so that what an instruction waits for may lie
 * before a jump. Not seen: caches, contention for a bus, interrupts, conditional instructions that do nothing (they take
 * one cycle as if they did something), and data that multiplications end early for. Wait states are those of the board's
 * memories, of each word that is read or written, and of each word of code that is fetched. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cycles_listing.h"
#include "plugin_interface.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

struct block {
  uint32_t address, count;
  struct instruction* instructions[];
};

struct operator_sums {
  uint64_t instructions;
  half_cycles cycles[VARIANTS];
};

static struct core_timing timing;
static struct listing listing;
static struct cycle_state state;
static uint32_t begin_address, end_address;
static uint32_t pause_address = UINT32_MAX, resume_address = UINT32_MAX; /* nothing is there */
static FILE* out;
static const char* profile_path;

static bool inside, paused;
static uint64_t executed;
static uint32_t fetched_word;           /* the last one */
static struct operator_sums* operators; /* [0]: of no operator */
static int32_t operator_count;
static int32_t current_operator;
static const struct instruction* first_unknown;

static double in_cycles(half_cycles half) {
  return (double)half / 2;
}

static void begin(void) {
  cycles_start(&state, &timing);
  inside = true;
  paused = false;
  executed = 0;
  fetched_word = UINT32_MAX;
  current_operator = -1;
  first_unknown = NULL;
  memset(operators, 0, (size_t)(operator_count + 1) * sizeof *operators);
  for (uint32_t i = 0; i < listing.count; ++i) {
    listing.instructions[i].count = 0;
    listing.instructions[i].last_taken = false;
    memset(listing.instructions[i].spent, 0, sizeof listing.instructions[i].spent);
  }
}

static void write_profile(void) {
  FILE* file = fopen(profile_path, "w");
  if (file == NULL) {
    perror(profile_path);
    return;
  }
  for (uint32_t i = 0; i < listing.count; ++i) {
    const struct instruction* at = &listing.instructions[i];
    if (at->count != 0)
      fprintf(file, "%x %" PRIu64 " %.1f\n", at->address, at->count, in_cycles(at->spent[NOMINAL]));
  }
  fclose(file);
}

static void end(void) {
  inside = false;
  fprintf(out, "{\"instructions\": %" PRIu64 ", \"cycles\": [%.1f, %.1f, %.1f], \"operators\": [",
          executed, in_cycles(state.total[OPTIMISTIC]), in_cycles(state.total[NOMINAL]),
          in_cycles(state.total[PESSIMISTIC]));
  for (int32_t i = 0, written = 0; i <= operator_count; ++i) {
    const struct operator_sums* sums = &operators[i];
    if (sums->instructions == 0) continue;
    fprintf(out, "%s[%" PRId32 ", %" PRIu64 ", %.1f, %.1f, %.1f]", written++ == 0 ? "" : ", ",
            i - 1, sums->instructions, in_cycles(sums->cycles[OPTIMISTIC]),
            in_cycles(sums->cycles[NOMINAL]), in_cycles(sums->cycles[PESSIMISTIC]));
  }
  fprintf(out, "]");
  if (first_unknown != NULL) fprintf(out, ", \"unknown\": %" PRIu32, first_unknown->address);
  fprintf(out, "}\n");
  fflush(out);
  if (profile_path != NULL) write_profile();
}

static void fetch(struct instruction* instruction) {
  const uint32_t last = (instruction->address + instruction->size - 1u) / 4;
  const unsigned int waits = wait_states_at(&listing, instruction->address);
  for (uint32_t word = instruction->address / 4; word <= last; ++word) {
    if (word == fetched_word) continue;
    fetched_word = word;
    for (int v = 0; waits > 0 && v < VARIANTS; ++v)
      cycles_add(&state, instruction, (enum variant)v, HALF_CYCLES(waits));
  }
}

static void execute(struct instruction* instruction) {
  half_cycles before[VARIANTS];
  struct operator_sums* sums;
  memcpy(before, state.total, sizeof before);
  ++executed;
  if (!timing.classes[instruction->class_id].known && first_unknown == NULL)
    first_unknown = instruction;
  fetch(instruction);
  cycles_execute(&state, instruction);
  if (instruction->operator_index >= 0) current_operator = instruction->operator_index;
  sums = &operators[current_operator + 1];
  ++sums->instructions;
  for (int v = 0; v < VARIANTS; ++v) sums->cycles[v] += state.total[v] - before[v];
}

/* Beside the instructions themselves: what a branch or an access adds belongs to the current operator. */
static void add_to_operator(const half_cycles* before) {
  for (int v = 0; v < VARIANTS; ++v)
    operators[current_operator + 1].cycles[v] += state.total[v] - before[v];
}

static bool may_branch(const struct instruction* instruction) {
  return (instruction->class_id >= CLASS_Branch && instruction->class_id <= CLASS_LoopEnd &&
          instruction->class_id != CLASS_IfThen) ||
         (instruction->written & PROGRAM_COUNTER) != 0;
}

static void on_block(unsigned int cpu, void* data) {
  const struct block* block = data;
  (void)cpu;
  if (block->address == begin_address) begin();
  if (!inside) return;
  if (block->address == resume_address && paused) {
    paused = false;
    state.previous = NULL;
  }
  if (paused) return;
  if (state.previous != NULL && may_branch(state.previous)) {
    half_cycles before[VARIANTS];
    memcpy(before, state.total, sizeof before);
    cycles_continue_at(&state, block->address, block->count > 0 ? block->instructions[0] : NULL);
    add_to_operator(before);
    if (block->address != state.previous->address + state.previous->size) fetched_word = UINT32_MAX;
  }
  if (block->address == end_address) {
    end();
    return;
  }
  if (block->address == pause_address) {
    paused = true;
    return;
  }
  for (uint32_t i = 0; i < block->count; ++i) execute(block->instructions[i]);
}

static const struct instruction* last_vector;
static uint64_t next_of_vector;

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  struct instruction* instruction = data;
  const unsigned int bytes = 1u << qemu_plugin_mem_size_shift(info);
  const bool vector =
      instruction->class_id >= CLASS_VectorLoad && instruction->class_id <= CLASS_VectorScatter;
  const bool begins = !vector || last_vector != instruction || address != next_of_vector;
  const unsigned int waits = wait_states_at(&listing, address);
  half_cycles before[VARIANTS];
  (void)cpu;
  if (!inside || paused) return;
  memcpy(before, state.total, sizeof before);
  /* The emulator reads a vector in pieces: a word of them waits once. */
  if (waits > 0 && (begins || address % 4 == 0))
    for (int v = 0; v < VARIANTS; ++v)
      cycles_add(&state, instruction, (enum variant)v, HALF_CYCLES(waits));
  if (vector) {
    const bool spread =
        instruction->class_id == CLASS_VectorGather || instruction->class_id == CLASS_VectorScatter;
    if (begins && !spread && address % 4 != 0)
      cycles_add_rule(&state, instruction, RULE_MisalignedVector);
    last_vector = instruction;
    next_of_vector = address + bytes;
  } else if (bytes > 1 && address % bytes != 0) {
    cycles_add_rule(&state, instruction,
                    bytes >= 4 && address % 2 != 0 ? RULE_MisalignedOdd : RULE_MisalignedEven);
  }
  add_to_operator(before);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  const size_t count = qemu_plugin_tb_n_insns(tb);
  struct block* block = calloc(1, sizeof *block + count * sizeof *block->instructions);
  (void)id;
  if (block == NULL) abort();
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* translated = qemu_plugin_tb_get_insn(tb, i);
    const uint32_t address = (uint32_t)qemu_plugin_insn_vaddr(translated);
    struct instruction* instruction = instruction_at(&listing, address);
    if (i == 0) block->address = address;
    if (instruction == NULL) continue; /* code that was copied elsewhere: not of the model */
    block->instructions[block->count++] = instruction;
    qemu_plugin_register_vcpu_mem_cb(translated, on_access, QEMU_PLUGIN_NO_REGISTERS,
                                     QEMU_PLUGIN_READS_OR_WRITES, instruction);
  }
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_NO_REGISTERS, block);
}

static uint32_t address_of(const char* text) {
  return (uint32_t)strtoull(text, NULL, 0) & ~1u;
} /* bit 0 says Thumb */

static bool take_argument(const char* argument) {
  if (strncmp(argument, "begin=", 6) == 0)
    begin_address = address_of(argument + 6);
  else if (strncmp(argument, "end=", 4) == 0)
    end_address = address_of(argument + 4);
  else if (strncmp(argument, "pause=", 6) == 0)
    pause_address = address_of(argument + 6);
  else if (strncmp(argument, "resume=", 7) == 0)
    resume_address = address_of(argument + 7);
  else if (strncmp(argument, "profile=", 8) == 0)
    profile_path = strdup(argument + 8);
  else if (strncmp(argument, "core=", 5) == 0)
    return core_timing_of(argument + 5, &timing);
  else if (strncmp(argument, "listing=", 8) == 0)
    return read_listing(argument + 8, &listing);
  else if (strncmp(argument, "out=", 4) == 0)
    out = fopen(argument + 4, "w");
  else
    return false;
  return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (!take_argument(argv[i])) {
      fprintf(stderr, "cycles plugin: cannot use argument '%s'\n", argv[i]);
      return -1;
    }
  }
  if (begin_address == 0 || end_address == 0 || out == NULL || listing.count == 0 ||
      !timing.classes[CLASS_Alu].known) {
    fprintf(stderr,
            "cycles plugin: needs core=NAME,listing=FILE,begin=ADDRESS,end=ADDRESS,out=FILE\n");
    return -1;
  }
  for (uint32_t i = 0; i < listing.count; ++i)
    if (listing.instructions[i].operator_index >= operator_count)
      operator_count = listing.instructions[i].operator_index + 1;
  operators = calloc((size_t)operator_count + 1, sizeof *operators);
  if (operators == NULL) abort();
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
