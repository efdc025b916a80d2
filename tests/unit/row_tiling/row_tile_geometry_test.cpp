// Random chains, run by row tiles on line buffers of numbers, against the same run operator by operator.
#include "row_tiling/row_tile_geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/random_operator.h"

namespace intarsia::row_tiling {
namespace {

using testing::Random;

Chain line_of(std::vector<int64_t> rows, std::vector<RowWindow> windows) {
  Chain chain{std::move(rows), {}};
  for (size_t i = 0; i < windows.size(); ++i)
    chain.operators.push_back({{{static_cast<int>(i), windows[i]}}, static_cast<int>(i) + 1});
  return chain;
}

// A row's value tells how it came about: the operator and the rows of its window, in their places.
using Rows = std::vector<uint64_t>;

uint64_t mixed(uint64_t state, uint64_t value) {
  return (state ^ value) * 0x9E3779B97F4A7C15u + (state >> 29);
}

uint64_t row_of(int op, const std::vector<Operand>& operands, int64_t y,
                const std::vector<const Rows*>& rows, const std::vector<RowRange>& seen) {
  uint64_t value = mixed(static_cast<uint64_t>(op) + 1, static_cast<uint64_t>(operands.size()));
  for (size_t i = 0; i < operands.size(); ++i) {
    const RowWindow& w = operands[i].window;
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t at = y * w.stride - w.pad + k * w.dilation;
      const bool inside = at >= seen[i].first && at < seen[i].end;
      value = mixed(value, inside ? rows[i]->at(static_cast<size_t>(at - seen[i].first)) : 7);
    }
  }
  return value;
}

std::vector<Rows> inputs_of(const Chain& chain) {
  std::vector<Rows> values(chain.rows.size());
  for (size_t t = 0; t < values.size(); ++t)
    for (int64_t y = 0; y < chain.rows[t]; ++y)
      values[t].push_back(mixed(t + 100, static_cast<uint64_t>(y)));
  return values;
}

Rows operator_by_operator(const Chain& chain) {
  std::vector<Rows> values = inputs_of(chain);
  for (size_t o = 0; o < chain.operators.size(); ++o) {
    const Operator& op = chain.operators[o];
    std::vector<const Rows*> rows;
    std::vector<RowRange> whole;
    for (const Operand& operand : op.operands) {
      rows.push_back(&values[static_cast<size_t>(operand.tensor)]);
      whole.push_back({0, chain.rows[static_cast<size_t>(operand.tensor)]});
    }
    Rows made;
    for (int64_t y = 0; y < chain.rows[static_cast<size_t>(op.result)]; ++y)
      made.push_back(row_of(static_cast<int>(o), op.operands, y, rows, whole));
    values[static_cast<size_t>(op.result)] = made;
  }
  return values[static_cast<size_t>(chain.output())];
}

// Only what turns say they read and what line buffers hold; the number of rows made is returned as well.
Rows by_tiles(const Chain& chain, const RowTiles& tiles, std::vector<int64_t>& made) {
  std::vector<Rows> values = inputs_of(chain);
  made.assign(chain.rows.size(), 0);
  for (const Operator& op : chain.operators) {
    const auto result = static_cast<size_t>(op.result);
    const int64_t rows = op.result == chain.output() ? chain.rows[result] : tiles.line_rows[result];
    values[result].assign(static_cast<size_t>(rows), 0);
  }
  for (const RowTile& tile : tiles.list) {
    for (const Move& move : tile.moves) {
      Rows& line = values[static_cast<size_t>(move.tensor)];
      for (int64_t i = 0; i < move.count; ++i)
        line.at(static_cast<size_t>(i)) = line.at(static_cast<size_t>(move.from + i));
    }
    for (const Turn& turn : tile.turns) {
      const Operator& op = chain.operators[static_cast<size_t>(turn.op)];
      std::vector<Rows> seen;
      std::vector<const Rows*> pointers;
      for (size_t i = 0; i < op.operands.size(); ++i) {
        const auto tensor = static_cast<size_t>(op.operands[i].tensor);
        Rows rows;
        for (int64_t y = turn.read[i].first; y < turn.read[i].end; ++y)
          rows.push_back(values[tensor].at(static_cast<size_t>(y - tile.base[tensor])));
        seen.push_back(std::move(rows));
      }
      for (const Rows& rows : seen) pointers.push_back(&rows);
      for (int64_t y = turn.made.first; y < turn.made.end; ++y) {
        const auto result = static_cast<size_t>(op.result);
        values[result].at(static_cast<size_t>(y - tile.base[result])) =
            row_of(turn.op, op.operands, y, pointers, turn.read);
      }
      made[static_cast<size_t>(op.result)] += turn.made.count();
    }
  }
  return values[static_cast<size_t>(chain.output())];
}

// A chain with windows of all kinds; sometimes with a second way around a part of it that ends in a sum.
Chain random_chain(Random& r) {
  Chain chain{{r.range(3, 40)}, {}};
  const int64_t count = r.range(1, 6);
  int now = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t rows = chain.rows[static_cast<size_t>(now)];
    RowWindow w{r.range(1, 5), r.range(1, 3), r.chance(20) ? 2 : 1, 0};
    const int64_t reach = (w.kernel - 1) * w.dilation + 1;
    w.pad = r.range(0, reach - 1);
    const int64_t after = r.range(0, reach - 1), padded = rows + w.pad + after;
    if (padded < reach) continue;
    chain.rows.push_back((padded - reach) / w.stride + 1);
    const int made = static_cast<int>(chain.rows.size()) - 1;
    chain.operators.push_back({{{now, w}}, made});
    if (chain.rows.back() == rows && w.stride == 1 && r.chance(60)) {  // x + f(x)
      chain.rows.push_back(rows);
      chain.operators.push_back({{{now, {}}, {made, {}}}, made + 1});
    }
    now = static_cast<int>(chain.rows.size()) - 1;
  }
  return chain;
}

