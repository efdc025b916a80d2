/* A QEMU TCG plugin (plugin API version 1, QEMU 4.2 to 8.x) that counts executed guest instructions
 * between two addresses. Arguments: begin=ADDRESS, end=ADDRESS, out=FILE and, optional, pause=ADDRESS,
 * resume=ADDRESS. FILE gets one decimal number per interval: the instructions from the one at `begin` up
 * to, not including, the one at `end`, without those from `pause` up to `resume`. Exact: every instruction adds one when it executes, whatever translation does. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin_interface.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

static uint64_t begin_address;
static uint64_t end_address;
static uint64_t pause_address = UINT64_MAX; /* nothing is there */
static uint64_t resume_address = UINT64_MAX;
static FILE* out;

static uint64_t executed;
static uint64_t executed_at_begin;
static uint64_t executed_at_pause;
static uint64_t not_counted; /* since begin */
static bool inside;

static void at_begin(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  inside = true;
  executed_at_begin = executed;
  not_counted = 0;
}

static void at_pause(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  executed_at_pause = executed;
}

static void at_resume(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  not_counted += executed - executed_at_pause;
}

static void at_end(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  if (!inside) return;
  inside = false;
  /* Both marks are seen at the same point of their own instruction, so the difference is the
   * same whether QEMU adds before or after the callback. */
  fprintf(out, "%" PRIu64 "\n", executed - executed_at_begin - not_counted);
  fflush(out);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  const size_t count = qemu_plugin_tb_n_insns(tb);
  (void)id;
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const uint64_t address = qemu_plugin_insn_vaddr(insn);
    if (address == begin_address) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, at_begin, QEMU_PLUGIN_NO_REGISTERS, NULL);
    }
    if (address == end_address) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, at_end, QEMU_PLUGIN_NO_REGISTERS, NULL);
    }
    if (address == pause_address) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, at_pause, QEMU_PLUGIN_NO_REGISTERS, NULL);
    }
    if (address == resume_address) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, at_resume, QEMU_PLUGIN_NO_REGISTERS, NULL);
    }
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD, &executed, 1);
  }
}

static bool take_argument(const char* argument) {
  if (strncmp(argument, "begin=", 6) == 0) {
    /* Bit 0 of a symbol's value says Thumb; it is not part of the address. */
    begin_address = strtoull(argument + 6, NULL, 0) & ~UINT64_C(1);
    return true;
  }
  if (strncmp(argument, "end=", 4) == 0) {
    end_address = strtoull(argument + 4, NULL, 0) & ~UINT64_C(1);
    return true;
  }
  if (strncmp(argument, "pause=", 6) == 0) {
    pause_address = strtoull(argument + 6, NULL, 0) & ~UINT64_C(1);
    return true;
  }
  if (strncmp(argument, "resume=", 7) == 0) {
    resume_address = strtoull(argument + 7, NULL, 0) & ~UINT64_C(1);
    return true;
  }
  if (strncmp(argument, "out=", 4) == 0 && out == NULL) {
    out = fopen(argument + 4, "w");
    if (out == NULL) perror(argument + 4);
    return out != NULL;
  }
  return false;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (!take_argument(argv[i])) {
      fprintf(stderr, "count plugin: cannot use argument '%s'\n", argv[i]);
      return -1;
    }
  }
  if (begin_address == 0 || end_address == 0 || out == NULL) {
    fprintf(stderr, "count plugin: needs begin=ADDRESS,end=ADDRESS,out=FILE\n");
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
