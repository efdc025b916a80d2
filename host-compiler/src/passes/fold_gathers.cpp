// Gathers at known places that lie evenly apart are slices, and those that put all channels of whole numbers into another order before a
// convolution are an order of its weights.
//
//   gather(%1, places [2]) -> (%2)                       =>      slice(%1) -> (%2)
//   gather(%1, places) -> (%2), conv2d(%2, w) -> (%3)    =>      conv2d(%1, w in that order) -> (%3)
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

class GatherFolder {
 public:
  explicit GatherFolder(const EliminationJob& job)
      : job_(job), function_(job.function()), uses_(function_) {}

  bool once() {
    for (size_t n = 0; n < function_.nodes.size(); ++n) {
      const std::optional<Places> places = places_of(n);
      if (places && (as_slice(n, *places) || as_order_of_weights(n, *places))) return true;
    }
    return false;
  }

 private:
  struct Places {
    size_t axis = 0;
    std::vector<int64_t> along;
  };

  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }

  std::optional<Places> places_of(size_t n) const {
    const Node& gather = function_.nodes[n];
    if (gather.kind != OpKind::Gather || job_.must_stay(gather)) return std::nullopt;
    const auto& attrs = gather.attrs<graph::GatherAttrs>();
    const Tensor &x = tensor(gather.inputs[0]), &indices = tensor(gather.inputs[1]),
                 &y = tensor(gather.outputs[0]);
    if (attrs.batch_dims != 0 || !indices.constant.valid() || x.constant.valid() || x.variable ||
        y.variable || x.quantization.per_channel() || x.quantization != y.quantization)
      return std::nullopt;
    Places places{static_cast<size_t>(attrs.axis), {}};
    const SharedBytes& bytes = job_.module.constant(indices.constant).bytes;
    for (int64_t i = 0; i < element_count(indices.shape); ++i) {
      places.along.push_back(element_at(indices.type, bytes.data(), i));
      if (places.along.back() < 0 || places.along.back() >= x.shape[places.axis])
        return std::nullopt;
    }
    return places.along.empty() ? std::nullopt : std::optional(std::move(places));
  }

  bool as_slice(size_t n, const Places& places) {
    const std::vector<int64_t>& along = places.along;
    const int64_t step = along.size() > 1 ? along[1] - along[0] : 1;
    for (size_t i = 1; i < along.size(); ++i)
      if (step == 0 || along[i] - along[i - 1] != step) return false;
    Module trial = job_.module;  // constants are shared
    Function& changed = trial.functions[job_.index];
    Node& slice = changed.nodes[n];
    Tensor part = tensor(slice.inputs[0]);
    graph::SliceAttrs attrs{std::vector<int64_t>(part.shape.size(), 0),
                            part.shape,
                            std::vector<int64_t>(part.shape.size(), 1),
                            {}};
    attrs.begin[places.axis] = along[0];
    attrs.size[places.axis] = part.shape[places.axis] = std::ssize(along);
    attrs.stride[places.axis] = step;
    const TensorId x = slice.inputs[0], y = slice.outputs[0];
    const Shape& shape = tensor(y).shape;
    slice.kind = OpKind::Slice;
    slice.attributes = std::move(attrs);
    slice.inputs = {x};
    if (part.shape != shape) {
      Node reshape = slice;
      reshape.name += "_shape";
      reshape.kind = OpKind::Reshape;
      reshape.attributes = graph::ReshapeAttrs{shape};
      part.name = slice.name;
      const TensorId made = add_tensor(changed, std::move(part));
      slice.outputs = {made};
      reshape.inputs = {made};
      const std::string& name = reshape.name;
      if (std::ranges::find(changed.nodes, name, &Node::name) != changed.nodes.end()) return false;
      changed.nodes.insert(changed.nodes.begin() + static_cast<std::ptrdiff_t>(n) + 1,
                           std::move(reshape));
    }
    return take(std::move(trial), n, "became a slice", "its places lie evenly apart");
  }

  // Sums of whole numbers are the same in any order.
  bool as_order_of_weights(size_t n, const Places& places) {
    const Node& gather = function_.nodes[n];
    const TensorId x = gather.inputs[0], y = gather.outputs[0];
    const Shape& shape = tensor(x).shape;
    std::vector<int64_t> sorted = places.along;
    std::ranges::sort(sorted);
    if (places.axis + 1 != shape.size() || tensor(y).shape != shape ||
        std::ranges::adjacent_find(sorted) != sorted.end() || uses_.is_output(y) ||
        uses_.readers(y).size() != 1 || tensor(x).type == DataType::Float32)
      return false;
    const size_t reader = uses_.readers(y)[0];
    const Node& convolution = function_.nodes[reader];
    if (convolution.kind != OpKind::Conv2d || job_.must_stay(convolution) ||
        convolution.inputs[0] != y)
      return false;
    const Tensor weights = tensor(convolution.inputs[1]);
    if (!weights.constant.valid() || bits(weights.type) < 8 ||
        weights.shape.back() != shape.back() ||
        (weights.quantization.per_channel() &&
         weights.quantization.axis + 1 == std::ssize(weights.shape)))
      return false;
    const SharedBytes& bytes = job_.module.constant(weights.constant).bytes;
    TensorValue ordered(bytes.begin(), bytes.end());
    const int64_t channels = shape.back(), taps = element_count(weights.shape) / channels;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t i = 0; i < channels; ++i)
        put_element(weights.type, ordered.data(),
                    tap * channels + places.along[static_cast<size_t>(i)],
                    element_at(weights.type, bytes.data(), tap * channels + i));
    Module trial = job_.module;
    Function& changed = trial.functions[job_.index];
    Tensor own = weights;
    own.constant = add_constant(trial, weights.name, std::move(ordered));
    changed.nodes[reader].inputs[0] = x;
    changed.nodes[reader].inputs[1] = add_tensor(changed, std::move(own));
    changed.nodes.erase(changed.nodes.begin() + static_cast<std::ptrdiff_t>(n));
    return take(std::move(trial), n,
                fmt::format("became an order of the weights of '{}'", convolution.name),
                "it puts all channels into another order");
  }

  bool take(Module trial, size_t n, std::string what, std::string why) {
    if (!graph::verify(trial).ok()) return false;
    std::string name = function_.nodes[n].name;
    job_.module = std::move(trial);
    job_.actions.push_back({"order", std::move(name), std::move(what), std::move(why)});
    return true;
  }

  const EliminationJob& job_;
  Function& function_;
  Uses uses_;
};

}  // namespace

bool fold_gathers(const EliminationJob& job) {
  return repeat<GatherFolder>(job);
}

}  // namespace intarsia::passes