TEST(RowTileGeometry, RandomChainsMakeTheSameRowsOnce) {
  int tiled = 0, sums = 0, moved = 0;
  for (uint32_t seed = 1; seed <= 4000; ++seed) {
    Random r(seed);
    const Chain chain = random_chain(r);
    if (chain.operators.empty()) continue;
    const int64_t rows = chain.rows[static_cast<size_t>(chain.output())];
    const int64_t step = r.range(1, rows);
    const std::optional<RowTiles> tiles = make_tiles(chain, step);
    if (!tiles) continue;
    std::vector<int64_t> made;
    ASSERT_EQ(by_tiles(chain, *tiles, made), operator_by_operator(chain)) << "seed " << seed;
    for (const Operator& op : chain.operators) {
      const auto t = static_cast<size_t>(op.result);
      ASSERT_LE(made[t], chain.rows[t]) << "seed " << seed << ": rows are made twice";
      ASSERT_LE(tiles->line_rows[t], chain.rows[t]) << "seed " << seed;
    }
    ++tiled;
    for (const Operator& op : chain.operators) sums += op.operands.size() > 1;
    for (const RowTile& tile : tiles->list) moved += !tile.moves.empty();
  }
  EXPECT_GT(tiled, 3000);
  EXPECT_GT(sums, 300);
  EXPECT_GT(moved, 3000);
}

// Bytes of one memory, the output `distance` before the input: safe at the distance, not one byte closer.
TEST(RowTileGeometry, OverlapDistanceIsExact) {
  int overlapping = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    Random r(seed);
    const Chain chain = random_chain(r);
    if (chain.operators.empty()) continue;
    const std::optional<RowTiles> tiles =
        make_tiles(chain, r.range(1, chain.rows[static_cast<size_t>(chain.output())]));
    if (!tiles) continue;
    const int64_t in_row = r.range(1, 9), out_row = r.range(1, 9);
    const int64_t distance = overlap_distance(chain, *tiles, 0, in_row, out_row);
    const auto is_safe = [&](int64_t apart) {
      std::vector<bool> destroyed(static_cast<size_t>(chain.rows[0] * in_row), false);
      for (const RowTile& tile : tiles->list)
        for (const Turn& turn : tile.turns) {
          const Operator& op = chain.operators[static_cast<size_t>(turn.op)];
          if (op.result ==
              chain.output())  // before the reads of the turn: it may do both in any order
            for (int64_t b = turn.made.first * out_row - apart; b < turn.made.end * out_row - apart;
                 ++b)
              if (b >= 0 && b < std::ssize(destroyed)) destroyed[static_cast<size_t>(b)] = true;
          for (size_t i = 0; i < op.operands.size(); ++i)
            if (op.operands[i].tensor == 0)
              for (int64_t b = turn.read[i].first * in_row; b < turn.read[i].end * in_row; ++b)
                if (destroyed[static_cast<size_t>(b)]) return false;
        }
      return true;
    };
    ASSERT_TRUE(is_safe(distance)) << "seed " << seed;
    if (distance == 0) continue;
    ++overlapping;
    ASSERT_FALSE(is_safe(distance - 1)) << "seed " << seed;
  }
  EXPECT_GT(overlapping, 250);
}

