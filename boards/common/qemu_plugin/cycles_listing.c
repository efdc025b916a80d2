#include "cycles_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const class_names[CLASS_COUNT] = {
#define CLASS(name) #name,
#include "instruction_classes.def"
#undef CLASS
};

static bool read_class(const char* name, uint8_t* class_id) {
  for (int i = 0; i < CLASS_COUNT; ++i) {
    if (strcmp(class_names[i], name) == 0) {
      *class_id = (uint8_t)i;
      return true;
    }
  }
  return false;
}

static bool read_instruction(const char* line, struct instruction* instruction) {
  unsigned int address, size, words, elements;
  int operator_index;
  char name[32], flags[16];
  memset(instruction, 0, sizeof *instruction);
  if (sscanf(line, "code %x %u %31s %u %u %15s %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %d",
             &address, &size, name, &words, &elements, flags, &instruction->written,
             &instruction->read, &instruction->of_address, &instruction->accumulated,
             &operator_index) != 11)
    return false;
  instruction->address = address;
  instruction->size = (uint8_t)size;
  instruction->words = (uint8_t)words;
  instruction->elements = (uint8_t)elements;
  instruction->operator_index = operator_index;
  instruction->writes_back = strchr(flags, 'w') != NULL;
  instruction->literal = strchr(flags, 'l') != NULL;
  instruction->register_offset = strchr(flags, 'r') != NULL;
  instruction->shifts_operand = strchr(flags, 's') != NULL;
  instruction->part_of_word = strchr(flags, 'p') != NULL;
  instruction->misaligned_wide = size == 4 && address % 4 != 0;
  return read_class(name, &instruction->class_id);
}

static bool read_memory(const char* line, struct timed_memory* memory) {
  unsigned int base, cycles;
  uint64_t size;
  if (sscanf(line, "memory %x %" SCNx64 " %u", &base, &size, &cycles) != 3) return false;
  memory->base = base;
  memory->size = size;
  memory->cycles = cycles;
  return true;
}

static int by_address(const void* a, const void* b) {
  const uint32_t first = ((const struct instruction*)a)->address,
                 second = ((const struct instruction*)b)->address;
  return first < second ? -1 : first > second;
}

bool read_listing(const char* path, struct listing* listing) {
  FILE* file = fopen(path, "r");
  uint32_t room = 0;
  char line[256];
  bool good = file != NULL;
  memset(listing, 0, sizeof *listing);
  while (good && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "memory ", 7) == 0) {
      good = listing->memory_count < sizeof listing->memories / sizeof *listing->memories &&
             read_memory(line, &listing->memories[listing->memory_count++]);
      continue;
    }
    if (listing->count == room) {
      room = room == 0 ? 4096 : 2 * room;
      listing->instructions = realloc(listing->instructions, room * sizeof *listing->instructions);
      if (listing->instructions == NULL) abort();
    }
    good = read_instruction(line, &listing->instructions[listing->count++]);
  }
  if (!good) fprintf(stderr, "cycles plugin: cannot read %s\n", path);
  if (file != NULL) fclose(file);
  if (good && listing->count > 0)
    qsort(listing->instructions, listing->count, sizeof *listing->instructions, by_address);
  return good && listing->count > 0;
}

struct instruction* instruction_at(const struct listing* listing, uint32_t address) {
  struct instruction key = {.address = address};
  return bsearch(&key, listing->instructions, listing->count, sizeof key, by_address);
}

unsigned int wait_states_at(const struct listing* listing, uint64_t address) {
  for (uint32_t i = 0; i < listing->memory_count; ++i) {
    const struct timed_memory* memory = &listing->memories[i];
    if (address >= memory->base && address - memory->base < memory->size) return memory->cycles - 1;
  }
  return 0;
}
