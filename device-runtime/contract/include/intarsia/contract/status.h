/* Result codes of everything that runs on the chip. Zero is success. Values are append-only: firmware
 * in the field keeps its meaning. `intarsia explain-error CODE` prints the sentence of each. */
#ifndef INTARSIA_CONTRACT_STATUS_H
#define INTARSIA_CONTRACT_STATUS_H

#include <stdint.h>

typedef int32_t intarsia_status;

enum {
#define INTARSIA_STATUS(name, value, sentence) INTARSIA_##name = value,
#include "intarsia/contract/status.def"
#undef INTARSIA_STATUS
};

#endif
