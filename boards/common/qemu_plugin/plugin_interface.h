/* The part of QEMU's documented plugin interface, version 1, that the plugins here use; distributions do not package a
 * header for it. */
#ifndef INTARSIA_QEMU_PLUGIN_INTERFACE_H
#define INTARSIA_QEMU_PLUGIN_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_callback_flags { QEMU_PLUGIN_NO_REGISTERS = 0 };
enum qemu_plugin_inline_operation { QEMU_PLUGIN_INLINE_ADD = 0 };
enum qemu_plugin_memory_access {
  QEMU_PLUGIN_READS = 1,
  QEMU_PLUGIN_WRITES = 2,
  QEMU_PLUGIN_READS_OR_WRITES = 3
};

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb,
                                          void (*callback)(unsigned int, void*),
                                          enum qemu_plugin_callback_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn,
                                            void (*callback)(unsigned int, void*),
                                            enum qemu_plugin_callback_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* insn,
                                                enum qemu_plugin_inline_operation operation,
                                                void* counter, uint64_t amount);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* insn,
                                      void (*callback)(unsigned int, qemu_plugin_meminfo_t,
                                                       uint64_t, void*),
                                      enum qemu_plugin_callback_flags flags,
                                      enum qemu_plugin_memory_access access, void* data);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc,
                                           char** argv);

#endif
