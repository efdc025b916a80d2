// The cycles of a report, as they are estimated before anything runs, of one program or of several, and as they were
// counted in an emulator.
#pragma once

#include <nlohmann/json.hpp>

#include "intarsia/report.h"

namespace intarsia::packaging {

nlohmann::ordered_json cycles_json(const std::vector<DeviceCycles>& devices,
                                   const std::vector<CycleRow>& rows);

// Of one run: instructions, cycles as "optimistic", "nominal" and "pessimistic", and the same of each operator.
nlohmann::ordered_json counted_json(const RunCycles& run);

}  // namespace intarsia::packaging
