// Other ways of walking over the same memory that give the same results: rows and columns exchanged, or
// pixels of many channels taken as several of few. The MAC array works on micro-blocks of fixed width,
// four kernel elements and eight channels at a time, and the output unit writes sixteen channels at a time; which way wastes
// least of that depends on the shape.
#pragma once

#include <vector>

#include "hardware/hardware.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Operations equal to `operation` that may take fewer steps of the MAC array, or longer bursts. All of them need its
// feature maps in NHWC.
std::vector<Operation> other_views(const Hardware& hardware, const Program& program,
                                   const Operation& operation);

bool is_window(const Operation& operation);

// Whether the view goes through columns where the operation goes through rows.
bool exchanges_axes(const Operation& operation, const Operation& view);

// Whether rows and columns of the view are those of the operation.
bool keeps_rows(const Operation& operation, const Operation& view);

}  // namespace intarsia::targets::ethos_u
