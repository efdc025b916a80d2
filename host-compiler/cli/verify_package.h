// `verify` of a folder that `compile` wrote: its program as it is, its memory as it was planned.
#pragma once

#include "commands.h"

namespace intarsia::cli {

Result<int> verify_package(Context& context, const VerifyCommand& command);

}  // namespace intarsia::cli
