/* The port over semihosting: a breakpoint with the operation and its arguments in the first two registers of
 * a call, which a debug probe or QEMU carries out on the host. On a board whose probe is ours to speak to
 * (probe.c) the same calls need no semihosting. */
#include <stdint.h>

#include "intarsia_board/port.h"
#ifdef INTARSIA_BOARD_PROBE
#include "probe.h"
#endif

enum semihosting_operation {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITE0 = 0x04,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  SYS_SEEK = 0x0A,
  SYS_FLEN = 0x0C,
  SYS_GET_CMDLINE = 0x15,
  SYS_EXIT_EXTENDED = 0x20
};

enum { OPEN_READ_BINARY = 1, OPEN_WRITE_BINARY = 5 };
enum { STOPPED_APPLICATION_EXIT = 0x20026 };

#if defined(__riscv)
/* What tells the breakpoint from others are the two shifts around it, which do nothing. None of the three is a short instruction, and all
 * lie in one page. */
static __attribute__((noinline)) int32_t call_host(uint32_t operation, const void* arguments) {
  register uint32_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = arguments;
  __asm__ volatile(
      ".option push\n"
      ".option norvc\n"
      ".balign 16\n"
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return (int32_t)a0;
}
#else
static int32_t call_host(uint32_t operation, const void* arguments) {
#ifdef INTARSIA_BOARD_PROBE
  return intarsia_probe_wait(operation, arguments);
#else
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = arguments;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory", "cc");
  return (int32_t)r0;
#endif
}
#endif

static uint32_t word(const void* pointer) {
  return (uint32_t)(uintptr_t)pointer;
}

static uint32_t text_length(const char* text) {
  uint32_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

/* The command line is "<program> <run file>": the path is all that follows the first space, so a
 * path may hold spaces itself. */
int32_t intarsia_port_run_file(char* buffer, int32_t size) {
  const uint32_t block[2] = {word(buffer), (uint32_t)size};
  int32_t from = 0;
  int32_t to = 0;
  if (call_host(SYS_GET_CMDLINE, block) != 0) return -1;
  while (buffer[from] != '\0' && buffer[from] != ' ') ++from;
  if (buffer[from] == '\0' || buffer[from + 1] == '\0') return -1;
  ++from;
  while (buffer[from] != '\0') buffer[to++] = buffer[from++];
  buffer[to] = '\0';
  return 0;
}

int32_t intarsia_port_open(const char* path, enum intarsia_open_mode mode) {
  const uint32_t block[3] = {word(path),
                             mode == INTARSIA_OPEN_READ ? OPEN_READ_BINARY : OPEN_WRITE_BINARY,
                             text_length(path)};
  return call_host(SYS_OPEN, block);
}

int32_t intarsia_port_read(int32_t file, void* buffer, int32_t bytes) {
  /* The host answers with the bytes it did not read, and may read fewer than it could. */
  uint8_t* to = buffer;
  int32_t done = 0;
  while (done < bytes) {
    const uint32_t block[3] = {(uint32_t)file, word(to + done), (uint32_t)(bytes - done)};
    const int32_t left = call_host(SYS_READ, block);
    if (left < 0 || left > bytes - done) return -1;
    if (left == bytes - done) break;
    done = bytes - left;
  }
  return done;
}

int32_t intarsia_port_write(int32_t file, const void* buffer, int32_t bytes) {
  const uint32_t block[3] = {(uint32_t)file, word(buffer), (uint32_t)bytes};
  return call_host(SYS_WRITE, block) == 0 ? 0 : -1;
}

int32_t intarsia_port_length(int32_t file) {
  const uint32_t block[1] = {(uint32_t)file};
  return call_host(SYS_FLEN, block);
}

int32_t intarsia_port_rewind(int32_t file) {
  const uint32_t block[2] = {(uint32_t)file, 0u};
  return call_host(SYS_SEEK, block) < 0 ? -1 : 0;
}

int32_t intarsia_port_close(int32_t file) {
  const uint32_t block[1] = {(uint32_t)file};
  return call_host(SYS_CLOSE, block) == 0 ? 0 : -1;
}

void intarsia_port_console(const char* text) {
  (void)call_host(SYS_WRITE0, text);
}

_Noreturn void intarsia_port_exit(int32_t status) {
  const uint32_t block[2] = {STOPPED_APPLICATION_EXIT, (uint32_t)status};
  for (;;) (void)call_host(SYS_EXIT_EXTENDED, block);
}
