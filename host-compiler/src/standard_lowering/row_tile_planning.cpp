#include "standard_lowering/row_tile_planning.h"

#include <algorithm>
#include <map>

#include "intarsia/plugin/rounding.h"
#include "standard_lowering/row_chain.h"
#include "standard_lowering/row_tile_lowering.h"

namespace intarsia::standard_lowering {

namespace {

using row_tiling::Option;
using row_tiling::RowTiles;
using row_tiling::Turn;

constexpr int kMostOperators = 8;  // of one chain: more line buffers than that save nothing
// What things cost, in instructions of a small core, roughly: to rank the ways that fit.
constexpr int64_t kTurn = 150, kTurnPerChannel = 10;
constexpr int64_t kRowAgain = 1;  // per byte of input rows that another tile has read too
constexpr int64_t kMovedNum = 3, kMovedDen = 4;  // per byte

// The life of a tensor's bytes, reshapes included: nodes from the one that makes it to its last reader.
struct Life {
  int64_t bytes = 0;
  int first = 0, last = -1;
  bool is_output = false;
};

struct KernelFacts {
  int64_t scratch = 0;
  std::vector<graph::TensorId> replaceable;  // inputs whose place the output may take
};

class Planner {
 public:
  Planner(const graph::Module& module, const graph::Function& function,
          const ChooseKernel& kernel_for)
      : module_(module),
        function_(function),
        kernel_for_(kernel_for),
        root_(function.tensors.size()) {
    find_lives();
  }

  std::vector<Option> run(int64_t budget) {
    const int count = static_cast<int>(function_.nodes.size());
    std::vector<Option> options;
    for (int n = 0; n < count; ++n) options.push_back(whole(n));
    // The inputs are there before anything runs: no tiles change that.
    budget = std::max(budget, alive(0, 0, [&](int root) { return lives_.at(root).first < 0; }));
    std::vector<bool> too_large;
    for (const Option& option : options)
      too_large.push_back(
          (option.distance < 0 ? option.bytes_apart(0) : option.bytes_overlapping(0)) > budget);
    for (int first = 0; first < count; ++first) {
      bool needed = false;
      for (int last = first; last < std::min(count, first + kMostOperators); ++last) {
        needed |= too_large[static_cast<size_t>(last)];
        if (needed) add_chain(first, last, options);
      }
    }
    return row_tiling::choose_options(count, options, budget);
  }

 private:
  void find_lives() {
    for (size_t t = 0; t < root_.size(); ++t) root_[t] = static_cast<int>(t);
    const auto is_moved = [&](graph::TensorId id) {
      return id.valid() && !function_.tensor(id).constant.valid();
    };
    for (const graph::Node& node : function_.nodes)
      if (node.kind == graph::OpKind::Reshape && is_moved(node.inputs[0]))
        root_[node.outputs[0].at()] = root_[node.inputs[0].at()];
    for (const graph::TensorId id : function_.inputs)
      lives_[root(id)] = {function_.tensor(id).bytes(), -1, 0};
    const int count = static_cast<int>(function_.nodes.size());
    for (int n = 0; n < count; ++n) {
      const graph::Node& node = function_.nodes[static_cast<size_t>(n)];
      for (const graph::TensorId id : node.inputs)
        if (is_moved(id)) live(id, n).last = n;
      for (const graph::TensorId id : node.outputs)
        live(id, n).last = std::max(live(id, n).last, n);
    }
    for (const graph::TensorId id : function_.outputs)
      if (is_moved(id)) live(id, 0).last = count, live(id, 0).is_output = true;
    for (size_t t = 0; t < function_.tensors.size(); ++t)
      if (function_.tensors[t].variable)  // state lives always
        lives_[root_[t]] = {function_.tensors[t].bytes(), -1, count, true};
  }

  Life& live(graph::TensorId id, int now) {
    return lives_.try_emplace(root(id), Life{function_.tensor(id).bytes(), now, now}).first->second;
  }
  int root(graph::TensorId id) const { return root_[id.at()]; }

  // Bytes of what lives at nodes first .. last, if `counts`.
  template <typename Counts>
  int64_t alive(int first, int last, Counts&& counts) const {
    int64_t bytes = 0;
    for (const auto& [tensor, life] : lives_)
      if (life.first <= last && life.last >= first && counts(tensor)) bytes += life.bytes;
    return bytes;
  }

  KernelFacts facts_of(const graph::Function& function, const graph::Node& node) const {
    const OpView view{module_, function, node};
    tir::Module scrap;
    ConstantPool pool(module_, scrap);
    OpLowering lowering(view, "kernel", pool);
    Stmt body = kernel_for_(view)(lowering);
    const tir::Func kernel = lowering.b.finish(std::move(body));
    KernelFacts facts;
    for (const tir::Buffer& buffer : kernel.buffers)
      if (buffer.scope == tir::Scope::Local) facts.scratch += buffer.bytes();
    for (const tir::InPlace& pair : kernel.in_place)
      facts.replaceable.push_back(lowering.parameters()[static_cast<size_t>(pair.input)]);
    return facts;
  }

  bool dies_in(graph::TensorId id, int first, int last) const {
    const Life& life = lives_.at(root(id));
    return !life.is_output && life.last >= first && life.last <= last;
  }

