#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {

using graph::BatchSpaceAttrs;
using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Padding2d;
using graph::Tensor;
using graph::TensorId;

// Rows and columns; what has one spatial axis has rows of one element.
struct Blocks {
  int64_t by_y = 1, by_x = 1;
  Padding2d amounts;  // padding before, or cropping after
  bool operator==(const Blocks&) const = default;
};

// Of a picture [n, h, w, c], or of [n, w, c], which a reshape makes a picture of one row.
std::optional<Blocks> blocks_of(const BatchSpaceAttrs& a, size_t rank) {
  if (rank == 3 && a.block.size() == 1)
    return Blocks{1, a.block[0], {0, a.before[0], 0, a.after[0]}};
  if (rank != 4 || a.block.size() > 2) return std::nullopt;
  const bool both = a.block.size() == 2;
  return Blocks{a.block[0],
                both ? a.block[1] : 1,
                {a.before[0], both ? a.before[1] : 0, a.after[0], both ? a.after[1] : 0}};
}

// The chain from the blocks' operator to its inverse. Reshapes between them give [n, w, c] a row and take it again; other
// convolutions may read the same row.
struct Chain {
  const Node *to_batch, *into_row = nullptr, *convolution, *out_of_row = nullptr, *to_space;
};

bool gives_a_row(const Shape& without, const Shape& with) {
  return without.size() == 3 && with.size() == 4 && with[1] == 1 && with[0] == without[0] &&
         with[2] == without[1] && with[3] == without[2];
}

// Along one axis: dilation, and padding before and after.
struct Axis {
  int64_t dilation, before, after;
};

// A window of `kernel` elements over a part of every block-th element is one over all, `block` times as wide. Padding of the
// part is so many blocks; what is cropped is not padded in the first place.
std::optional<Axis> fused_axis(int64_t block, int64_t padded_before, int64_t cropped_before,
                               int64_t own_before, int64_t dilation, int64_t kernel, int64_t in,
                               int64_t out) {
  Axis axis{dilation * block, padded_before + own_before * block - cropped_before, 0};
  const int64_t window = (kernel - 1) * axis.dilation + 1;
  axis.after = out - 1 + window - in - axis.before;
  if (axis.before < 0 || axis.after < 0 || axis.before >= window || axis.after >= window)
    return std::nullopt;
  return axis;
}

template <typename Attrs>
std::optional<graph::Attributes> dilated(const Function& function, const Chain& chain) {
  Attrs attrs = chain.convolution->attrs<Attrs>();
  const Shape& in = function.tensor(chain.to_batch->inputs[0]).shape;
  const Shape& out = function.tensor(chain.to_space->outputs[0]).shape;
  const Shape& weights = function.tensor(chain.convolution->inputs[1]).shape;
  const auto to = blocks_of(chain.to_batch->attrs<BatchSpaceAttrs>(), in.size());
  const auto from = blocks_of(chain.to_space->attrs<BatchSpaceAttrs>(), out.size());
  if (!to || !from || to->by_y != from->by_y || to->by_x != from->by_x) return std::nullopt;
  if (attrs.stride_h != 1 || attrs.stride_w != 1) return std::nullopt;
  const bool row = in.size() == 3;
  const auto y = fused_axis(to->by_y, to->amounts.top, from->amounts.top, attrs.padding.top,
                            attrs.dilation_h, weights[1], row ? 1 : in[1], row ? 1 : out[1]);
  const auto x = fused_axis(to->by_x, to->amounts.left, from->amounts.left, attrs.padding.left,
                            attrs.dilation_w, weights[2], in[row ? 1 : 2], out[row ? 1 : 2]);
  if (!y || !x) return std::nullopt;
  attrs.dilation_h = y->dilation, attrs.dilation_w = x->dilation;
  attrs.padding = {y->before, x->before, y->after, x->after};
  return attrs;
}

class DilationFolder {
 public:
  explicit DilationFolder(const EliminationJob& job) : job_(job), uses_(job.function()) {}

  // One convolution, whatever else reads the same blocks.
  bool run() {
    for (const Node& node : job_.function().nodes) {
      if (node.kind != OpKind::SpaceToBatch || !keeps_scale(node)) continue;
      for (const auto& [into_row, convolution] : readers_of(node)) {
        const std::optional<Chain> chain = chain_from(node, into_row, convolution);
        if (!chain) continue;
        const std::optional<graph::Attributes> attributes =
            chain->convolution->kind == OpKind::Conv2d
                ? dilated<graph::Conv2dAttrs>(job_.function(), *chain)
                : dilated<graph::DepthwiseConv2dAttrs>(job_.function(), *chain);
        if (attributes && fold(*chain, *attributes)) return true;
      }
    }
    return false;
  }

 private:
  const Tensor& tensor(TensorId id) const { return job_.function().tensor(id); }

  // Elements outside of the picture are zero points, which add nothing to a sum.
  bool keeps_scale(const Node& node) const {
    const Tensor &in = tensor(node.inputs[0]), &out = tensor(node.outputs[0]);
    return is_integer(in.type) && in.quantization == out.quantization && !in.variable;
  }

