#include "intarsia/npu/cascade_order.h"

#include <algorithm>
#include <limits>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::npu {
namespace {

constexpr int64_t kNever = -1, kNotYet = std::numeric_limits<int64_t>::max();
constexpr size_t kNobody = std::numeric_limits<size_t>::max();

class Orderer {
 public:
  Orderer(const CascadeProblem& problem, size_t most_steps)
      : problem_(problem), most_steps_(most_steps), maps_(problem.maps.size()) {
    for (size_t m = 0; m < maps_.size(); ++m) {
      const auto slots =
          static_cast<size_t>(ceil_div(problem.maps[m].rows, problem.maps[m].slot_rows));
      maps_[m].written.assign(slots, kNotYet);
      maps_[m].read.assign(slots, kNever);
    }
    for (size_t o = 0; o < problem.operations.size(); ++o) {
      maps_[problem.operations[o].output].maker = o;
      for (const CascadeProblem::Input& input : problem.operations[o].inputs)
        ++maps_[input.map].readers;
    }
  }

  std::optional<CascadeOrder> run() {
    std::vector<size_t> ends;
    int64_t most = 0;
    for (size_t o = 0; o < problem_.operations.size(); ++o)
      if (maps_[problem_.operations[o].output].readers == 0) {
        INTARSIA_CHECK(problem_.operations[o].piece_rows > 0, "who is not asked has a pace");
        ends.push_back(o);
        most = std::max(most, pieces(o));
      }
    for (int64_t turn = 0; turn < most && !overflows_; ++turn)
      for (const size_t o : ends)
        make(o, ceil_div((turn + 1) * pieces(o), most) * problem_.operations[o].piece_rows);
    for (size_t o = 0; o < problem_.operations.size(); ++o)
      if (problem_.maps[problem_.operations[o].output].leaves) make(o, rows_made_by(o));
    if (overflows_) return std::nullopt;
    for (const Map& map : maps_) order_.ring_slots.push_back(ring_slots(map));
    return std::move(order_);
  }

 private:
  struct Map {
    size_t maker = kNobody;
    int32_t readers = 0;
    int64_t made = 0;    // rows
    int64_t loaded = 0;  // slots
    std::vector<int64_t> written,
        read;  // by slot: the first step that writes it, the last that needs it
  };

  int64_t rows_made_by(size_t o) const { return problem_.maps[problem_.operations[o].output].rows; }
  int64_t pieces(size_t o) const {
    return ceil_div(rows_made_by(o), problem_.operations[o].piece_rows);
  }

  // What the operation reads for these rows, in whole slots.
  RowRange needed(const CascadeProblem::Input& input, const RowRange& made) const {
    const CascadeProblem::Map& map = problem_.maps[input.map];
    const RowRange rows = clipped(rows_of_window(input.window, made), map.rows);
    return {rows.first / map.slot_rows * map.slot_rows,
            std::min(round_up(rows.end, map.slot_rows), map.rows)};
  }

  // Output rows of the operation up to `end`, and before them what they need.
  void make(size_t o, int64_t end) {
    const CascadeProblem::Operation& operation = problem_.operations[o];
    Map& out = maps_[operation.output];
    end = std::min(end, rows_made_by(o));
    while (out.made < end && !overflows_) {
      const int64_t piece = operation.piece_rows > 0 ? operation.piece_rows : end - out.made;
      const RowRange rows = {out.made, std::min(out.made + piece, rows_made_by(o))};
      for (const CascadeProblem::Input& input : operation.inputs) {
        Map& map = maps_[input.map];
        if (map.maker == kNobody) continue;
        const RowRange from = needed(input, rows);
        if (map.readers == 1 && problem_.operations[map.maker].piece_rows == 0 &&
            !problem_.maps[input.map].leaves)
          map.made = std::max(map.made, from.first);  // what this passes over
        make(map.maker, from.end);
      }
      add_step(o, rows);
      out.made = rows.end;
    }
  }

  void add_step(size_t o, const RowRange& rows) {
    const CascadeProblem::Operation& operation = problem_.operations[o];
    overflows_ = overflows_ || order_.steps.size() >= most_steps_;
    if (overflows_) return;
    const auto now = static_cast<int64_t>(order_.steps.size());
    CascadeStep step{o, rows, {}};
    for (const CascadeProblem::Input& input : operation.inputs) {
      const CascadeProblem::Map& shape = problem_.maps[input.map];
      Map& map = maps_[input.map];
      const RowRange from = needed(input, rows);
      const int64_t slots = std::ssize(map.read), behind = ceil_div(from.end, shape.slot_rows);
      if (shape.loads)
        for (; map.loaded < std::min(slots, behind + shape.slots_ahead); ++map.loaded) {
          step.loads.push_back({input.map, map.loaded});
          map.written[static_cast<size_t>(map.loaded)] = now;
        }
      for (int64_t slot = from.first / shape.slot_rows; slot < behind; ++slot)
        map.read[static_cast<size_t>(slot)] = now;
    }
    // Until it has gone on, and in any case while it is written.
    const int64_t slot_rows = problem_.maps[operation.output].slot_rows;
    Map& out = maps_[operation.output];
    for (int64_t slot = rows.first / slot_rows; slot < ceil_div(rows.end, slot_rows); ++slot) {
      const auto at = static_cast<size_t>(slot);
      out.written[at] = std::min(out.written[at], now);
      out.read[at] = std::max(out.read[at], now);
    }
    order_.steps.push_back(std::move(step));
  }

  // Slots are written in order: of those that come while slot k is needed the last one decides.
  static int64_t ring_slots(const Map& map) {
    std::vector<int64_t> written, slots;  // without those that are never written
    for (size_t k = 0; k < map.written.size(); ++k)
      if (map.written[k] != kNotYet) {
        written.push_back(map.written[k]);
        slots.push_back(static_cast<int64_t>(k));
      }
    int64_t most = 1;
    for (size_t k = 0; k < map.read.size(); ++k) {
      const auto later = std::upper_bound(written.begin(), written.end(), map.read[k]);
      if (map.read[k] == kNever || later == written.begin()) continue;
      const int64_t last = slots[static_cast<size_t>(later - written.begin()) - 1];
      most = std::max(most, last - static_cast<int64_t>(k) + 1);
    }
    return most;
  }

  const CascadeProblem& problem_;
  size_t most_steps_;
  std::vector<Map> maps_;
  CascadeOrder order_;
  bool overflows_ = false;
};

}  // namespace

std::optional<CascadeOrder> order_cascade(const CascadeProblem& problem, size_t most_steps) {
  return Orderer(problem, most_steps).run();
}

}  // namespace intarsia::npu
