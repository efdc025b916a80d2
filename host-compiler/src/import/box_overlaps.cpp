#include "import/box_overlaps.h"

namespace intarsia::import {

using graph::OpKind;
using graph::TensorId;

TensorId overlaps(LoopFunction& f, const Boxes& boxes, TensorId place) {
  const auto best = [&](TensorId of, int64_t width) {
    return f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {of, place}, real_of({1, width}));
  };
  const Shape corners{boxes.count, 2}, column{boxes.count, 1};
  const TensorId low = f.plain(OpKind::Maximum, {boxes.low, best(boxes.low, 2)}, real_of(corners));
  const TensorId high =
      f.plain(OpKind::Minimum, {boxes.high, best(boxes.high, 2)}, real_of(corners));
  const TensorId zero = f.constant(known_real("zero", 0));
  const TensorId sides =
      f.plain(OpKind::Maximum, {f.arithmetic(OpKind::Sub, high, low, real_of(corners)), zero},
              real_of(corners));
  const TensorId shared =
      f.put(OpKind::ReduceProd, graph::ReduceAttrs{{1}, true}, {sides}, real_of(column));
  const TensorId area = best(boxes.areas, 1);
  const TensorId both = f.arithmetic(OpKind::Add, boxes.areas, area, real_of(column));
  const TensorId covered = f.arithmetic(OpKind::Sub, both, shared, real_of(column));
  const TensorId part = f.arithmetic(OpKind::Div, shared, covered, real_of(column));
  const TensorId smaller = f.plain(OpKind::Minimum, {boxes.areas, area}, real_of(column));
  const TensorId has_area = f.plain(OpKind::Greater, {smaller, zero}, truth_of(column));
  return f.put(OpKind::Reshape, graph::ReshapeAttrs{{boxes.count}},
               {f.plain(OpKind::Select, {has_area, part, zero}, real_of(column))},
               real_of({boxes.count}));
}

}  // namespace intarsia::import
