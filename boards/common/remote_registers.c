/* Registers in the address space of an emulated core that another program holds: the memory protection unit makes each access
 * a fault, whose handler has the other program carry it out and goes on behind the instruction. A driver is then the one for
 * silicon, to the last instruction. For emulators alone: the handler takes all of memory for normal memory. */
#include <stddef.h>

#include "fault.h"
#include "intarsia/contract/board_devices.h"
#include "intarsia/contract/remote_device.h"
#include "intarsia_board/marks.h"
#include "registers.h"
#include "remote_transact.h"

extern volatile struct intarsia_remote_device __intarsia_device_window[];

/* Of boards without a device. */
__attribute__((weak)) void* intarsia_board_registers(const char* name, int32_t unit) {
  (void)name;
  (void)unit;
  return NULL;
}

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)

enum { kVectors = 16, kHardFault = 3, kMemManage = 4, kBusFault = 5 };
enum { kPageBytes = 0x1000, kUnitBytes = 32 };
enum { kFrameLink = 5, kFramePc = 6, kFrameState = 7 };

static uint32_t page;
static volatile struct intarsia_remote_device* remote;
static uint32_t vectors[kVectors] __attribute__((aligned(128)));

/* A load or store of a word. */
struct word_access {
  uint32_t address;
  uint32_t value_register;
  uint32_t bytes; /* of the instruction */
  int is_load;
  int writes_back; /* the address, moved, into the base register */
  uint32_t base_register;
  uint32_t moved;
};

/* Where the handler's entry has left a register: those of a call in the processor's frame, the others where it pushed them. */
static uint32_t* register_at(uint32_t* frame, uint32_t* pushed, uint32_t number) {
  if (number < 4u) return frame + number;
  if (number < 12u) return pushed + (number - 4u);
  if (number == 12u) return frame + 4;
  return number == 14u ? frame + kFrameLink : NULL;
}

static uint32_t value_of(uint32_t* frame, uint32_t* pushed, uint32_t number) {
  const uint32_t* place = register_at(frame, pushed, number);
  return place == NULL ? 0u : *place;
}

/* Encodings T1 of LDR and STR, by immediate and by register. */
static int decode_short(uint32_t code, uint32_t* frame, uint32_t* pushed, struct word_access* to) {
  const uint32_t base = value_of(frame, pushed, code >> 3 & 7u);
  to->bytes = 2u;
  to->value_register = code & 7u;
  if ((code & 0xF000u) == 0x6000u) {
    to->is_load = (code >> 11 & 1u) != 0u;
    to->address = base + (code >> 6 & 31u) * 4u;
    return 1;
  }
  if ((code & 0xFE00u) == 0x5000u) {
    to->is_load = 0;
  } else if ((code & 0xFE00u) == 0x5800u) {
    to->is_load = 1;
  } else {
    return 0;
  }
  to->address = base + value_of(frame, pushed, code >> 6 & 7u);
  return 1;
}

/* The 32-bit encodings: T3 and T4 by immediate, T2 by register. */
static int decode_long(uint32_t first, uint32_t second, uint32_t* frame, uint32_t* pushed,
                       struct word_access* to) {
  const uint32_t base = value_of(frame, pushed, first & 15u);
  to->bytes = 4u;
  to->value_register = second >> 12;
  to->base_register = first & 15u;
  to->is_load = (first >> 4 & 1u) != 0u;
  if ((first & 0xFFE0u) == 0xF8C0u) {
    to->address = base + (second & 0xFFFu);
    return 1;
  }
  if ((first & 0xFFE0u) != 0xF840u) return 0;
  if ((second & 0x0FC0u) == 0u) {
    to->address = base + (value_of(frame, pushed, second & 15u) << (second >> 4 & 3u));
    return 1;
  }
  if ((second & 0x0800u) == 0u) return 0;
  to->moved = (second & 0x200u) != 0u ? base + (second & 0xFFu) : base - (second & 0xFFu);
  to->address = (second & 0x400u) != 0u ? to->moved : base;
  to->writes_back = (second & 0x100u) != 0u;
  return 1;
}

/* Behind the instruction: a block of conditional ones goes on with the next. */
static void step_over(uint32_t* frame, uint32_t bytes) {
  const uint32_t state = frame[kFrameState];
  uint32_t block = (state >> 8 & 0xFCu) | (state >> 25 & 3u);
  block = (block & 7u) == 0u ? 0u : (block & 0xE0u) | (block << 1 & 0x1Fu);
  frame[kFrameState] = (state & ~0x0600FC00u) | (block & 0xFCu) << 8 | (block & 3u) << 25;
  frame[kFramePc] += bytes;
}

