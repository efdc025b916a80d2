#include "row_tiling/row_tile_geometry.h"

#include <algorithm>
#include <limits>

namespace intarsia::row_tiling {

namespace {

// After tile s, rate * (s + 1) + lead rows of a tensor are made, as many of them as exist.
struct Progress {
  int64_t rate = 0, lead = 0;
  bool known = false;

  int64_t rows_after(int64_t tile, int64_t rows) const {
    return std::clamp<int64_t>(rate * (tile + 1) + lead, 0, rows);
  }
};

// What the results must have made so that all who read them find their rows.
std::optional<std::vector<Progress>> progress_of(const Chain& chain, int64_t step) {
  std::vector<Progress> all(chain.rows.size());
  all[static_cast<size_t>(chain.output())] = {step, 0, true};
  std::vector<bool> is_result(chain.rows.size(), false);
  for (const Operator& op : chain.operators) is_result[static_cast<size_t>(op.result)] = true;
  for (auto op = chain.operators.rbegin(); op != chain.operators.rend(); ++op) {
    const Progress reader = all[static_cast<size_t>(op->result)];
    if (!reader.known) return std::nullopt;
    for (const auto& [tensor, w] : op->operands) {
      if (!is_result[static_cast<size_t>(tensor)]) continue;
      if (w.upscale != 1) return std::nullopt;  // no whole rate
      Progress& made = all[static_cast<size_t>(tensor)];
      const int64_t rate = reader.rate * w.stride;
      const int64_t lead = reader.lead * w.stride + w.extent() - w.stride - w.pad;
      if (made.known && made.rate != rate) return std::nullopt;
      made = {rate, made.known ? std::max(made.lead, lead) : lead, true};
    }
  }
  return all;
}

class RowTileMaker {
 public:
  RowTileMaker(const Chain& chain, const std::vector<Progress>& progress)
      : chain_(chain),
        progress_(progress),
        made_(chain.rows.size(), 0),
        base_(chain.rows.size(), 0) {
    tiles_.line_rows.assign(chain.rows.size(), 0);
    is_line_.assign(chain.rows.size(), false);
    for (const Operator& op : chain.operators) is_line_[static_cast<size_t>(op.result)] = true;
    is_line_[static_cast<size_t>(chain.output())] = false;
  }

  std::optional<RowTiles> run() {
    const auto out = static_cast<size_t>(chain_.output());
    int64_t first = 0;
    for (size_t t = 0; t < progress_.size(); ++t)
      if (is_line_[t] && progress_[t].lead > 0)
        first = std::max(first, (progress_[t].lead + progress_[t].rate - 1) / progress_[t].rate);
    for (int64_t s = -first; made_[out] < chain_.rows[out]; ++s)
      if (!tile(s)) return std::nullopt;
    return std::move(tiles_);
  }

 private:
  bool tile(int64_t s) {
    RowTile tile;
    for (size_t t = 0; t < made_.size(); ++t)
      if (is_line_[t]) keep(static_cast<int>(t), tile);
    tile.base = base_;
    for (size_t o = 0; o < chain_.operators.size(); ++o) {
      const Operator& op = chain_.operators[o];
      const auto result = static_cast<size_t>(op.result);
      const RowRange made{made_[result], progress_[result].rows_after(s, chain_.rows[result])};
      if (made.count() <= 0) continue;
      Turn turn{static_cast<int>(o), made, {}};
      for (const auto& [tensor, window] : op.operands) {
        turn.read.push_back(
            clipped(rows_of_window(window, made), chain_.rows[static_cast<size_t>(tensor)]));
        if (turn.read.back().count() <= 0) return false;
      }
      tile.turns.push_back(std::move(turn));
      made_[result] = made.end;
      if (is_line_[result])
        tiles_.line_rows[result] = std::max(tiles_.line_rows[result], made.end - base_[result]);
    }
    if (!tile.turns.empty() || !tile.moves.empty()) tiles_.list.push_back(std::move(tile));
    return true;
  }

  // Lets the rows go that nobody reads from now on.
  void keep(int tensor, RowTile& tile) {
    const auto t = static_cast<size_t>(tensor);
    int64_t needed = made_[t];
    for (const Operator& op : chain_.operators) {
      const int64_t next = made_[static_cast<size_t>(op.result)];
      if (next == chain_.rows[static_cast<size_t>(op.result)]) continue;
      for (const Operand& operand : op.operands)
        if (operand.tensor == tensor)
          needed = std::min(
              needed, std::max<int64_t>(0, rows_of_window(operand.window, {next, next + 1}).first));
    }
    const int64_t shift = needed - base_[t], count = made_[t] - needed;
    if (shift > 0 && count > 0) tile.moves.push_back({tensor, shift, count});
    base_[t] = needed;
  }

  const Chain& chain_;
  const std::vector<Progress>& progress_;
  std::vector<int64_t> made_, base_;
  std::vector<bool> is_line_;
  RowTiles tiles_;
};

}  // namespace

std::optional<RowTiles> make_tiles(const Chain& chain, int64_t step) {
  const std::optional<std::vector<Progress>> progress = progress_of(chain, step);
  if (!progress) return std::nullopt;
  return RowTileMaker(chain, *progress).run();
}

int64_t overlap_distance(const Chain& chain, const RowTiles& tiles, int tensor,
                         int64_t input_row_bytes, int64_t output_row_bytes) {
  int64_t first_read = std::numeric_limits<int64_t>::max();  // of the turns from here on, in rows
  int64_t distance = 0;
  for (auto tile = tiles.list.rbegin(); tile != tiles.list.rend(); ++tile)
    for (auto turn = tile->turns.rbegin(); turn != tile->turns.rend(); ++turn) {
      const Operator& op = chain.operators[static_cast<size_t>(turn->op)];
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (op.operands[i].tensor == tensor) first_read = std::min(first_read, turn->read[i].first);
      if (op.result == chain.output() && first_read != std::numeric_limits<int64_t>::max())
        distance =
            std::max(distance, turn->made.end * output_row_bytes - first_read * input_row_bytes);
    }
  return distance;
}

}  // namespace intarsia::row_tiling