TEST(RowTileGeometry, LinesHoldWindowsAndNoMore) {
  // 3 x 3 after 3 x 3, one row at a time: three rows between them, of which two stay.
  const Chain chain = line_of({16, 16, 16}, {{3, 1, 1, 1}, {3, 1, 1, 1}});
  const std::optional<RowTiles> tiles = make_tiles(chain, 1);
  ASSERT_TRUE(tiles.has_value());
  EXPECT_EQ(tiles->line_rows, (std::vector<int64_t>{0, 3, 0}));
  // A pointwise operator needs the rows of one tile.
  const std::optional<RowTiles> tall = make_tiles(line_of({16, 16, 16}, {{3, 1, 1, 1}, {}}), 4);
  ASSERT_TRUE(tall.has_value());
  EXPECT_EQ(tall->line_rows, (std::vector<int64_t>{0, 4, 0}));
  // In place with rows of one size: the window's reach behind its first row.
  EXPECT_EQ(overlap_distance(line_of({16, 16}, {{3, 1, 1, 1}}),
                             *make_tiles(line_of({16, 16}, {{3, 1, 1, 1}}), 1), 0, 8, 8),
            16);
}

// Between two operators a line holds what the second one reads at once, and what is made beyond that while
// the first tiles fill it.
TEST(RowTileGeometry, LinesAreAsLongAsTheLargestWindow) {
  int lines = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    Random r(seed);
    const auto window = [&] {
      RowWindow w{r.range(1, 5), r.range(1, 3), 1, 0};
      w.stride = std::min(w.stride, w.kernel);  // every row is read
      return w;
    };
    const RowWindow first = window(), second = window();
    const int64_t between = r.range(second.kernel, 30);
    const int64_t out = (between - second.kernel) / second.stride + 1;
    const Chain chain =
        line_of({(between - 1) * first.stride + first.kernel, between, out}, {first, second});
    const int64_t step = r.range(1, out);
    const std::optional<RowTiles> tiles = make_tiles(chain, step);
    ASSERT_TRUE(tiles.has_value()) << "seed " << seed;
    int64_t most = 0;
    for (const RowTile& tile : tiles->list)
      for (const Turn& turn : tile.turns)
        if (turn.op == 1) most = std::max(most, turn.read[0].count());
    const int64_t unread = between - ((out - 1) * second.stride + second.kernel);
    EXPECT_GE(tiles->line_rows[1], most) << "seed " << seed;
    EXPECT_LE(tiles->line_rows[1], most + unread) << "seed " << seed;
    lines += most < between;
  }
  EXPECT_GT(lines, 1000);
}

TEST(RowTileGeometry, RefusesWhatHasNoCommonRate) {
  // x -> pool of two rows -> ..., and x itself, in one sum: rows do not even agree in number there, so the
  // rates of the two ways differ.
  Chain chain{{8, 8, 4, 4}, {}};
  chain.operators = {{{{0, {}}}, 1}, {{{1, {2, 2, 1, 0}}}, 2}, {{{1, {}}, {2, {}}}, 3}};
  EXPECT_FALSE(make_tiles(chain, 1).has_value());
}

// A row of the result is half a row of the operand: no whole number of rows a tile.
TEST(RowTileGeometry, RowsThatAreRepeatedHaveNoTiles) {
  EXPECT_TRUE(make_tiles(line_of({8, 8, 8}, {{}, {}}), 4));
  EXPECT_FALSE(make_tiles(line_of({8, 8, 16}, {{}, {1, 1, 1, 0, 2}}), 4));
}

}  // namespace
}  // namespace intarsia::row_tiling
