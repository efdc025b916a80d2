// A sweep as a picture: a drawing for each model. Both forms are one file that needs no other, no network and no
// JavaScript, in light and dark as the reader's system is. The same rows give the same bytes.
#pragma once

#include <span>
#include <string>

#include "requests/sweep_row.h"

namespace intarsia::requests {

// A page with the drawings and the table.
std::string sweep_page(std::span<const SweepRow> rows, std::span<const Figure> by);
// The drawings alone, with a list of what the numbers stand for.
std::string sweep_picture(std::span<const SweepRow> rows, std::span<const Figure> by);

}  // namespace intarsia::requests
