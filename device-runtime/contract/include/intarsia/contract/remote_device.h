/* A device whose registers another program holds: a simulated NPU beside firmware in an emulator. Both
 * see one memory, with one mailbox per device at its window: the firmware writes a request and waits for
 * the answer, as a processor waits for a device on its bus. */
#ifndef INTARSIA_CONTRACT_REMOTE_DEVICE_H
#define INTARSIA_CONTRACT_REMOTE_DEVICE_H

#include <stdint.h>

#include "intarsia/contract/register_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INTARSIA_REMOTE_READY 0x52545641u
enum { INTARSIA_REMOTE_READ = 0, INTARSIA_REMOTE_WRITE = 1 };

struct intarsia_remote_device {
  uint32_t ready;     /* INTARSIA_REMOTE_READY as long as somebody answers */
  uint32_t request;   /* counted up by the firmware, last */
  uint32_t answer;    /* follows `request`, by the other program */
  uint32_t operation; /* INTARSIA_REMOTE_READ or _WRITE */
  uint32_t offset;
  uint32_t value;
  uint32_t reserved[10]; /* a cache line for each device */
};

/* In firmware: the registers of the model's device `index`. All members are null when nobody answers.
 * The board's linker script says where the window is. */
struct intarsia_register_bus intarsia_remote_bus(int32_t index);

/* In firmware for an emulated Armv8-M core: accesses to the words of the 4 kB at `registers` become accesses to those of the
 * model's device `index`, so that a driver works there as on silicon. 0; -1 when nobody answers, the core cannot do it, or it was
 * done for another device. Written by the boards (boards/common/remote_registers.c). */
int32_t intarsia_remote_registers(int32_t index, void *registers);

/* In the other program: maps argv[1], a file that is the memory of argv[3] bytes at address argv[2],
 * starts the emulator (the arguments behind "--") and serves `devices` at the window argv[4] until the
 * emulator ends. Addresses of the memory are the same in this process, so that a simulated device
 * follows the firmware's pointers. Returns the emulator's exit status. */
int intarsia_serve_devices(int argc, char **argv, const struct intarsia_register_bus *devices,
                           int count);

#ifdef __cplusplus
}
#endif

#endif
