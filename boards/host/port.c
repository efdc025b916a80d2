/* The port on the machine that compiles: stdio for semihosting, argv[1] for the run file. The stack
 * is the operating system's and is not measured. */
#include "intarsia_board/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intarsia_board/stack.h"

enum {
  kMaxFiles = 1000
}; /* systems commonly allow a process 1024; a run file can join those of many tensors */

static FILE* files[kMaxFiles];
static const char* run_file;

int32_t intarsia_port_run_file(char* buffer, int32_t size) {
  if (run_file == NULL || strlen(run_file) >= (size_t)size) return -1;
  memcpy(buffer, run_file, strlen(run_file) + 1);
  return 0;
}

int32_t intarsia_port_open(const char* path, enum intarsia_open_mode mode) {
  int32_t file = 0;
  while (file < kMaxFiles && files[file] != NULL) ++file;
  if (file == kMaxFiles) return -1;
  files[file] = fopen(path, mode == INTARSIA_OPEN_READ ? "rb" : "wb");
  if (files[file] == NULL) return -1;
  /* Like semihosting: what is written is there at once, for whoever watches the file grow. */
  if (mode == INTARSIA_OPEN_WRITE) (void)setvbuf(files[file], NULL, _IONBF, 0);
  return file;
}

int32_t intarsia_port_read(int32_t file, void* buffer, int32_t bytes) {
  const size_t got = fread(buffer, 1, (size_t)bytes, files[file]);
  return ferror(files[file]) ? -1 : (int32_t)got;
}

int32_t intarsia_port_write(int32_t file, const void* buffer, int32_t bytes) {
  return fwrite(buffer, 1, (size_t)bytes, files[file]) == (size_t)bytes ? 0 : -1;
}

int32_t intarsia_port_length(int32_t file) {
  const long here = ftell(files[file]);
  long length;
  if (here < 0 || fseek(files[file], 0, SEEK_END) != 0) return -1;
  length = ftell(files[file]);
  if (fseek(files[file], here, SEEK_SET) != 0 || length > INT32_MAX) return -1;
  return (int32_t)length;
}

int32_t intarsia_port_rewind(int32_t file) {
  return fseek(files[file], 0, SEEK_SET) == 0 ? 0 : -1;
}

int32_t intarsia_port_close(int32_t file) {
  FILE* const closing = files[file];
  files[file] = NULL;
  return fclose(closing) == 0 ? 0 : -1;
}

void intarsia_port_console(const char* text) {
  (void)fputs(text, stderr);
}

_Noreturn void intarsia_port_exit(int32_t status) {
  exit((int)status);
}

void intarsia_stack_paint(void) {}
int32_t intarsia_stack_level(void) {
  return 0;
}
int32_t intarsia_stack_depth(void) {
  return -1;
}
int32_t intarsia_stack_size(void) {
  return -1;
}

int main(int argc, char** argv) {
  if (argc == 2) run_file = argv[1];
  return (int)intarsia_inference_main();
}
