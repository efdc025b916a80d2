#include "run_file.h"

#include "intarsia_board/port.h"

/* The run file's path, and later each of its lines. Static: a stack on a small board is smaller
 * than a path may be. */
static char line[INTARSIA_MAX_LINE];

struct reader {
  int32_t file;
  int32_t filled;
  int32_t next;
  char bytes[32];
};

static int32_t complain(int32_t status, const char* what, const char* detail) {
  intarsia_port_console("intarsia: run file: ");
  intarsia_port_console(what);
  intarsia_port_console(" '");
  intarsia_port_console(detail);
  intarsia_port_console("'\n");
  return status;
}

/* The next character, or -1 at the end. */
static int32_t next_char(struct reader* reader) {
  if (reader->next == reader->filled) {
    reader->filled = intarsia_port_read(reader->file, reader->bytes, (int32_t)sizeof reader->bytes);
    reader->next = 0;
    if (reader->filled <= 0) {
      reader->filled = 0;
      return -1;
    }
  }
  return (unsigned char)reader->bytes[reader->next++];
}

/* 1 with a line, 0 at the end, -1 when the line is too long. */
static int32_t next_line(struct reader* reader) {
  int32_t length = 0;
  int32_t c = next_char(reader);
  if (c < 0) return 0;
  while (c >= 0 && c != '\n') {
    if (length + 1 >= (int32_t)sizeof line) return -1;
    line[length++] = (char)c;
    c = next_char(reader);
  }
  line[length] = '\0';
  return 1;
}

/* What follows `word` and one space, or a null pointer when the line begins otherwise. */
static const char* after(const char* word) {
  int32_t i = 0;
  while (word[i] != '\0' && line[i] == word[i]) ++i;
  if (word[i] != '\0' || line[i] != ' ' || line[i + 1] == '\0') return 0;
  return line + i + 1;
}

static int32_t same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/* A number above 0, or -1. */
static int32_t parse_count(const char* digits) {
  int32_t value = 0;
  for (; *digits != '\0'; ++digits) {
    if (*digits < '0' || *digits > '9' || value > 99999999) return -1;
    value = value * 10 + (*digits - '0');
  }
  return value > 0 ? value : -1;
}

static int32_t add_file(const char* path, enum intarsia_open_mode mode, int32_t* files,
                        int32_t* count) {
  const int32_t status = mode == INTARSIA_OPEN_READ ? INTARSIA_EXIT_INPUT : INTARSIA_EXIT_OUTPUT;
  if (*count == INTARSIA_MAX_TENSORS) {
    return complain(INTARSIA_EXIT_RUN_FILE,
                    "more files than the model has tensors: one too many is", path);
  }
  files[*count] = intarsia_port_open(path, mode);
  if (files[*count] < 0) return complain(status, "cannot open", path);
  ++*count;
  return 0;
}

static int32_t take_line(struct intarsia_run_request* request) {
  const char* rest;
  if ((rest = after("input")) != 0) {
    return add_file(rest, INTARSIA_OPEN_READ, request->inputs, &request->input_count);
  }
  if ((rest = after("output")) != 0) {
    return add_file(rest, INTARSIA_OPEN_WRITE, request->outputs, &request->output_count);
  }
  if ((rest = after("inputs")) != 0) {
    request->joined_inputs = 1;
    return add_file(rest, INTARSIA_OPEN_READ, request->inputs, &request->input_count);
  }
  if ((rest = after("outputs")) != 0) {
    request->joined_outputs = 1;
    return add_file(rest, INTARSIA_OPEN_WRITE, request->outputs, &request->output_count);
  }
  if ((rest = after("report")) != 0) {
    request->report = intarsia_port_open(rest, INTARSIA_OPEN_WRITE);
    if (request->report >= 0) return 0;
    return complain(INTARSIA_EXIT_OUTPUT, "cannot open", rest);
  }
  if ((rest = after("results")) != 0) {
    request->results = intarsia_port_open(rest, INTARSIA_OPEN_WRITE);
    if (request->results >= 0) return 0;
    return complain(INTARSIA_EXIT_OUTPUT, "cannot open", rest);
  }
  if ((rest = after("package")) != 0) {
    request->package = intarsia_port_open(rest, INTARSIA_OPEN_READ);
    if (request->package >= 0) return 0;
    return complain(INTARSIA_EXIT_INPUT, "cannot open", rest);
  }
  if ((rest = after("repeat")) != 0) {
    request->repeat = parse_count(rest);
    if (request->repeat > 0) return 0;
  }
  if ((rest = after("keep")) != 0) {
    request->keep_all = same(rest, "all");
    if (request->keep_all || same(rest, "last")) return 0;
  }
  return complain(INTARSIA_EXIT_RUN_FILE, "cannot understand the line", line);
}

int32_t intarsia_read_run_file(struct intarsia_run_request* request) {
  struct reader reader;
  int32_t more;
  request->repeat = 1;
  request->keep_all = 0;
  request->input_count = 0;
  request->output_count = 0;
  request->joined_inputs = 0;
  request->joined_outputs = 0;
  request->report = -1;
  request->results = -1;
  request->package = -1;
  if (intarsia_port_run_file(line, (int32_t)sizeof line) != 0) {
    return complain(INTARSIA_EXIT_RUN_FILE, "no path on the command line, or one too long:", "");
  }
  reader.filled = 0;
  reader.next = 0;
  reader.file = intarsia_port_open(line, INTARSIA_OPEN_READ);
  if (reader.file < 0) return complain(INTARSIA_EXIT_RUN_FILE, "cannot open", line);
  while ((more = next_line(&reader)) > 0) {
    const int32_t status = take_line(request);
    if (status != 0) return status;
  }
  (void)intarsia_port_close(reader.file);
  if (more < 0) return complain(INTARSIA_EXIT_RUN_FILE, "a line longer than", "511 characters");
  return 0;
}
