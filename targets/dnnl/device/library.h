// oneDNN's C interface, where it is there. Elsewhere, as for a microcontroller, the driver is one that finds no device; for a
// program under Linux that is no use to anybody.
#pragma once

#if __has_include(<dnnl.h>)
#define INTARSIA_HAS_DNNL 1
#include <dnnl.h>
#include <dnnl_debug.h>
#if DNNL_VERSION_MAJOR != 2
#error \
    "the driver of oneDNN is for oneDNN 2: install Debian's libdnnl-dev (2.6), or build that release"
#endif
#elif defined(__linux__) && !defined(INTARSIA_DNNL_MAY_BE_ABSENT)
#error "oneDNN's dnnl.h is not there: install libdnnl-dev (Debian, Ubuntu) or onednn-devel (Fedora)"
#endif
