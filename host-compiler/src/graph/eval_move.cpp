// Operators that only move elements.
#include <algorithm>
#include <cstring>
#include <string>

#include "graph/kernels.h"
#include "graph/op_check.h"

namespace intarsia::graph {

Result<void> eval_reshape(const Invocation& call) {
  std::memcpy(call.outputs[0], call.inputs[0], static_cast<size_t>(call.in().bytes()));
  return {};
}

namespace {

// The index along every axis of element `at` of a dense shape.
Shape indices_of(int64_t at, const Shape& shape) {
  Shape indices(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) indices[axis] = at % shape[axis];
  return indices;
}

int64_t place_of(const Shape& indices, const Shape& shape) {
  int64_t place = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) place = place * shape[axis] + indices[axis];
  return place;
}

// Output element i is element source(indices of i) of an input, or `fill` when that is -1.
template <typename F>
void gather_elements(const Invocation& call, size_t input, size_t output, F&& source,
                     const uint8_t* fill = nullptr) {
  const auto size = static_cast<size_t>(bits(call.out(output).type) / 8);
  const Shape& out = call.out(output).shape;
  for (int64_t i = 0; i < element_count(out); ++i) {
    const int64_t from = source(indices_of(i, out));
    const uint8_t* element =
        from < 0 ? fill : call.inputs[input] + static_cast<size_t>(from) * size;
    std::memcpy(call.outputs[output] + static_cast<size_t>(i) * size, element, size);
  }
}

void pad(const Invocation& call, const uint8_t* fill) {
  const auto& a = call.node.attrs<PadAttrs>();
  const Shape& in = call.in().shape;
  const auto source = [&](Shape at) -> int64_t {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      at[axis] -= a.before[axis];
      if (at[axis] < 0 || at[axis] >= in[axis]) return -1;
    }
    return place_of(at, in);
  };
  gather_elements(call, 0, 0, source, fill);
}

void mirror_pad(const Invocation& call) {
  const auto& a = call.node.attrs<MirrorPadAttrs>();
  const Shape& in = call.in().shape;
  const int64_t edge = a.symmetric ? 0 : 1;
  const auto source = [&](Shape at) {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      int64_t& i = at[axis];
      i -= a.before[axis];
      if (i < 0) i = -i - 1 + edge;
      if (i >= in[axis]) i = 2 * in[axis] - 1 - i - edge;
    }
    return place_of(at, in);
  };
  gather_elements(call, 0, 0, source);
}

// Input i supplies elements `first` .. along the axis.
void concat(const Invocation& call) {
  const auto axis = static_cast<size_t>(call.node.attrs<AxisAttrs>().axis);
  const auto size = static_cast<size_t>(bits(call.out().type) / 8);
  const bool is_pack = call.node.kind == OpKind::Pack;
  const Shape& out = call.out().shape;
  int64_t first = 0;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    Shape in = call.in(input).shape;
    if (is_pack) in.insert(in.begin() + static_cast<int64_t>(axis), 1);
    for (int64_t i = 0; i < element_count(in); ++i) {
      Shape at = indices_of(i, in);
      at[axis] += first;
      std::memcpy(call.outputs[0] + static_cast<size_t>(place_of(at, out)) * size,
                  call.inputs[input] + static_cast<size_t>(i) * size, size);
    }
    first += in[axis];
  }
}

void split(const Invocation& call) {
  const bool is_unpack = call.node.kind == OpKind::Unpack;
  const int64_t axis =
      is_unpack ? call.node.attrs<AxisAttrs>().axis : call.node.attrs<SplitAttrs>().axis;
  int64_t first = 0;
  for (size_t output = 0; output < call.outputs.size(); ++output) {
    gather_elements(call, 0, output, [&](Shape at) {
      if (is_unpack) at.insert(at.begin() + axis, 0);
      at[static_cast<size_t>(axis)] += first;
      return place_of(at, call.in().shape);
    });
    first += is_unpack ? 1 : call.out(output).shape[static_cast<size_t>(axis)];
  }
}

void slice(const Invocation& call) {
  const auto& a = call.node.attrs<SliceAttrs>();
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape from = a.begin;
    size_t next = 0;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      if (std::ranges::find(a.drop, static_cast<int64_t>(axis)) != a.drop.end()) continue;
      from[axis] += at[next++] * a.stride[axis];
    }
    return place_of(from, call.in().shape);
  });
}

void transpose(const Invocation& call) {
  const auto& permutation = call.node.attrs<TransposeAttrs>().permutation;
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape from(at.size());
    for (size_t axis = 0; axis < at.size(); ++axis)
      from[static_cast<size_t>(permutation[axis])] = at[axis];
    return place_of(from, call.in().shape);
  });
}

