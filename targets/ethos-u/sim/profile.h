// Figures of a run as JSON: what `intarsia run` shows of the device, by operator.
#pragma once

#include <string>
#include <string_view>

#include "intarsia/targets/ethos_u/timeline.h"
#include "intarsia/targets/ethos_u/trace.h"

namespace intarsia::simulators::ethos_u {

// One JSON object: device, memories, totals, and a row for every command in the order of the stream.
std::string profile_text(std::string_view device, const Timeline& timeline, const NodeOf& node_of);

}  // namespace intarsia::simulators::ethos_u
