/* The model of firmware that takes it from a package: from a file that the run file names, or from the memory in which
 * the package was put beside the program. */
#include <stddef.h>
#include <stdint.h>

#include "intarsia/contract/model_descriptor.h"
#include "intarsia/executor/executor.h"
#include "intarsia/executor/image.h"
#include "intarsia_board/port.h"

/* Inputs, or outputs, of a package; 'intarsia firmware' says how many its models need. */
#ifndef INTARSIA_MAX_TENSORS
#define INTARSIA_MAX_TENSORS 16
#endif

enum { kMostTensors = INTARSIA_MAX_TENSORS, kHeaderBytes = 16, kPayloadBytesAt = 8 };

static struct intarsia_executor executor;
static struct intarsia_tensor_info inputs[kMostTensors];
static struct intarsia_tensor_info outputs[kMostTensors];

static int32_t opened_init(void) {
  return intarsia_executor_reset(&executor);
}

static void* opened_input(int32_t index) {
  struct intarsia_executor_tensor tensor = {NULL, NULL, 0};
  (void)intarsia_executor_input(&executor, (uint32_t)index, &tensor);
  return tensor.data;
}

static const void* opened_output(int32_t index) {
  struct intarsia_executor_tensor tensor = {NULL, NULL, 0};
  (void)intarsia_executor_output(&executor, (uint32_t)index, &tensor);
  return tensor.data;
}

static int32_t opened_run(void) {
  return intarsia_executor_run(&executor);
}

static struct intarsia_model_descriptor opened = {
    .name = "package",
    .inputs = inputs,
    .outputs = outputs,
    .init = opened_init,
    .input = opened_input,
    .output = opened_output,
    .run = opened_run,
};

static void say_number(uint32_t number) {
  char digits[11];
  int32_t at = (int32_t)sizeof digits - 1;
  digits[at] = '\0';
  do {
    digits[--at] = (char)('0' + number % 10u);
    number /= 10u;
  } while (number != 0);
  intarsia_port_console(digits + at);
}

static void say_why(const struct intarsia_refusal* refusal) {
  if (refusal->name == NULL && refusal->needed == refusal->provided) return;
  intarsia_port_console("intarsia: the package asks for");
  if (refusal->name != NULL) {
    intarsia_port_console(" '");
    intarsia_port_console(refusal->name);
    intarsia_port_console("'");
  }
  if (refusal->needed != refusal->provided) {
    intarsia_port_console(refusal->name != NULL ? ": " : " ");
    say_number(refusal->needed);
    intarsia_port_console(", and the firmware has ");
    say_number(refusal->provided);
  }
  intarsia_port_console("\n");
}

/* What is there of a package at its place, by the size that it says. */
static uint32_t bytes_at(const uint8_t* place, uint32_t most) {
  const uint8_t* word = place + kPayloadBytesAt;
  const uint32_t payload = (uint32_t)word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 |
                           (uint32_t)word[3] << 24;
  return payload <= most - kHeaderBytes ? payload + kHeaderBytes : most;
}

static intarsia_status find_package(int32_t file, const struct intarsia_package_places* places,
                                    const uint8_t** package, uint32_t* bytes) {
  int32_t length;
  if (file < 0) {
    *package = places->kept;
    if (places->kept == NULL || places->kept_bytes < kHeaderBytes) {
      intarsia_port_console(
          "intarsia: this firmware keeps no place for a package; give it one in a file\n");
      return INTARSIA_ERROR_PACKAGE_FORMAT;
    }
    *bytes = bytes_at(places->kept, places->kept_bytes);
    return INTARSIA_OK;
  }
  length = intarsia_port_length(file);
  if (length < 0 || (uint32_t)length > places->buffer_bytes) {
    intarsia_port_console("intarsia: the package has ");
    say_number((uint32_t)length);
    intarsia_port_console(" bytes, and this firmware has room for ");
    say_number(places->buffer_bytes);
    intarsia_port_console(": build it with a larger --package-bytes\n");
    return INTARSIA_ERROR_PACKAGE_MEMORY;
  }
  if (intarsia_port_read(file, places->buffer, length) != length) {
    return INTARSIA_ERROR_PACKAGE_TRUNCATED;
  }
  *package = places->buffer;
  *bytes = (uint32_t)length;
  return INTARSIA_OK;
}

static int32_t open_package(int32_t file, const struct intarsia_model_descriptor** model) {
  const uint8_t* package = NULL;
  uint32_t bytes = 0;
  uint32_t i;
  struct intarsia_executor_tensor tensor;
  struct intarsia_refusal refusal;
  intarsia_status status = find_package(file, intarsia_package_places(), &package, &bytes);
  if (status != INTARSIA_OK) return status;
  status = intarsia_executor_open(&executor, package, bytes, intarsia_image(), &refusal);
  if (status != INTARSIA_OK) {
    say_why(&refusal);
    return status;
  }
  opened.input_count = (int32_t)intarsia_executor_input_count(&executor);
  opened.output_count = (int32_t)intarsia_executor_output_count(&executor);
  if (opened.input_count > kMostTensors || opened.output_count > kMostTensors) {
    return INTARSIA_ERROR_BAD_INDEX;
  }
  for (i = 0; intarsia_executor_input(&executor, i, &tensor) == INTARSIA_OK; ++i) {
    inputs[i].name = tensor.name;
    inputs[i].bytes = (int32_t)tensor.bytes;
  }
  for (i = 0; intarsia_executor_output(&executor, i, &tensor) == INTARSIA_OK; ++i) {
    outputs[i].name = tensor.name;
    outputs[i].bytes = (int32_t)tensor.bytes;
  }
  *model = &opened;
  return INTARSIA_OK;
}

const struct intarsia_model_descriptor intarsia_model = {.name = "package", .open = open_package};
