/* The program of `intarsia run`: feeds the linked model (intarsia_model) from files, runs it as
 * often as the run file says, writes its outputs and a report. The same on the host and on every
 * board; boards/README.md describes the files. */
#include <stdint.h>

#include "intarsia/contract/model_descriptor.h"
#include "intarsia/contract/status.h"
#include "intarsia_board/marks.h"
#include "intarsia_board/port.h"
#include "intarsia_board/stack.h"
#include "run_file.h"
#include "text.h"

struct outcome {
  int32_t exit_status;  /* enum intarsia_exit */
  int32_t model_status; /* what the model's init or run returned */
  int32_t runs;         /* runs that succeeded */
  int32_t stack_run;    /* the most that one run used, -1 when not measured */
  int32_t stack_total;  /* the most that was used at all, -1 when not measured */
};

/* What runs: the linked model, or what it opens. */
static const struct intarsia_model_descriptor* model = &intarsia_model;

/* Where results go, and whether one could not be written. */
static int32_t results_file = -1;
static int32_t results_failed;

/* What a model that was compiled with -D<MODEL>_TRACE=intarsia_show_result calls with each operator's result. The file
 * gets a record of each: index, bytes of the name, bytes of the tensor (32 bits each, as this machine has them), name,
 * tensor. A record of index -1 without either begins a run. */
void intarsia_show_result(int32_t index, const char* name, const void* tensor, int32_t bytes);

void intarsia_show_result(int32_t index, const char* name, const void* tensor, int32_t bytes) {
  int32_t head[3] = {0, 0, 0};
  if (results_file < 0) return;
  head[0] = index;
  head[2] = bytes;
  while (name[head[1]] != '\0') ++head[1];
  if (intarsia_port_write(results_file, head, (int32_t)sizeof head) != 0 ||
      intarsia_port_write(results_file, name, head[1]) != 0 ||
      intarsia_port_write(results_file, tensor, bytes) != 0) {
    results_failed = 1;
  }
}

static int32_t complain(int32_t status, const char* what, int32_t index, const char* detail) {
  char digits[16];
  struct intarsia_text number;
  intarsia_text_start(&number, digits, (int32_t)sizeof digits);
  intarsia_text_add_number(&number, index);
  intarsia_port_console("intarsia: ");
  intarsia_port_console(what);
  intarsia_port_console(" ");
  intarsia_port_console(digits);
  intarsia_port_console(detail);
  intarsia_port_console("\n");
  return status;
}

static int32_t open_model(const struct intarsia_run_request* request) {
  int32_t status;
  if (intarsia_model.open == 0) return 0;
  status = intarsia_model.open(request->package, &model);
  if (status == INTARSIA_OK) return 0;
  return complain(INTARSIA_EXIT_MODEL, "the package is refused with status", status, "");
}

static int32_t check_counts(const struct intarsia_run_request* request) {
  const int32_t inputs = request->joined_inputs != 0 ? 1 : model->input_count;
  const int32_t outputs = request->joined_outputs != 0 ? 1 : model->output_count;
  if (request->input_count != inputs) {
    return complain(INTARSIA_EXIT_INPUT, "the number of inputs is not", inputs,
                    ", as the model has");
  }
  if (request->output_count != outputs) {
    return complain(INTARSIA_EXIT_OUTPUT, "the number of outputs is not", outputs,
                    ", as the model has");
  }
  return 0;
}

/* What the file holds for one run: a tensor, or all inputs. */
static int64_t input_bytes(const struct intarsia_run_request* request, int32_t file) {
  int64_t bytes = 0;
  int32_t i;
  if (request->joined_inputs == 0) return model->inputs[file].bytes;
  for (i = 0; i < model->input_count; ++i) bytes += model->inputs[i].bytes;
  return bytes;
}

/* An input file holds one slice for every run, or one that all runs share. */
static int32_t check_input_sizes(const struct intarsia_run_request* request) {
  int32_t i;
  for (i = 0; i < request->input_count; ++i) {
    const int64_t length = intarsia_port_length(request->inputs[i]);
    const int64_t slice = input_bytes(request, i);
    if (length != slice && length != slice * request->repeat) {
      return complain(INTARSIA_EXIT_INPUT, "input", i,
                      ": the file's size is neither the tensor's nor that times the repeats");
    }
  }
  return 0;
}

static int32_t read_inputs(const struct intarsia_run_request* request) {
  int32_t i;
  for (i = 0; i < request->input_count; ++i) {
    const int32_t file = request->inputs[i];
    if (intarsia_port_length(file) == input_bytes(request, i) && intarsia_port_rewind(file) != 0) {
      return complain(INTARSIA_EXIT_INPUT, "input", i, ": the file cannot be rewound");
    }
  }
  for (i = 0; i < model->input_count; ++i) {
    const int32_t file = request->inputs[request->joined_inputs != 0 ? 0 : i];
    const int32_t bytes = model->inputs[i].bytes;
    if (intarsia_port_read(file, model->input(i), bytes) != bytes) {
      return complain(INTARSIA_EXIT_INPUT, "input", i, ": the file ends early");
    }
  }
  return 0;
}

static int32_t write_outputs(const struct intarsia_run_request* request) {
  int32_t i;
  for (i = 0; i < model->output_count; ++i) {
    const int32_t file = request->outputs[request->joined_outputs != 0 ? 0 : i];
    const int32_t bytes = model->outputs[i].bytes;
    if (intarsia_port_write(file, model->output(i), bytes) != 0) {
      return complain(INTARSIA_EXIT_OUTPUT, "output", i, ": the file cannot be written");
    }
  }
  return 0;
}

