#include "intarsia/contract/version.h"

int32_t intarsia_runtime_version(void) {
  return INTARSIA_RUNTIME_VERSION;
}
