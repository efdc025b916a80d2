/* libintarsia_dnnl.so, which links oneDNN so that the compiler does not. Its other functions are the driver's. */
#ifndef INTARSIA_DNNL_COMPONENT_H
#define INTARSIA_DNNL_COMPONENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why oneDNN makes no primitive of a layer on this processor; null: it does. `fields` are a layer's words and `operands` a
 * bit for each operand it has, in the order of contract/layers.def. */
const char* intarsia_dnnl_refuses(const int32_t* fields, uint32_t operands);

#ifdef __cplusplus
}
#endif

#endif
