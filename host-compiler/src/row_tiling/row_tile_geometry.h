// Row tiling: a chain of operators runs alternately, a few rows of each, so that what lies between them needs
// only the rows in use. Nothing is computed twice: rows that a later tile still needs are kept.
//
// Tensors are images of rows. Those that no operator of the chain makes are its inputs, the last
// operator makes its output; both are there as a whole. What lies between lives in line buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/plugin/row_window.h"

namespace intarsia::row_tiling {

using intarsia::RowRange;
using intarsia::RowWindow;

struct Operand {
  int tensor;
  RowWindow window;
};

struct Operator {
  std::vector<Operand> operands;
  int result;
};

struct Chain {
  std::vector<int64_t> rows;        // per tensor
  std::vector<Operator> operators;  // each before those that read its result
  int output() const { return operators.back().result; }
};

// Operator `op` makes `made` from the rows `read` of its operands, in their order: those of its windows
// that exist.
struct Turn {
  int op;
  RowRange made;
  std::vector<RowRange> read;
};

// Rows of a line buffer that stay, from where they are to its beginning.
struct Move {
  int tensor;
  int64_t from, count;
};

struct RowTile {
  std::vector<Move> moves;  // before the turns
  std::vector<Turn> turns;
  std::vector<int64_t>
      base;  // per tensor: the row at the beginning of its line buffer; 0 elsewhere
};

struct RowTiles {
  std::vector<RowTile> list;
  std::vector<int64_t> line_rows;  // per tensor; 0 for inputs and the output
};

// Each tile makes `step` rows of the output, the last one the rest; tiles before the first fill the
// line buffers. None when the operators' rates do not agree or are not whole (upscale), a window sees no row at all, or a
// result of the chain is used by nobody.
std::optional<RowTiles> make_tiles(const Chain& chain, int64_t step);

// The output may begin this many bytes before input `tensor` without overwriting what is still to
// be read: see tir::Overlap. Rows have the given sizes.
int64_t overlap_distance(const Chain& chain, const RowTiles& tiles, int tensor,
                         int64_t input_row_bytes, int64_t output_row_bytes);

}  // namespace intarsia::row_tiling
