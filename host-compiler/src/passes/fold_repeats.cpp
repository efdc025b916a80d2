#include <bit>
#include <optional>

#include <fmt/format.h>

#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

// Each of `outer` blocks of `inner` elements stands `times` times, one behind the other.
struct Repeat {
  int64_t outer, times, inner;
};

// Of a tile along one axis, which has one element.
std::optional<Repeat> repeat_of(const Function& function, const Node& tile) {
  const Shape& shape = function.tensor(tile.inputs[0]).shape;
  const std::vector<int64_t>& multiples = tile.attrs<graph::TileAttrs>().multiples;
  std::optional<Repeat> found;
  int64_t outer = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (multiples[axis] != 1) {
      if (found || shape[axis] != 1) return std::nullopt;
      found = Repeat{outer, multiples[axis], 1};
    }
    (found ? found->inner : outer) *= shape[axis];
  }
  return found;
}

// A picture whose rows and pixels are repeated.
struct Enlargement {
  int64_t height, width, channels, by_y, by_x;
};

std::optional<Enlargement> enlargement_of(const Repeat& first, const Repeat& second) {
  if (first.inner % second.inner == 0 &&
      second.outer == first.outer * first.times * (first.inner / second.inner))
    return Enlargement{first.outer, first.inner / second.inner, second.inner, first.times,
                       second.times};
  const int64_t wide = first.times * first.inner;
  if (second.inner % wide == 0 && first.outer == second.outer * (second.inner / wide))
    return Enlargement{second.outer, second.inner / wide, first.inner, second.times, first.times};
  return std::nullopt;
}

// The nearest neighbour of a position that lies between two would depend on the rounding of a quotient: thirds are looked
// up at the centres of pixels, which are far from where one ends.
graph::ResizeAttrs resize_of(const Enlargement& e) {
  graph::ResizeAttrs attrs;
  attrs.height = e.height * e.by_y, attrs.width = e.width * e.by_x;
  attrs.half_pixel_centers = !std::has_single_bit(static_cast<uint64_t>(e.by_y)) ||
                             !std::has_single_bit(static_cast<uint64_t>(e.by_x));
  return attrs;
}

class RepeatFolder {
 public:
  explicit RepeatFolder(const EliminationJob& job) : job_(job), uses_(job.function()) {}

  bool run() {
    for (size_t n = 0; n < job_.function().nodes.size(); ++n)
      if (job_.function().nodes[n].kind == OpKind::Tile && fold(n)) return true;
    return false;
  }

 private:
  const Tensor& tensor(TensorId id) const { return job_.function().tensor(id); }

  // The tile whose result, in another shape at most, only this one reads.
  const Node* tile_before(const Node& second) const {
    TensorId made = second.inputs[0];
    while (true) {
      const int maker = uses_.producer(made);
      if (maker < 0 || uses_.is_output(made) || uses_.readers(made).size() != 1 ||
          tensor(made).variable)
        return nullptr;
      const Node& node = job_.function().nodes[static_cast<size_t>(maker)];
      if (job_.must_stay(node)) return nullptr;
      if (node.kind == OpKind::Tile) return &node;
      if (node.kind != OpKind::Reshape) return nullptr;
      made = node.inputs[0];
    }
  }

  bool fold(size_t n) const {
    Function& function = job_.function();
    const Node second = function.nodes[n];
    if (job_.must_stay(second)) return false;
    const Node* first = tile_before(second);
    if (first == nullptr) return false;
    const auto before = repeat_of(function, *first), behind = repeat_of(function, second);
    if (!before || !behind) return false;
    const std::optional<Enlargement> e = enlargement_of(*before, *behind);
    const TensorId x = first->inputs[0], y = second.outputs[0];
    if (!e || tensor(x).quantization != tensor(y).quantization || tensor(x).variable ||
        tensor(y).variable)
      return false;

    // reshape -> resize_nearest -> reshape, where the second tile was; the first one is unread from now on.
    Function folded = function;
    const auto picture_of = [&](TensorId like, int64_t height, int64_t width) {
      Tensor picture = tensor(like);
      picture.name += "_picture";
      picture.shape = {1, height, width, e->channels};
      picture.constant = {};
      return add_tensor(folded, std::move(picture));
    };
    const TensorId small = picture_of(x, e->height, e->width);
    const TensorId large = picture_of(y, e->height * e->by_y, e->width * e->by_x);
    Node into = second, resize = second, out_of = second;
    into.name = free_name(function, into.name + "_picture");
    out_of.name = free_name(function, out_of.name + "_shape");
    into.kind = out_of.kind = OpKind::Reshape;
    into.attributes = graph::ReshapeAttrs{folded.tensor(small).shape};
    out_of.attributes = graph::ReshapeAttrs{tensor(y).shape};
    resize.kind = OpKind::ResizeNearest;
    resize.attributes = resize_of(*e);
    into.inputs = {x}, into.outputs = resize.inputs = {small};
    resize.outputs = out_of.inputs = {large}, out_of.outputs = {y};
    const Result<std::vector<Shape>> shapes = graph::infer_shapes(job_.module, folded, resize);
    if (!shapes.ok() || shapes->at(0) != folded.tensor(large).shape) return false;
    job_.actions.push_back({"repeats", second.name,
                            fmt::format("became, with '{}', a resize_nearest by {} x {}",
                                        first->name, e->by_y, e->by_x),
                            "rows and pixels that are repeated are an enlarged picture"});
    folded.nodes[n] = std::move(resize);
    const auto at = folded.nodes.begin() + static_cast<ptrdiff_t>(n);
    folded.nodes.insert(folded.nodes.insert(at, std::move(into)) + 2, std::move(out_of));
    function = std::move(folded);
    return true;
  }

  const EliminationJob& job_;
  Uses uses_;
};

}  // namespace

bool fold_repeats(const EliminationJob& job) {
  bool changed = false;
  while (RepeatFolder(job).run()) changed = true;
  return changed;
}

}  // namespace intarsia::passes
