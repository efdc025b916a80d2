// What the counters of the performance monitor count, by the numbers that PMEVTYPER takes.
#pragma once

#include <cstdint>

namespace intarsia::simulators::ethos_u {

enum PmuEvent : uint32_t {
#define REGISTER(...)
#define REGISTER_FIELD(...)
#define PMU_EVENT(name, number) name = number,
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
};

}  // namespace intarsia::simulators::ethos_u