void space_depth(const Invocation& call) {
  const int64_t block = call.node.attrs<BlockAttrs>().block;
  const Shape &in = call.in().shape, &out = call.out().shape;
  gather_elements(call, 0, 0, [&](const Shape& at) {
    if (call.node.kind == OpKind::SpaceToDepth) {
      const int64_t tile = at[3] / in[3];
      return place_of(
          {at[0], at[1] * block + tile / block, at[2] * block + tile % block, at[3] % in[3]}, in);
    }
    const int64_t tile = at[1] % block * block + at[2] % block;
    return place_of({at[0], at[1] / block, at[2] / block, tile * out[3] + at[3]}, in);
  });
}

// Batch b of the many holds the pixels whose remainders by the block sizes make up b's high digits.
void batch_space(const Invocation& call, const uint8_t* fill) {
  const auto& a = call.node.attrs<BatchSpaceAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  const auto source = [&](Shape at) -> int64_t {
    if (call.node.kind == OpKind::SpaceToBatch) {
      int64_t tile = at[0] / in[0];
      at[0] %= in[0];
      for (size_t i = a.block.size(); i-- > 0; tile /= a.block[i]) {
        at[i + 1] = at[i + 1] * a.block[i] + tile % a.block[i] - a.before[i];
        if (at[i + 1] < 0 || at[i + 1] >= in[i + 1]) return -1;
      }
      return place_of(at, in);
    }
    int64_t tile = 0;
    for (size_t i = 0; i < a.block.size(); ++i) {
      at[i + 1] += a.before[i];
      tile = tile * a.block[i] + at[i + 1] % a.block[i];
      at[i + 1] /= a.block[i];
    }
    at[0] += tile * out[0];
    return place_of(at, in);
  };
  gather_elements(call, 0, 0, source, fill);
}

// Repeated along axes of one element that the output has more of, and along axes that are not there.
void broadcast_to(const Invocation& call) {
  const Shape& in = call.in().shape;
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape from(at.end() - static_cast<int64_t>(in.size()), at.end());
    for (size_t axis = 0; axis < in.size(); ++axis)
      if (in[axis] == 1) from[axis] = 0;
    return place_of(from, in);
  });
}

void tile(const Invocation& call) {
  const Shape& in = call.in().shape;
  gather_elements(call, 0, 0, [&](Shape at) {
    for (size_t axis = 0; axis < in.size(); ++axis) at[axis] %= in[axis];
    return place_of(at, in);
  });
}

// An index outside of the axis is an error of the data.
Result<void> gather(const Invocation& call) {
  const auto& a = call.node.attrs<GatherAttrs>();
  const Shape &data = call.in(0).shape, &indices = call.in(1).shape;
  const auto axis = static_cast<size_t>(a.axis), batch_dims = static_cast<size_t>(a.batch_dims);
  const size_t index_axes = indices.size() - batch_dims;
  const int64_t extent = data[axis];
  for (int64_t i = 0; i < element_count(indices); ++i)
    if (call.data<int32_t>(1)[i] < 0 || call.data<int32_t>(1)[i] >= extent)
      return Diagnostics(place_of(call.function, call.node),
                         "index " + std::to_string(call.data<int32_t>(1)[i]) + " is outside 0 .. " +
                             std::to_string(extent - 1));
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape index(at.begin(), at.begin() + a.batch_dims);
    index.insert(index.end(), at.begin() + a.axis,
                 at.begin() + a.axis + static_cast<int64_t>(index_axes));
    Shape from(at.begin(), at.begin() + a.axis);
    from.push_back(call.data<int32_t>(1)[place_of(index, indices)]);
    from.insert(from.end(), at.begin() + a.axis + static_cast<int64_t>(index_axes), at.end());
    return place_of(from, data);
  });
  return {};
}

}  // namespace

Result<void> eval_pad(const Invocation& call) {
  if (bits(call.type()) % 8 != 0) return unsupported_types(call);
  const int64_t zero = call.out().quantization.present() ? call.out_zero_point() : 0;
  pad(call, reinterpret_cast<const uint8_t*>(&zero));  // little-endian: the low bytes
  return {};
}

Result<void> eval_move(const Invocation& call) {
  const int64_t zero = call.out().quantization.present() ? call.out_zero_point() : 0;
  switch (call.node.kind) {
    case OpKind::PadV2:
      pad(call, call.inputs[1]);
      return {};
    case OpKind::MirrorPad:
      mirror_pad(call);
      return {};
    case OpKind::Concat:
    case OpKind::Pack:
      concat(call);
      return {};
    case OpKind::Split:
    case OpKind::Unpack:
      split(call);
      return {};
    case OpKind::Slice:
      slice(call);
      return {};
    case OpKind::Transpose:
      transpose(call);
      return {};
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
      space_depth(call);
      return {};
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace:
      batch_space(call, reinterpret_cast<const uint8_t*>(&zero));
      return {};
    case OpKind::BroadcastTo:
      broadcast_to(call);
      return {};
    case OpKind::Tile:
      tile(call);
      return {};
    case OpKind::Gather:
      return gather(call);
    default:
      return unsupported_types(call);
  }
}

}  // namespace intarsia::graph
