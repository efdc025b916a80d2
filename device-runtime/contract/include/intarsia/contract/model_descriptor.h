/* What a program needs in order to drive a compiled model without knowing its name: the emitter
 * writes one descriptor per model, and the boards' inference main (boards/common) runs whatever
 * `intarsia_model` it is linked with. The descriptor owns the model's state. */
#ifndef INTARSIA_CONTRACT_MODEL_DESCRIPTOR_H
#define INTARSIA_CONTRACT_MODEL_DESCRIPTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_tensor_info {
  const char *name;
  int32_t bytes;
};

struct intarsia_model_descriptor {
  const char *name;
  int32_t input_count;
  int32_t output_count;
  const struct intarsia_tensor_info *inputs;
  const struct intarsia_tensor_info *outputs;
  /* Status 0 is success. init is called once, before anything else; it may not assume that the
   * state's memory holds zeros. */
  int32_t (*init)(void);
  /* Where to put an input and where to find an output, index below the counts. An input's memory
   * may be reused by run, so inputs are written again before every run; an output is valid until
   * an input is written. */
  void *(*input)(int32_t index);
  const void *(*output)(int32_t index);
  int32_t (*run)(void);
  /* Null, or for models whose parts work at the same time: submit begins an inference with the inputs as
   * they are, collect ends the oldest one. Both return INTARSIA_PENDING when that is not possible yet;
   * collect is then called again. */
  int32_t (*submit)(void);
  int32_t (*collect)(void);
  /* Null, or of firmware that takes its model from a package: opens the one in the open file `package`, or, where that
   * is below 0, the one in the memory that the firmware keeps for it. On success *model is what it holds. Called once, before
   * anything else. */
  int32_t (*open)(int32_t package, const struct intarsia_model_descriptor **model);
};

extern const struct intarsia_model_descriptor intarsia_model;

#ifdef __cplusplus
}
#endif

#endif