  // The only reader of a value that nothing else needs.
  const Node* only_reader(const Node& node) const {
    const TensorId made = node.outputs[0];
    if (job_.must_stay(node) || uses_.is_output(made) || tensor(made).variable ||
        uses_.readers(made).size() != 1)
      return nullptr;
    return &job_.function().nodes[uses_.readers(made)[0]];
  }

  // Who reads the blocks, through a reshape that gives them a row or without one.
  std::vector<std::pair<const Node*, const Node*>> readers_of(const Node& to_batch) const {
    std::vector<std::pair<const Node*, const Node*>> found;
    const std::vector<Node>& nodes = job_.function().nodes;
    for (const size_t direct : uses_.readers(to_batch.outputs[0])) {
      const Node& reader = nodes[direct];
      if (reader.kind != OpKind::Reshape) {
        found.emplace_back(nullptr, &reader);
      } else if (!tensor(reader.outputs[0]).variable &&
                 gives_a_row(tensor(reader.inputs[0]).shape, tensor(reader.outputs[0]).shape)) {
        for (const size_t behind : uses_.readers(reader.outputs[0]))
          found.emplace_back(&reader, &nodes[behind]);
      }
    }
    return found;
  }

  std::optional<Chain> chain_from(const Node& to_batch, const Node* into_row,
                                  const Node* convolution) const {
    Chain chain{&to_batch, into_row, convolution, nullptr, nullptr};
    if (job_.must_stay(to_batch) || uses_.is_output(to_batch.outputs[0]) ||
        (into_row != nullptr && job_.must_stay(*into_row)))
      return std::nullopt;
    if (convolution->kind != OpKind::Conv2d && convolution->kind != OpKind::DepthwiseConv2d)
      return std::nullopt;
    const TensorId input = (chain.into_row != nullptr ? chain.into_row : &to_batch)->outputs[0];
    if (std::ranges::count(convolution->inputs, input) != 1 || convolution->inputs[0] != input)
      return std::nullopt;
    chain.to_space = only_reader(*convolution);
    if (chain.into_row != nullptr && chain.to_space != nullptr) {
      chain.out_of_row = chain.to_space;
      if (chain.out_of_row->kind != OpKind::Reshape ||
          !gives_a_row(tensor(chain.out_of_row->outputs[0]).shape,
                       tensor(chain.out_of_row->inputs[0]).shape))
        return std::nullopt;
      chain.to_space = only_reader(*chain.out_of_row);
    }
    if (chain.to_space == nullptr || chain.to_space->kind != OpKind::BatchToSpace ||
        job_.must_stay(*chain.to_space) || !keeps_scale(*chain.to_space))
      return std::nullopt;
    return chain;
  }

  size_t index_of(const Node* node) const {
    return static_cast<size_t>(node - job_.function().nodes.data());
  }

  bool fold(const Chain& chain, const graph::Attributes& attributes) const {
    Function& function = job_.function();
    Node convolution = *chain.convolution;
    convolution.attributes = attributes;
    const TensorId in = chain.to_batch->inputs[0], out = chain.to_space->outputs[0];
    const auto with_row = [](Shape shape) {
      shape.insert(shape.begin() + 1, 1);
      return shape;
    };
    const Shape picture =
        chain.into_row == nullptr ? tensor(out).shape : with_row(tensor(out).shape);
    Function folded = function;
    std::optional<Node> into_row;
    if (chain.into_row == nullptr) {
      convolution.inputs[0] = in;
      convolution.outputs[0] = out;
    } else {
      // The whole picture goes through reshapes as its blocks did.
      Tensor row = tensor(chain.into_row->outputs[0]);
      into_row = *chain.into_row;
      if (uses_.readers(chain.into_row->outputs[0]).size() != 1)
        into_row->name = row.name = free_name(function, fmt::format("{}_row", convolution.name));
      row.shape = with_row(tensor(in).shape);
      into_row->inputs[0] = in;
      into_row->attributes = graph::ReshapeAttrs{row.shape};
      convolution.inputs[0] = into_row->outputs[0] = add_tensor(folded, std::move(row));
      folded.tensors[convolution.outputs[0].at()].shape = picture;
      Node& out_of = folded.nodes[index_of(chain.out_of_row)];
      out_of.outputs[0] = out;
      out_of.attributes = graph::ReshapeAttrs{tensor(out).shape};
    }
    const Result<std::vector<Shape>> shapes = graph::infer_shapes(job_.module, folded, convolution);
    if (!shapes.ok() || shapes->at(0) != picture) return false;
    job_.actions.push_back({"dilation", chain.to_space->name,
                            fmt::format("became the dilation of '{}'", convolution.name),
                            "a window over every block-th element is a dilated one"});
    const auto at = [&](const Node* node) {
      return folded.nodes.begin() + static_cast<ptrdiff_t>(index_of(node));
    };
    // The later one first. What made the blocks is unread when the last of their readers is folded.
    *at(chain.convolution) = std::move(convolution);
    folded.nodes.erase(at(chain.to_space));
    if (into_row) folded.nodes.insert(at(chain.convolution), std::move(*into_row));
    function = std::move(folded);
    return true;
  }

  const EliminationJob& job_;
  Uses uses_;
};

}  // namespace

bool fold_dilation(const EliminationJob& job) {
  bool changed = false;
  while (DilationFolder(job).run()) changed = true;
  return changed;
}

}  // namespace intarsia::passes