/* Named by the assembly below alone. 0: it was no access to the registers. */
__attribute__((used)) int intarsia_access_remotely(uint32_t* frame, uint32_t* pushed);

int intarsia_access_remotely(uint32_t* frame, uint32_t* pushed) {
  const uint16_t* code = (const uint16_t*)(uintptr_t)frame[kFramePc];
  struct word_access access = {0u, 0u, 0u, 0, 0, 0u, 0u};
  uint32_t value;
  if ((INTARSIA_CFSR & INTARSIA_CFSR_DACCVIOL) == 0u) return 0;
  if (code[0] < 0xE800u ? !decode_short(code[0], frame, pushed, &access)
                        : !decode_long(code[0], code[1], frame, pushed, &access)) {
    return 0;
  }
  if (access.address - page >= (uint32_t)kPageBytes || access.address % 4u != 0u ||
      register_at(frame, pushed, access.value_register) == NULL) {
    return 0;
  }
  intarsia_mark_pause();
  value = value_of(frame, pushed, access.value_register);
  value = intarsia_remote_transact(remote,
                                   access.is_load ? INTARSIA_REMOTE_READ : INTARSIA_REMOTE_WRITE,
                                   access.address - page, value);
  if (access.is_load) *register_at(frame, pushed, access.value_register) = value;
  if (access.writes_back) *register_at(frame, pushed, access.base_register) = access.moved;
  step_over(frame, access.bytes);
  INTARSIA_CFSR = INTARSIA_CFSR; /* ones clear */
  INTARSIA_HFSR = INTARSIA_HFSR;
  intarsia_mark_resume();
  return 1;
}

__attribute__((naked)) static void access_or_fault(void) {
  __asm__ volatile(
      ".syntax unified\n"
      "tst lr, #4\n"
      "ite eq\n"
      "mrseq r0, msp\n"
      "mrsne r0, psp\n"
      "push {r4-r11}\n"
      "mov r1, sp\n"
      "push {r0, lr}\n"
      "bl intarsia_access_remotely\n"
      "pop {r1, lr}\n"
      "cbz r0, 1f\n"
      "pop {r4-r11}\n"
      "bx lr\n"
      "1: add sp, #32\n"
      "b intarsia_fault\n");
}

/* Privileged code may do all but what no region allows. */
static void allow(uint32_t region, uint32_t first, uint32_t last) {
  INTARSIA_MPU_RNR = region;
  INTARSIA_MPU_RBAR = first | INTARSIA_MPU_RBAR_WRITABLE;
  INTARSIA_MPU_RLAR = (last & ~(uint32_t)(kUnitBytes - 1)) | INTARSIA_MPU_RLAR_ENABLE;
}

int32_t intarsia_remote_registers(int32_t index, void* registers) {
  const uint32_t* old = (const uint32_t*)(uintptr_t)INTARSIA_VTOR;
  int i;
  if (__intarsia_device_window[index].ready != INTARSIA_REMOTE_READY) return -1;
  if (remote != NULL || (INTARSIA_MPU_TYPE >> 8 & 0xFFu) < 2u) return -1;
  remote = &__intarsia_device_window[index];
  page = (uint32_t)(uintptr_t)registers;
  for (i = 0; i < kVectors; ++i) vectors[i] = old[i];
  for (i = kHardFault; i <= kBusFault; ++i) vectors[i] = (uint32_t)(uintptr_t)access_or_fault;
  INTARSIA_VTOR = (uint32_t)(uintptr_t)vectors;
  INTARSIA_SHCSR |= INTARSIA_SHCSR_MEMFAULTENA;
  INTARSIA_MPU_MAIR0 = INTARSIA_MPU_NORMAL_MEMORY;
  allow(0u, 0u, page - 1u);
  allow(1u, page + (uint32_t)kPageBytes, 0xFFFFFFFFu);
  INTARSIA_MPU_CTRL = INTARSIA_MPU_CTRL_ENABLE;
  __asm__ volatile("dsb\n isb" ::: "memory");
  return 0;
}

#else

int32_t intarsia_remote_registers(int32_t index, void* registers) {
  (void)index;
  (void)registers;
  return -1; /* the memory protection units of these cores are others */
}

#endif