static void note_total_stack(struct outcome* outcome) {
  const int32_t depth = intarsia_stack_depth();
  if (depth > outcome->stack_total) outcome->stack_total = depth;
}

/* The run itself, between the marks and over fresh paint. Not inlined, so that the calls of paint
 * and run happen at one stack level. */
static __attribute__((noinline)) int32_t run_measured(struct outcome* outcome) {
  int32_t status;
  int32_t used;
  note_total_stack(outcome);
  intarsia_stack_paint();
  intarsia_mark_begin();
  status = model->run();
  intarsia_mark_end();
  used = intarsia_stack_depth();
  if (used >= 0) used -= intarsia_stack_level();
  if (used > outcome->stack_run) outcome->stack_run = used;
  note_total_stack(outcome);
  return status;
}

/* As many inferences at a time as the model's parts take. The marks are around all of them. */
static int32_t run_overlapped(const struct intarsia_run_request* request, struct outcome* outcome) {
  int32_t given = 0;
  int32_t waiting = 0; /* 1: the inputs are in place and were not taken yet */
  int32_t status;
  intarsia_mark_begin();
  while (outcome->runs < request->repeat) {
    if (given < request->repeat && waiting == 0) {
      if ((status = read_inputs(request)) != 0) return status;
      waiting = 1;
    }
    if (waiting != 0) {
      outcome->model_status = model->submit();
      if (outcome->model_status == INTARSIA_OK) {
        waiting = 0;
        ++given;
        continue;
      }
      if (outcome->model_status != INTARSIA_PENDING) break;
    }
    outcome->model_status = model->collect();
    if (outcome->model_status == INTARSIA_PENDING) continue;
    if (outcome->model_status != INTARSIA_OK) break;
    ++outcome->runs;
    if (request->keep_all || outcome->runs == request->repeat) {
      if ((status = write_outputs(request)) != 0) return status;
    }
  }
  intarsia_mark_end();
  note_total_stack(outcome);
  if (outcome->model_status == INTARSIA_OK) return 0;
  return complain(INTARSIA_EXIT_MODEL, "the model's run returned status", outcome->model_status,
                  "");
}

static int32_t run_all(const struct intarsia_run_request* request, struct outcome* outcome) {
  int32_t n;
  int32_t status;
  outcome->model_status = model->init();
  if (outcome->model_status != 0) {
    return complain(INTARSIA_EXIT_MODEL, "the model's init returned status", outcome->model_status,
                    "");
  }
  if (model->submit != 0) return run_overlapped(request, outcome);
  results_file = request->results;
  for (n = 0; n < request->repeat; ++n) {
    if ((status = read_inputs(request)) != 0) return status;
    intarsia_show_result(-1, "", "", 0);
    outcome->model_status = run_measured(outcome);
    if (outcome->model_status != 0) {
      return complain(INTARSIA_EXIT_MODEL, "the model's run returned status", outcome->model_status,
                      "");
    }
    ++outcome->runs;
    if (results_failed != 0) {
      return complain(INTARSIA_EXIT_OUTPUT, "results of run", n, ": the file cannot be written");
    }
    if (request->keep_all || n + 1 == request->repeat) {
      if ((status = write_outputs(request)) != 0) return status;
    }
  }
  return 0;
}

static void add_field(struct intarsia_text* text, const char* name, int32_t value) {
  intarsia_text_add(text, name);
  intarsia_text_add_number(text, value);
}

static int32_t write_report(int32_t file, const struct outcome* outcome) {
  char buffer[160];
  struct intarsia_text text;
  intarsia_text_start(&text, buffer, (int32_t)sizeof buffer);
  add_field(&text, "{\"exit_status\": ", outcome->exit_status);
  add_field(&text, ", \"model_status\": ", outcome->model_status);
  add_field(&text, ", \"runs\": ", outcome->runs);
  add_field(&text, ", \"stack_run\": ", outcome->stack_run);
  add_field(&text, ", \"stack_total\": ", outcome->stack_total);
  add_field(&text, ", \"stack_size\": ", intarsia_stack_size());
  intarsia_text_add(&text, "}\n");
  if (intarsia_port_write(file, buffer, text.length) == 0) return 0;
  return complain(INTARSIA_EXIT_OUTPUT, "report", 0, ": the file cannot be written");
}

int32_t intarsia_inference_main(void) {
  static struct intarsia_run_request request;
  struct outcome outcome = {0, 0, 0, -1, -1};
  int32_t status = intarsia_read_run_file(&request);
  if (status == 0) status = open_model(&request);
  if (status == 0) status = check_counts(&request);
  if (status == 0) status = check_input_sizes(&request);
  if (status == 0) status = run_all(&request, &outcome);
  if (request.results >= 0 && intarsia_port_close(request.results) != 0 && status == 0) {
    status = INTARSIA_EXIT_OUTPUT;
  }
  outcome.exit_status = status;
  if (request.report >= 0) {
    const int32_t reported = write_report(request.report, &outcome);
    if (status == 0) status = reported;
    if (intarsia_port_close(request.report) != 0 && status == 0) status = INTARSIA_EXIT_OUTPUT;
  }
  return status;
}