  Option whole(int n) {
    const graph::Node& node = function_.nodes[static_cast<size_t>(n)];
    Option option{n, n};
    option.beside = alive(n, n, [](int) { return true; });
    if (node.kind == graph::OpKind::Reshape) return option;
    const KernelFacts facts = facts_of(function_, node);
    option.scratch = facts.scratch;
    for (const graph::TensorId id : facts.replaceable)
      if (dies_in(id, n, n)) overlap(option, id, node.outputs[0], 0);
    if (option.distance < 0 && node.inputs.size() > 0 && node.inputs[0].valid() &&
        node.outputs.size() == 1 && !function_.tensor(node.inputs[0]).constant.valid() &&
        root(node.inputs[0]) != root(node.outputs[0]))
      apart(option, node.inputs[0], node.outputs[0]);
    return option;
  }

  // Takes the two out of what lives beside.
  void apart(Option& option, graph::TensorId input, graph::TensorId output) const {
    option.beside += option.input + option.output;
    option.input = function_.tensor(input).bytes();
    option.output = function_.tensor(output).bytes();
    option.beside -= option.input + option.output;
  }
  // If that saves more than the input it may overlap already.
  void overlap(Option& option, graph::TensorId input, graph::TensorId output,
               int64_t distance) const {
    Option other = option;
    apart(other, input, output);
    other.distance = distance;
    if (option.distance < 0 || other.bytes_overlapping(0) < option.bytes_overlapping(0))
      option = other;
  }

  void add_chain(int first, int last, std::vector<Option>& options) {
    const std::optional<RowChain> chain =
        make_row_chain(module_, function_, static_cast<size_t>(first), static_cast<size_t>(last));
    if (!chain) return;
    const int64_t rows = chain->chain.rows[static_cast<size_t>(chain->chain.output())];
    int64_t tiles_before = 0;
    for (int64_t step = 1; step < rows; ++step) {
      const int64_t tiles = ceil_div(rows, step);
      if (tiles == tiles_before) continue;  // the same number of tiles, but taller
      tiles_before = tiles;
      if (const auto made = row_tiling::make_tiles(chain->chain, step);
          made && cuts_at_words(function_, *chain, *made))
        options.push_back(tiled(first, last, step, *chain, *made));
    }
  }

  Option tiled(int first, int last, int64_t step, const RowChain& chain, const RowTiles& tiles) {
    const auto is_between = [&](int tensor) {
      return std::any_of(chain.nodes.begin(), chain.nodes.end() - 1,
                         [&](const graph::Node* node) { return root(node->outputs[0]) == tensor; });
    };
    Option option{first, last, step, cost_of(chain, tiles)};
    option.beside = alive(first, last, [&](int tensor) { return !is_between(tensor); });
    option.scratch = line_bytes(function_, chain, tiles) + scratch_of(chain, tiles);
    const graph::TensorId output = chain.tensors[static_cast<size_t>(chain.chain.output())];
    for (const int input : chain.inputs) {
      const graph::TensorId id = chain.tensors[static_cast<size_t>(input)];
      if (dies_in(id, first, last))
        overlap(option, id, output, overlap_bytes(function_, chain, tiles, input));
    }
    return option;
  }

  // Kernels take turns with one scratch. Tiles in the middle have the most rows.
  int64_t scratch_of(const RowChain& chain, const RowTiles& tiles) {
    int64_t most = 0;
    std::vector<const Turn*> largest(chain.nodes.size(), nullptr);
    for (const row_tiling::RowTile& tile : tiles.list)
      for (const Turn& turn : tile.turns) {
        const Turn*& known = largest[static_cast<size_t>(turn.op)];
        if (known == nullptr || turn.made.count() > known->made.count()) known = &turn;
      }
    for (const Turn* turn : largest) {
      const std::tuple key{chain.nodes[static_cast<size_t>(turn->op)], turn->made.count(),
                           turn->read.front().count()};
      const auto [place, fresh] = scratch_.try_emplace(key);
      if (fresh) {
        const RowsOperator rows = rows_operator(function_, chain, *turn);
        place->second = facts_of(rows.function, rows.node()).scratch;
      }
      most = std::max(most, place->second);
    }
    return most;
  }

  int64_t cost_of(const RowChain& chain, const RowTiles& tiles) const {
    int64_t cost = moved_bytes(function_, chain, tiles) * kMovedNum / kMovedDen;
    std::vector<int64_t> read_before(chain.nodes.size(), 0);
    for (const row_tiling::RowTile& tile : tiles.list)
      for (const Turn& turn : tile.turns) {
        const auto op = static_cast<size_t>(turn.op);
        const graph::Node& node = *chain.nodes[op];
        cost += kTurn + kTurnPerChannel * function_.tensor(node.outputs[0]).shape[3];
        if (node.kind == graph::OpKind::DepthwiseConv2d) {
          const int64_t again = std::max<int64_t>(0, read_before[op] - turn.read.front().first);
          cost +=
              again * kRowAgain *
              row_bytes(chain.tensor(function_, chain.chain.operators[op].operands.front().tensor));
        }
        read_before[op] = turn.read.front().end;
      }
    return cost;
  }

  const graph::Module& module_;
  const graph::Function& function_;
  const ChooseKernel& kernel_for_;
  std::vector<int> root_;
  std::map<int, Life> lives_;  // by root
  std::map<std::tuple<const graph::Node*, int64_t, int64_t>, int64_t> scratch_;
};

}  // namespace

std::vector<Option> plan_tiles(const graph::Module& module, const graph::Function& function,
                               const ChooseKernel& kernel_for, int64_t budget) {
  return Planner(module, function, kernel_for).run(budget);
}

}  // namespace intarsia::standard_lowering
