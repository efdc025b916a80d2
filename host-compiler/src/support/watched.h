// Where long work asks whether it is still wanted (intarsia/watch.h). Without a watch, and in threads that the library has
// started itself, it always is.
#pragma once

#include <string_view>

#include "intarsia/result.h"

namespace intarsia::watched {

// A stage begins.
Result<void> begins(std::string_view stage);
// To be called often: it costs a look at the clock.
bool is_wanted();
// is_wanted(), or the failure that work ends with.
Result<void> goes_on();
// That failure.
Diagnostics stopped();

}  // namespace intarsia::watched
