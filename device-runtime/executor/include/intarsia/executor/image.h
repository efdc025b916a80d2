/* What `intarsia firmware` makes: the kernels, memories and devices of a firmware. */
#ifndef INTARSIA_EXECUTOR_IMAGE_H
#define INTARSIA_EXECUTOR_IMAGE_H

#include "intarsia/executor/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the board's devices, where there are some. */
const struct intarsia_executor_image* intarsia_image(void);

/* Where the boards' generic main program finds its package. A program of your own does without. */
struct intarsia_package_places {
  const uint8_t* kept; /* a package in flash, beside the program; null: there is no place for one */
  uint32_t kept_bytes;
  uint8_t* buffer; /* RAM for one that is read from a file */
  uint32_t buffer_bytes;
};
const struct intarsia_package_places* intarsia_package_places(void);

#ifdef __cplusplus
}
#endif

#endif
