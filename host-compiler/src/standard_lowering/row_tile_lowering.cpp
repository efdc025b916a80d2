#include "standard_lowering/row_tile_lowering.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "support/c_identifier.h"

namespace intarsia::standard_lowering {

namespace {

using row_tiling::Move;
using row_tiling::RowTile;
using row_tiling::RowTiles;
using row_tiling::Turn;

constexpr int64_t kWord = 4;
constexpr size_t kLeastLoop = 3;  // tiles alike that make a loop: two are as short written out

// A call or a move, with the numbers that change from tile to tile.
struct Action {
  std::string kernel;  // empty: a move
  std::vector<BufferId> buffers;
  std::vector<int64_t> offsets;  // elements
  int64_t count = 0;             // of a move, elements

  bool same_but_offsets(const Action& other) const {
    return kernel == other.kernel && buffers == other.buffers && count == other.count;
  }
};
using Actions = std::vector<Action>;

// offsets(b) - offsets(a), one after the other; empty when they are not the same actions.
std::optional<std::vector<int64_t>> difference(const Actions& a, const Actions& b) {
  std::vector<int64_t> result;
  if (a.size() != b.size()) return std::nullopt;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].same_but_offsets(b[i]) || (a[i].kernel.empty() && a[i].offsets != b[i].offsets))
      return std::nullopt;
    for (size_t o = 0; o < a[i].offsets.size(); ++o)
      result.push_back(b[i].offsets[o] - a[i].offsets[o]);
  }
  return result;
}

class RowTileLowering {
 public:
  RowTileLowering(const graph::Module& module, const graph::Function& function,
                  const RowChain& chain, const ChooseKernel& kernel_for, ConstantPool& pool,
                  const RowTileNames& names)
      : module_(module),
        function_(function),
        chain_(chain),
        kernel_for_(kernel_for),
        pool_(pool),
        names_(names),
        builder_(names.unique(names.hint)),
        buffers_(chain.tensors.size()) {}

  TiledFunctions run(const RowTiles& tiles) {
    declare(tiles);
    std::vector<Actions> all;
    for (const RowTile& tile : tiles.list) all.push_back(actions_of(tile));
    result_.tiled = builder_.finish(tir::seq(statements(all)));
    describe_function(tiles);
    return std::move(result_);
  }

 private:
  const graph::Tensor& tensor(int index) const { return chain_.tensor(function_, index); }
  int64_t row_elements(int index) const {
    return element_count(tensor(index).shape) / tensor(index).shape[1];
  }
  bool is_whole(int index) const {
    return index == chain_.chain.output() ||
           std::find(chain_.inputs.begin(), chain_.inputs.end(), index) != chain_.inputs.end();
  }

  void declare(const RowTiles& tiles) {
    for (size_t i = 0; i < chain_.inputs.size(); ++i) {
      const int input = chain_.inputs[i];
      const std::string name = chain_.inputs.size() == 1 ? "input" : fmt::format("input{}", i);
      buffers_[static_cast<size_t>(input)] = builder_.parameter(
          name, tensor(input).type, tensor(input).shape, tir::Access::Read, kWord);
    }
    const int output = chain_.chain.output();
    buffers_[static_cast<size_t>(output)] = builder_.parameter(
        "output", tensor(output).type, tensor(output).shape, tir::Access::Write, kWord);
    for (const row_tiling::Operator& op : chain_.chain.operators) {
      if (op.result == output) continue;
      const auto index = static_cast<size_t>(op.result);
      Shape shape = tensor(op.result).shape;
      shape[1] = tiles.line_rows[index];
      const graph::Node& node =
          *chain_.nodes[static_cast<size_t>(&op - chain_.chain.operators.data())];
      buffers_[index] = builder_.local("rows_of_" + c_identifier(node.name, "f"),
                                       tensor(op.result).type, shape, kWord);
    }
  }

