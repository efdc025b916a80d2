// Pooling of int8.
#ifndef INTARSIA_CORTEX_M_POOL_S8_H_
#define INTARSIA_CORTEX_M_POOL_S8_H_

#define INTARSIA_ELEMENT int8_t
#define INTARSIA_LEAST (-128)
#define INTARSIA_MOST 127
#define INTARSIA_WIDTH "8"
#define INTARSIA_LOAD "vldrb.8"
#define INTARSIA_LOAD_THEN "vldrbt.8"
#define INTARSIA_STORE "vstrb.8"
#define INTARSIA_STORE_THEN "vstrbt.8"
#define INTARSIA_SUBTRACT "ssub8"
#define INTARSIA_SPREAD(value) (((uint32_t)(value)&0xffu) * 0x01010101u)
#include "intarsia/targets/cortex_m/pool_elements.h"

#endif  // INTARSIA_CORTEX_M_POOL_S8_H_
