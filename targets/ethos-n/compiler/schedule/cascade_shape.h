// Which feature maps a cascade has, and the rows of their stripes.
#pragma once

#include <optional>

#include "schedule/cascade.h"

namespace intarsia::targets::ethos_n {

bool is_whole(const FeatureMap& map);
// As MCE and PLE write and read it: all of it at once, with the same shape.
bool is_same_whole(const FeatureMap& written, const FeatureMap& read);

// Maps and layers without rows or places; nothing where SRAM cannot stand between the layers.
std::optional<Cascade> shape_of(const Program& program, size_t first, size_t end);

// Every piece that is written has up to `most` rows. False: the readers of a map do not agree.
bool assign_rows(const Variant& variant, const Program& program, Cascade& cascade, int64_t most);

}  // namespace intarsia::targets::ethos_n