  Actions actions_of(const RowTile& tile) {
    Actions actions;
    for (const Move& move : tile.moves) {
      const int64_t row = row_elements(move.tensor);
      actions.push_back(
          {{}, {buffers_[static_cast<size_t>(move.tensor)]}, {move.from * row}, move.count * row});
    }
    for (const Turn& turn : tile.turns) {
      const row_tiling::Operator& op = chain_.chain.operators[static_cast<size_t>(turn.op)];
      const Kernel& kernel = kernel_of(turn);
      Action action{kernel.name, {}, {}};
      const auto add = [&](int index, int64_t row) {
        action.buffers.push_back(buffers_[static_cast<size_t>(index)]);
        action.offsets.push_back((row - tile.base[static_cast<size_t>(index)]) *
                                 row_elements(index));
      };
      for (const int operand : kernel.operands) {
        if (operand < 0)
          add(op.result, turn.made.first);
        else
          add(op.operands[static_cast<size_t>(operand)].tensor,
              turn.read[static_cast<size_t>(operand)].first);
      }
      actions.push_back(std::move(action));
    }
    return actions;
  }

  struct Kernel {
    std::string name;
    std::vector<int> operands;  // of the chain's operator, per parameter; -1: the result
  };

  // Rows that lie alike are the work of one kernel.
  const Kernel& kernel_of(const Turn& turn) {
    const row_tiling::Operator& op = chain_.chain.operators[static_cast<size_t>(turn.op)];
    const RowsOperator rows = rows_operator(function_, chain_, turn);
    std::vector<int64_t> key{turn.op, turn.made.count()};
    for (const row_tiling::RowRange& range : turn.read) key.push_back(range.count());
    const row_tiling::RowWindow& w = op.operands.front().window;
    key.push_back(std::max<int64_t>(0, w.pad - turn.made.first * w.stride));
    const auto [place, fresh] = kernels_.try_emplace(std::move(key));
    if (!fresh) return place->second;

    const graph::Node& node = rows.node();
    const OpView view{module_, rows.function, node};
    place->second.name =
        names_.unique(fmt::format("{}_{}_rows", c_identifier(node.name, "f"), turn.made.count()));
    OpLowering lowering(view, place->second.name, pool_);
    Stmt body = kernel_for_(view)(lowering);
    tir::Func kernel = lowering.b.finish(std::move(body));
    kernel.origin =
        fmt::format("{}, {} of {} rows: {}", node.name, turn.made.count(),
                    chain_.chain.rows[static_cast<size_t>(op.result)], view.signature());
    kernel.node = node.name;
    kernel.macs = graph::mac_count(rows.function, node);
    kernel.in_place.clear();  // rows are apart from each other
    for (const graph::TensorId id : lowering.parameters()) {
      int operand = -1;
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (node.inputs[chain_.places[static_cast<size_t>(turn.op)][i]] == id)
          operand = static_cast<int>(i);
      place->second.operands.push_back(operand);
    }
    result_.kernels.push_back(std::move(kernel));
    return place->second;
  }

  // Runs of tiles that differ by the same steps become loops.
  std::vector<Stmt> statements(const std::vector<Actions>& all) {
    std::vector<Stmt> list;
    for (size_t first = 0; first < all.size();) {
      size_t end = first + 1;
      std::vector<int64_t> steps(offset_count(all[first]), 0);
      if (end < all.size())
        if (const auto between = difference(all[first], all[end])) {
          while (end < all.size() && difference(all[end - 1], all[end]) == between) ++end;
          steps = *between;
        }
      if (end - first < kLeastLoop) end = first + 1;
      const auto count = static_cast<int64_t>(end - first);
      const Stmt part = builder_.loop("tile", count, [&](const Expr& tile) {
        return tir::seq(written_out(all[first], steps, tile));
      });
      list.push_back(tir::with_comment(count == 1 ? fmt::format("tile {}", first)
                                                  : fmt::format("tiles {} to {}", first, end - 1),
                                       part));
      first = end;
    }
    return list;
  }

  static size_t offset_count(const Actions& actions) {
    size_t count = 0;
    for (const Action& action : actions) count += action.offsets.size();
    return count;
  }

  std::vector<Stmt> written_out(const Actions& actions, const std::vector<int64_t>& steps,
                                const Expr& tile) {
    std::vector<Stmt> list;
    size_t at = 0;
    for (const Action& action : actions) {
      std::vector<Expr> offsets;
      for (const int64_t offset : action.offsets) offsets.push_back(tile * steps[at++] + offset);
      if (!action.kernel.empty()) {
        list.push_back(tir::call_func(action.kernel, action.buffers, std::move(offsets)));
        continue;
      }
      const tir::Buffer& line = builder_.func().buffer(action.buffers[0]);
      const int64_t row = element_count(line.extents) / line.extents[1];
      const Expr zero = tir::int_imm(0);
      const auto run = [&](int64_t first_row, tir::Access access) {
        return tir::BufferRun{
            action.buffers[0], {zero, tir::int_imm(first_row), zero, zero}, action.count, access};
      };
      list.push_back(tir::intrinsic(
          "intarsia_move_back",
          {run(0, tir::Access::Write), run(action.offsets[0] / row, tir::Access::Read),
           tir::int_imm(action.count * bits(line.type) / 8)}));
    }
    return list;
  }

