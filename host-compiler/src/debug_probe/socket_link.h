// A TCP connection to the server of a debug probe.
#pragma once

#include <memory>

#include "debug_probe/link.h"
#include "intarsia/board.h"

namespace intarsia::debug_probe {

// Fails where nobody listens, with what to start.
Result<std::unique_ptr<Link>> connect_to(const board::Probe& probe,
                                         std::chrono::milliseconds limit);

}  // namespace intarsia::debug_probe
