// The estimated cycles of a report, of one program or of several.
#pragma once

#include <nlohmann/json.hpp>

#include "intarsia/report.h"

namespace intarsia::packaging {

nlohmann::ordered_json cycles_json(const std::vector<DeviceCycles>& devices,
                                   const std::vector<CycleRow>& rows);

}  // namespace intarsia::packaging
