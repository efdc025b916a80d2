// requests/verify_operators.h, in the command line's namespace.
#pragma once

#include "requests/verify_operators.h"

namespace intarsia::cli {

using requests::check_operators;
using requests::describe_difference;
using requests::evaluate;
using requests::makes_integers_of_computed_floats;
using requests::OperatorCheck;
using requests::pinned_as;
using requests::tolerances;
using requests::Values;
using requests::with_all_outputs;
using requests::with_outputs;

}  // namespace intarsia::cli
