/* What the inference main asks of the world: a command line, files, a console and an exit.
 * Implemented over semihosting (boards/common/port_semihosting.c) and over stdio
 * (boards/host/port.c). Nothing here allocates. */
#ifndef INTARSIA_BOARD_PORT_H
#define INTARSIA_BOARD_PORT_H

#include <stdint.h>

/* Exit statuses of a firmware; the host compiler's board library has the words for them. */
enum intarsia_exit {
  INTARSIA_EXIT_DONE = 0,
  INTARSIA_EXIT_RUN_FILE = 10, /* the run file is missing or cannot be understood */
  INTARSIA_EXIT_INPUT = 11,    /* an input file is missing or has the wrong size */
  INTARSIA_EXIT_OUTPUT = 12,   /* an output or the report cannot be written */
  INTARSIA_EXIT_MODEL = 13,    /* the model's init or run returned a status other than 0 */
  INTARSIA_EXIT_FAULT = 14     /* the processor took a fault */
};

enum intarsia_open_mode { INTARSIA_OPEN_READ, INTARSIA_OPEN_WRITE };

/* The run file's path, as one zero-terminated string. 0, or -1 when there is none or it does not
 * fit. */
int32_t intarsia_port_run_file(char* buffer, int32_t size);

/* A handle, or -1. Writing starts an empty file. */
int32_t intarsia_port_open(const char* path, enum intarsia_open_mode mode);
/* The bytes read: fewer than asked at the end of the file, -1 on an error. */
int32_t intarsia_port_read(int32_t file, void* buffer, int32_t bytes);
/* 0 when all was written, otherwise -1. */
int32_t intarsia_port_write(int32_t file, const void* buffer, int32_t bytes);
/* The file's length in bytes, or -1. */
int32_t intarsia_port_length(int32_t file);
/* 0, or -1. */
int32_t intarsia_port_rewind(int32_t file);
int32_t intarsia_port_close(int32_t file);

void intarsia_port_console(const char* text);
_Noreturn void intarsia_port_exit(int32_t status);

/* The inference main. The startup code (or the host's main) calls it with memory initialised and
 * hands what it returns to intarsia_port_exit. */
int32_t intarsia_inference_main(void);

#endif
