// The one check of a package's payload: every table, vector, string and offset in bounds and
// aligned.
#pragma once

#include <cstdint>

namespace intarsia::rt {

// `payload` is 16-byte aligned and `size` bytes long. Any bytes may be handed in.
bool payload_is_sound(const uint8_t* payload, uint32_t size);

}  // namespace intarsia::rt
