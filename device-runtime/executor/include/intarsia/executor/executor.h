/* Runs models from packages: a firmware that is built once holds kernels and memory, and a package from flash or from a
 * file says what is called with what. Freestanding, without a heap; the package is read in place.
 *
 *   static struct intarsia_executor executor;
 *   struct intarsia_refusal refusal;
 *   status = intarsia_executor_open(&executor, package, bytes, &intarsia_image, &refusal);
 *   memcpy(intarsia_executor_input(&executor, 0), ...);
 *   status = intarsia_executor_run(&executor);
 *
 * A package is checked once, when it is opened. Whatever its bytes are, with a checksum that is right or not, kernels
 * write to the memories of the image alone and read what is there and the package's constants. What a command stream of
 * an NPU reads and writes is between the stream and the NPU: there the checksum is all that is checked. */
#ifndef INTARSIA_EXECUTOR_EXECUTOR_H
#define INTARSIA_EXECUTOR_EXECUTOR_H

#include <stdint.h>

#include "intarsia/contract/device.h"
#include "intarsia/contract/package.h"
#include "intarsia/contract/program_format.h"
#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel does with the bytes that an operand points at. */
struct intarsia_kernel_operand {
  uint32_t bytes : 27;
  uint32_t is_written : 1;
  uint32_t alignment_log2 : 4;
};

/* A function of the image. `intarsia firmware` makes their table, in rising order of the ids. An id stands for
 * all that the function does: two functions have the same one only if they are the same C. */
struct intarsia_kernel {
  uint32_t id_low, id_high;
  uint32_t operand_count;
  const struct intarsia_kernel_operand* operands;
  void (*call)(void* const* operands);
};

/* Memory for activations and state, by the name that the board has for it. */
struct intarsia_executor_memory {
  const char* name;
  void* base; /* 16-byte aligned; 32, where packages ask for that */
  uint32_t bytes;
};

/* A device, by what its driver is made for: "npu -macs=128". */
struct intarsia_executor_device {
  const char* target;
  struct intarsia_device* device; /* null: it is not there */
};

/* What the firmware has. */
struct intarsia_executor_image {
  const struct intarsia_kernel* kernels;
  uint32_t kernel_count;
  const struct intarsia_executor_memory* memories;
  uint32_t memory_count;
  const struct intarsia_executor_device* devices;
  uint32_t device_count;
  uint32_t
      interface_id; /* of the packages that are taken; 0: whatever their inputs and outputs are */
};

/* Why a package was not opened, beyond the status. Strings are those of the package or of the image. */
struct intarsia_refusal {
  const char* name;          /* of the kernel, memory or device that is missing; or null */
  uint32_t needed, provided; /* bytes of a memory; versions of a format, ids of interfaces */
};

/* Its members are the executor's. */
struct intarsia_executor {
  struct intarsia_package package;
  const struct intarsia_executor_image* image;
  void* memories[INTARSIA_PROGRAM_MAX_MEMORIES]; /* by memory of the program */
  struct intarsia_device* devices[INTARSIA_PROGRAM_MAX_DEVICES];
  uint32_t memory_count;
  uint32_t code, code_words; /* places in the package */
  uint32_t constants;
};

/* `package` is 16-byte aligned, and stays valid and as it is for as long as the executor is used, as does `image`. On any error nothing can be run and,
 * where `refusal` is not null, it is filled in. State is as before a first run. */
intarsia_status intarsia_executor_open(struct intarsia_executor* executor, const void* package,
                                       uint32_t size, const struct intarsia_executor_image* image,
                                       struct intarsia_refusal* refusal);

/* State as it is before the first run. */
intarsia_status intarsia_executor_reset(struct intarsia_executor* executor);

/* Inputs are written before every run: their memory may be used for something else in it. Outputs are valid until an input
 * is written. */
intarsia_status intarsia_executor_run(struct intarsia_executor* executor);

struct intarsia_executor_tensor {
  const char* name;
  void* data;
  uint32_t bytes;
};

/* How many inputs, and outputs, there are; 0 where nothing is open. */
uint32_t intarsia_executor_input_count(const struct intarsia_executor* executor);
uint32_t intarsia_executor_output_count(const struct intarsia_executor* executor);
/* INTARSIA_ERROR_BAD_INDEX where there is none. */
intarsia_status intarsia_executor_input(const struct intarsia_executor* executor, uint32_t index,
                                        struct intarsia_executor_tensor* tensor);
intarsia_status intarsia_executor_output(const struct intarsia_executor* executor, uint32_t index,
                                         struct intarsia_executor_tensor* tensor);

#ifdef __cplusplus
}
#endif

#endif
