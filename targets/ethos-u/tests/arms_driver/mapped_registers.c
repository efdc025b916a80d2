/* Takes the stand-in's place in a program for the development machine, with the sources of Arm's core driver beside it:
 * opens simulated NPUs for that driver, which reads and writes registers in memory.
 *
 * The registers are a page without access. An access faults; the handler puts the register's value there, opens the page
 * and has the processor execute the one instruction, behind which the next handler hands what was written to the simulated
 * device and closes the page. The same page lies elsewhere a second time, for the handlers.
 *
 * The driver for an Ethos-U55 takes addresses of 32 bits: it is told numbers (ethosu_address_remap), for which the
 * handlers put the addresses. */
/* _GNU_SOURCE and the macros of the product stand before this text. */
#include <ethosu_driver.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "cmsis_compiler.h"
#include "intarsia/targets/ethos_u/core_driver/core_driver.h"

enum {
  PAGE = 4096,
  MOST_NPUS = 4,
  REGIONS = 8,
  QBASE_LO = 0x10,
  QBASE_HI = 0x14,
  STATUS = 0x04,
  BASEP0_LO = 0x80,
  IRQ_RAISED = 2,
  WRITE_FAULT = 2,     /* of a page fault's error code */
  SINGLE_STEP = 0x100, /* of the processor's flags */
  NUMBER = 0x01000000  /* what stands for address i: (i + 2) times this */
};

struct npu {
  struct ethosu_driver driver;
  struct intarsia_register_bus bus;
  volatile uint8_t* registers; /* where the driver has them */
  uint8_t* alias;              /* the same page, always open */
  struct intarsia_ethos_u_core_driver* device;
};

static struct npu npus[MOST_NPUS];
static int npu_count;
static uint64_t addresses[REGIONS + 1]; /* the stream's, then the bases */
static struct npu* accessed;
static uint32_t accessed_offset;
static int accessed_by_write;

static void give_up(const char* why) {
  (void)!write(STDERR_FILENO, why, __builtin_strlen(why));
  _exit(70);
}

uint64_t ethosu_address_remap(uint64_t address, int index) {
  if (index < -1 || index >= REGIONS) give_up("an address of no region\n");
  if (address == 0) return 0;
  addresses[index + 1] = address;
  return (uint64_t)(index + 3) * NUMBER;
}

static uint32_t* word_of(const struct npu* npu, uint32_t offset) {
  return (uint32_t*)(void*)(npu->alias + offset);
}

/* Address registers take what the number stands for; the others, what was written. */
static void hand_over(const struct npu* npu, uint32_t offset, uint32_t value) {
  const int is_base = offset >= BASEP0_LO && offset < BASEP0_LO + 8 * REGIONS;
  if (offset == QBASE_HI || (is_base && offset % 8 == 4)) return; /* came with the low half */
  if (offset == QBASE_LO || is_base) {
    const uint32_t index = value / NUMBER;
    uint64_t address = 0;
    if (value != 0) {
      if (index < 2 || index > REGIONS + 2 || value % NUMBER != 0)
        give_up("an address not of remap\n");
      address = addresses[index - 2];
    }
    npu->bus.write(npu->bus.context, offset, (uint32_t)address);
    npu->bus.write(npu->bus.context, offset + 4, (uint32_t)(address >> 32));
    return;
  }
  npu->bus.write(npu->bus.context, offset, value);
}

static void on_access(int signal_number, siginfo_t* info, void* context) {
  ucontext_t* machine = context;
  const uintptr_t address = (uintptr_t)info->si_addr;
  (void)signal_number;
  accessed = NULL;
  for (int i = 0; i < npu_count; ++i)
    if (address - (uintptr_t)npus[i].registers < PAGE) accessed = &npus[i];
  if (accessed == NULL) give_up("an access to memory that is not there\n");
  accessed_offset = (uint32_t)(address - (uintptr_t)accessed->registers) & ~3u;
  accessed_by_write = (machine->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT) != 0;
  if (!accessed_by_write)
    *word_of(accessed, accessed_offset) =
        accessed->bus.read(accessed->bus.context, accessed_offset);
  mprotect((void*)(uintptr_t)accessed->registers, PAGE, PROT_READ | PROT_WRITE);
  machine->uc_mcontext.gregs[REG_EFL] |= SINGLE_STEP;
}

