#include "semihosting.h"

enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITE0 = 0x04,
  SYS_READ = 0x06,
  SYS_EXIT_EXTENDED = 0x20
};
enum { OPEN_READ_BINARY = 1, STOPPED_APPLICATION_EXIT = 0x20026 };

static int32_t ask_host(uint32_t operation, const void* block) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory", "cc");
  return (int32_t)r0;
}

static uint32_t word(const void* pointer) {
  return (uint32_t)(uintptr_t)pointer;
}

int32_t host_open(const char* path) {
  uint32_t length = 0;
  while (path[length] != '\0') ++length;
  const uint32_t block[3] = {word(path), OPEN_READ_BINARY, length};
  return ask_host(SYS_OPEN, block);
}

int32_t host_read(int32_t file, void* to, int32_t bytes) {
  uint8_t* at = to;
  int32_t done = 0;
  while (done < bytes) {
    /* The host answers how many bytes it did not read. */
    const uint32_t block[3] = {(uint32_t)file, word(at + done), (uint32_t)(bytes - done)};
    const int32_t left = ask_host(SYS_READ, block);
    if (left < 0 || left > bytes - done) return -1;
    if (left == bytes - done) break;
    done = bytes - left;
  }
  return done;
}

void host_close(int32_t file) {
  const uint32_t block[1] = {(uint32_t)file};
  (void)ask_host(SYS_CLOSE, block);
}

void print(const char* text) {
  (void)ask_host(SYS_WRITE0, text);
}

static void print_digits(uint32_t value, int32_t least) {
  char digits[11];
  int32_t at = 10;
  digits[at] = '\0';
  do {
    digits[--at] = (char)('0' + value % 10u);
    value /= 10u;
  } while (value != 0u || at > 10 - least);
  print(digits + at);
}

static uint32_t magnitude(int32_t value) {
  if (value >= 0) return (uint32_t)value;
  print("-");
  return 0u - (uint32_t)value;
}

void print_number(int32_t value) {
  print_digits(magnitude(value), 1);
}

void print_hundredths(int32_t value) {
  const uint32_t all = magnitude(value);
  print_digits(all / 100u, 1);
  print(".");
  print_digits(all % 100u, 2);
}

_Noreturn void host_exit(int32_t status) {
  const uint32_t block[2] = {STOPPED_APPLICATION_EXIT, (uint32_t)status};
  for (;;) (void)ask_host(SYS_EXIT_EXTENDED, block);
}

_Noreturn void stop(const char* what, int32_t code) {
  print(what);
  print(" failed, code ");
  print_number(code);
  print("\n");
  host_exit(1);
}
