#include "npu.h"

#include <stddef.h>

static struct intarsia_ethos_u npu;

/* Armv8-M Architecture Reference Manual: enable, set pending, and priority of an interrupt. */
#define NVIC_ISER(n) ((volatile uint32_t*)0xE000E100u)[(n) / 32]
#define NVIC_ISPR(n) ((volatile uint32_t*)0xE000E200u)[(n) / 32]
#define NVIC_IPR(n) ((volatile uint8_t*)0xE000E400u)[n]
enum { NPU_PRIORITY = 0x80 };

void npu_enable_interrupt(void) {
  NVIC_IPR(NPU_INTERRUPT) = NPU_PRIORITY;
  NVIC_ISER(NPU_INTERRUPT) = 1u << NPU_INTERRUPT % 32;
}

#ifdef NPU_BESIDE_EMULATOR
#include "intarsia/contract/remote_device.h"

enum { STATUS = 4, IRQ_RAISED = 1 << 1 }; /* Ethos-U55's register and its bit */

static struct intarsia_register_bus mailbox;

__attribute__((weak)) void npu_bus_begin(void) {}
__attribute__((weak)) void npu_bus_end(void) {}

static uint32_t read_register(void* context, uint32_t offset) {
  npu_bus_begin();
  const uint32_t value = mailbox.read(context, offset);
  npu_bus_end();
  return value;
}

static void write_register(void* context, uint32_t offset, uint32_t value) {
  npu_bus_begin();
  mailbox.write(context, offset, value);
  npu_bus_end();
}

struct intarsia_ethos_u* npu_open(void) {
  static struct intarsia_register_bus bus;
  mailbox = intarsia_remote_bus(0);
  if (mailbox.read == NULL) return NULL;
  bus = (struct intarsia_register_bus){read_register, write_register, mailbox.context};
  return intarsia_ethos_u_open_bus_shared(&npu, &bus) == INTARSIA_OK ? &npu : NULL;
}

int npu_interrupt_line(void) {
  /* From an interrupt, which none but the application's sections can be in the middle of. */
  return (mailbox.read(mailbox.context, STATUS) & IRQ_RAISED) != 0;
}

void npu_raise_interrupt(void) {
  NVIC_ISPR(NPU_INTERRUPT) = 1u << NPU_INTERRUPT % 32;
}

/* What boards/common/remote_device.c calls for tools that count instructions. */
void intarsia_mark_pause(void);
void intarsia_mark_resume(void);
void intarsia_mark_pause(void) {}
void intarsia_mark_resume(void) {}
#else
struct intarsia_ethos_u* npu_open(void) {
  return intarsia_ethos_u_open_shared(&npu, (void*)0x48102000) == INTARSIA_OK ? &npu : NULL;
}
#endif