static void on_step(int signal_number, siginfo_t* info, void* context) {
  ucontext_t* machine = context;
  (void)signal_number, (void)info;
  if (accessed == NULL) give_up("a step that nobody asked for\n");
  machine->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)SINGLE_STEP;
  mprotect((void*)(uintptr_t)accessed->registers, PAGE, PROT_NONE);
  if (accessed_by_write) hand_over(accessed, accessed_offset, *word_of(accessed, accessed_offset));
  accessed = NULL;
}

/* The interrupt of the NPU that has something to say. */
void intarsia_test_wait_for_event(void) {
  static int waits;
  for (int i = 0; i < npu_count; ++i)
    if ((npus[i].bus.read(npus[i].bus.context, STATUS) & IRQ_RAISED) != 0) {
      waits = 0;
      ethosu_irq_handler(&npus[i].driver);
      return;
    }
  if (++waits == 1000) give_up("the NPU raises no interrupt\n");
}

static int map_registers(struct npu* npu) {
  const int file = memfd_create("registers", 0);
  void *alias, *registers;
  if (file < 0 || ftruncate(file, PAGE) != 0) return -1;
  alias = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  registers = mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, file, 0);
  close(file);
  if (alias == MAP_FAILED || registers == MAP_FAILED) return -1;
  npu->alias = alias;
  npu->registers = registers;
  return 0;
}

/* "0x1000": of the block of fast memory that ethosu_init() is given; none without it. */
static size_t fast_bytes(void) {
  const char* text = getenv("INTARSIA_TEST_FAST_MEMORY");
  return text == NULL ? 0 : strtoul(text, NULL, 0);
}

static intarsia_status open_npu(struct intarsia_ethos_u_core_driver* device,
                                const struct intarsia_register_bus* bus) {
  struct sigaction access = {0}, step = {0};
  struct npu* npu = &npus[npu_count];
  const size_t fast = fast_bytes();
  const intarsia_status status = intarsia_ethos_u_core_driver_open(device, NULL);
  if (status != INTARSIA_OK) return status;
  if (npu_count == MOST_NPUS || map_registers(npu) != 0) return INTARSIA_ERROR_DEVICE_ABSENT;
  access.sa_sigaction = on_access;
  step.sa_sigaction = on_step;
  access.sa_flags = step.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &access, NULL);
  sigaction(SIGTRAP, &step, NULL);
  npu->bus = *bus;
  ++npu_count;
  if (ethosu_init(&npu->driver, (void*)(uintptr_t)npu->registers,
                  fast == 0 ? NULL : aligned_alloc(PAGE, (fast + PAGE - 1) / PAGE * PAGE), fast, 1,
                  1) != 0)
    return INTARSIA_ERROR_DEVICE_ABSENT;
  /* Of several, any may be the one that is reserved: then each device names its own. */
  npu->device = device;
  for (int i = 0; npu_count > 1 && i < npu_count; ++i) {
    npus[i].device->driver = &npus[i].driver;
    npus[i].driver.reserved = true;
  }
  return INTARSIA_OK;
}

intarsia_status intarsia_ethos_u_core_driver_open_bus_shared(
    struct intarsia_ethos_u_core_driver* device, const struct intarsia_register_bus* bus) {
  return open_npu(device, bus);
}

intarsia_status intarsia_ethos_u_core_driver_open_bus_dedicated(
    struct intarsia_ethos_u_core_driver* device, const struct intarsia_register_bus* bus) {
  return open_npu(device, bus);
}
