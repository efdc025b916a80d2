// What a transposed convolution is made of: the elements of its output whose coordinates leave the same remainder by the stride
// are an ordinary convolution of the input with every stride-th weight, a phase.
#pragma once

#include <optional>
#include <vector>

#include "legalise/window_axis.h"

namespace intarsia::targets::ethos_u {

// One remainder along one axis. Tap k of the phase's kernel is weight first + stride * (taps - 1 -
// k).
struct Phase {
  int64_t remainder, first, taps;
  int64_t origin;  // of the input that it reads
  WindowAxis window;
  int64_t place = 0;  // of its output elements, the first one
};

struct Phases {
  std::vector<Phase> y, x;
};

Phases phases_of(const Site& site);

// All phases of a row at once: one window that sees what each of them sees, and as many filters for each phase. The elements of
// the output that they make of a place lie beside each other. Tap k of the phase with a remainder is weight remainder + first -
// stride * k, where there is one.
struct JoinedPhases {
  WindowAxis window;
  int64_t phases, first;
};

// Nothing where the phases are not as long as each other.
std::optional<JoinedPhases> joined_phases(const Site& site);

}  // namespace intarsia::targets::ethos_u
