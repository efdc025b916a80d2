/* The table of core_timings.def. */
#include <string.h>

#include "cycles_model.h"

enum core {
  CORE_Any,
  CORE_M0,
  CORE_M0Plus,
  CORE_M3,
  CORE_M4,
  CORE_M33,
  CORE_M7,
  CORE_M55,
  CORE_Rv32
};

struct named_core {
  const char* name;
  enum core core;
  bool scoreboard;
};

enum { Sequential = 0, Scoreboard = 1, Overlaps = 0, Blocks = 1 };

#define THREE(optimistic, nominal, pessimistic) optimistic, nominal, pessimistic
#define SEQUENTIAL(...)
#define SCOREBOARD(...)
#define RULE(...)
#define CORE(name, core, pipeline, architecture) {name, CORE_##core, pipeline},
static const struct named_core named_cores[] = {
#include "core_timings.def"
};
#undef CORE
#undef SEQUENTIAL
#undef SCOREBOARD
#undef RULE

struct class_entry {
  enum core core;
  bool scoreboard;
  enum instruction_class class_id;
  enum pipe pipe;
  bool blocks;
  double held[VARIANTS], per_word[VARIANTS], latency[VARIANTS];
};

/* Arguments are expanded once before they are counted, since THREE stands for three. */
#define CORE(...)
#define RULE(...)
#define SEQUENTIAL(core, name, cycles, words, source) \
  {CORE_##core, false, CLASS_##name, IntegerPipe, true, {cycles}, {words}, {0, 0, 0}},
#define SCOREBOARD(core, name, pipe, flow, held, words, latency, source) \
  {CORE_##core, true, CLASS_##name, pipe, flow, {held}, {words}, {latency}},
static const struct class_entry class_entries[] = {
#include "core_timings.def"
};
#undef SEQUENTIAL
#undef SCOREBOARD
#undef RULE

struct rule_entry {
  enum core core;
  enum timing_rule rule;
  double cycles[VARIANTS];
};

#define SEQUENTIAL(...)
#define SCOREBOARD(...)
#define RULE(core, rule, cycles, source) {CORE_##core, RULE_##rule, {cycles}},
static const struct rule_entry rule_entries[] = {
#include "core_timings.def"
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void set(half_cycles* to, const double* from) {
  for (int v = 0; v < VARIANTS; ++v) to[v] = HALF_CYCLES(from[v]);
}

bool core_timing_of(const char* name, struct core_timing* timing) {
  const struct named_core* core = NULL;
  for (size_t i = 0; i < COUNT_OF(named_cores); ++i)
    if (strcmp(named_cores[i].name, name) == 0) core = &named_cores[i];
  if (core == NULL) return false;
  memset(timing, 0, sizeof *timing);
  timing->scoreboard = core->scoreboard;
  timing->pairs_narrow = core->core == CORE_M33 || core->core == CORE_M55;
  timing->pairs_by_pipes = core->core == CORE_M7;
  timing->remembers_loop = core->core == CORE_Rv32;
  /* What is said of all cores stands before what is said of one. */
  for (size_t i = 0; i < COUNT_OF(class_entries); ++i) {
    const struct class_entry* entry = &class_entries[i];
    struct class_timing* to = &timing->classes[entry->class_id];
    if (entry->scoreboard != core->scoreboard) continue;
    if (entry->core != CORE_Any && entry->core != core->core) continue;
    to->known = true;
    to->pipe = entry->pipe;
    to->blocks = entry->blocks;
    set(to->held, entry->held);
    set(to->per_word, entry->per_word);
    set(to->latency, entry->latency);
  }
  for (size_t i = 0; i < COUNT_OF(rule_entries); ++i)
    if (rule_entries[i].core == core->core)
      set(timing->rules[rule_entries[i].rule], rule_entries[i].cycles);
  return true;
}
