// Which parts of a program run by row tiles: the cheapest way through all operators that stays within a
// number of bytes at every step.
#pragma once

#include <cstdint>
#include <vector>

namespace intarsia::row_tiling {

// Operators first .. last run as one step of the program. Its output lies above the input, or it begins
// at least `distance` bytes before it and they overlap. Outputs that follow each other so drift downwards:
// what is overlapped next needs room below.
struct Option {
  int first = 0, last = 0;
  int64_t step = 0;  // rows of the output per tile; 0: one operator as a whole
  int64_t cost = 0;  // more than as a whole; any unit

  // Bytes alive while it runs: the output, the input it may overlap, what lives only now (scratch, line
  // buffers), and everything else.
  int64_t output = 0, input = 0, scratch = 0, beside = 0;
  int64_t distance = -1;  // less than 0: the output may not overlap the input

  // Bytes when the output needs `below` free bytes beneath it for what follows.
  int64_t bytes_apart(int64_t below) const;
  int64_t bytes_overlapping(int64_t below) const;
};

// The options to take, in order, such that no step needs more than `budget` bytes; when that is not
// possible, such that the most that a step needs is as small as possible. Of those the cheapest. For every
// operator there is an option that is this operator alone.
std::vector<Option> choose_options(int operators, const std::vector<Option>& options,
                                   int64_t budget);

}  // namespace intarsia::row_tiling
