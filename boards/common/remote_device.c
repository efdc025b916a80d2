/* The firmware's side of intarsia/contract/remote_device.h. */
#include "intarsia/contract/remote_device.h"

#include <stddef.h>

#include "intarsia_board/marks.h"
#include "remote_transact.h"

extern volatile struct intarsia_remote_device __intarsia_device_window[];

static uint32_t transact(void* context, uint32_t operation, uint32_t offset, uint32_t value) {
  uint32_t answer;
  intarsia_mark_pause();
  answer = intarsia_remote_transact(context, operation, offset, value);
  intarsia_mark_resume();
  return answer;
}

static uint32_t read_register(void* context, uint32_t offset) {
  return transact(context, INTARSIA_REMOTE_READ, offset, 0u);
}

static void write_register(void* context, uint32_t offset, uint32_t value) {
  (void)transact(context, INTARSIA_REMOTE_WRITE, offset, value);
}

struct intarsia_register_bus intarsia_remote_bus(int32_t index) {
  struct intarsia_register_bus bus = {NULL, NULL, NULL};
  if (__intarsia_device_window[index].ready != INTARSIA_REMOTE_READY) return bus;
  bus.read = read_register;
  bus.write = write_register;
  bus.context = (void*)(uintptr_t)&__intarsia_device_window[index];
  return bus;
}
