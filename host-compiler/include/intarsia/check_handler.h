// What happens when one of the library's own invariants is broken (INTARSIA_CHECK). By default the message goes to
// standard error and the program ends with exit code 3; a program that embeds the library may log, clean up, or
// leave by an exception instead.
#pragma once

#include <string>

namespace intarsia {

// Called once with the whole message, a line without its end. It may throw, from which the library's
// values are destroyed in order; when it returns, the program ends with exit code 3.
using CheckHandler = void (*)(const std::string& message);

// Null: the default. Returns the handler before. May be called from any thread.
CheckHandler set_check_handler(CheckHandler handler);

}  // namespace intarsia