  void describe_function(const RowTiles& tiles) {
    tir::Func& func = result_.tiled;
    std::string nodes;
    for (const graph::Node* node : chain_.nodes) {
      nodes += (nodes.empty() ? "" : ", ") + node->name;
      func.macs += graph::mac_count(function_, *node);
    }
    const int64_t step =
        tiles.list.size() < 2 ? 0 : tiles.list[tiles.list.size() - 2].turns.back().made.count();
    const int output = chain_.chain.output();
    func.origin =
        fmt::format("{}: {} rows in {} tiles of {}, line buffers of {} bytes, {} bytes moved",
                    nodes, chain_.chain.rows[static_cast<size_t>(output)], tiles.list.size(), step,
                    line_bytes(function_, chain_, tiles), moved_bytes(function_, chain_, tiles));
    func.node = nodes;
    func.tiled = true;
    for (size_t i = 0; i < chain_.inputs.size(); ++i)
      func.overlaps.push_back({static_cast<int32_t>(i), static_cast<int32_t>(chain_.inputs.size()),
                               overlap_bytes(function_, chain_, tiles, chain_.inputs[i])});
  }

  const graph::Module& module_;
  const graph::Function& function_;
  const RowChain& chain_;
  const ChooseKernel& kernel_for_;
  ConstantPool& pool_;
  const RowTileNames& names_;
  FuncBuilder builder_;
  std::vector<BufferId> buffers_;  // by tensor of the chain
  std::map<std::vector<int64_t>, Kernel> kernels_;
  TiledFunctions result_;
};

}  // namespace

bool cuts_at_words(const graph::Function& function, const RowChain& chain, const RowTiles& tiles) {
  const auto at_word = [&](int tensor, int64_t row) {
    return row * row_bytes(chain.tensor(function, tensor)) % kWord == 0;
  };
  for (const RowTile& tile : tiles.list) {
    for (const Move& move : tile.moves)
      if (!at_word(move.tensor, move.from) || !at_word(move.tensor, move.count)) return false;
    for (const Turn& turn : tile.turns) {
      const row_tiling::Operator& op = chain.chain.operators[static_cast<size_t>(turn.op)];
      if (!at_word(op.result, turn.made.first - tile.base[static_cast<size_t>(op.result)]))
        return false;
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (!at_word(op.operands[i].tensor,
                     turn.read[i].first - tile.base[static_cast<size_t>(op.operands[i].tensor)]))
          return false;
    }
  }
  return true;
}

int64_t line_bytes(const graph::Function& function, const RowChain& chain, const RowTiles& tiles) {
  int64_t bytes = 0;
  for (size_t t = 0; t < tiles.line_rows.size(); ++t)
    if (tiles.line_rows[t] > 0)
      bytes += (tiles.line_rows[t] * row_bytes(chain.tensor(function, static_cast<int>(t))) +
                kWord - 1) /
               kWord * kWord;
  return bytes;
}

int64_t moved_bytes(const graph::Function& function, const RowChain& chain, const RowTiles& tiles) {
  int64_t bytes = 0;
  for (const RowTile& tile : tiles.list)
    for (const Move& move : tile.moves)
      bytes += move.count * row_bytes(chain.tensor(function, move.tensor));
  return bytes;
}

int64_t overlap_bytes(const graph::Function& function, const RowChain& chain, const RowTiles& tiles,
                      int input) {
  return row_tiling::overlap_distance(chain.chain, tiles, input,
                                      row_bytes(chain.tensor(function, input)),
                                      row_bytes(chain.tensor(function, chain.chain.output())));
}

TiledFunctions lower_tiles(const graph::Module& module, const graph::Function& function,
                           const RowChain& chain, const RowTiles& tiles,
                           const ChooseKernel& kernel_for, ConstantPool& pool,
                           const RowTileNames& names) {
  return RowTileLowering(module, function, chain, kernel_for, pool, names).run(tiles);
}

}  // namespace intarsia::standard_lowering
