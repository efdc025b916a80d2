#include "program_interpreter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/plugin/fixed_functions.h"

namespace intarsia::test::ethos_u {
namespace {

using namespace targets::ethos_u;
__extension__ using Wide = __int128;

int64_t floor_shift(Wide value, int shift) {
  return static_cast<int64_t>(value >> shift);
}

// A product brought down by `shift` bits.
int64_t round_product(Wide product, int shift, Rounding rounding) {
  if (shift == 0) return static_cast<int64_t>(product);
  if (rounding == Rounding::Truncate)
    return product < 0 ? -floor_shift(-product, shift) : floor_shift(product, shift);
  if (rounding == Rounding::Natural || shift <= 31)
    return floor_shift(product + (Wide{1} << (shift - 1)), shift);
  // gemmlowp: the doubled high half, then a division by a power of two that rounds ties outwards.
  const int64_t high = floor_shift(product + (Wide{1} << 30), 31);
  const int rest = shift - 31;
  const int64_t magnitude = ((high < 0 ? -high : high) + (int64_t{1} << (rest - 1))) >> rest;
  return high < 0 ? -magnitude : magnitude;
}

class Machine {
 public:
  Machine(const Program& program, std::vector<std::string>* seen) : program_(program), seen_(seen) {
    for (const NpuTensor& t : program.tensors) {
      const auto size = static_cast<size_t>(t.extent.elements() * bits(t.type) / 8);
      bytes_.emplace_back(t.alias_of < 0 ? size : 0);
      written_.emplace_back(t.alias_of < 0 ? size : 0, t.kind == NpuTensor::Kind::Input ||
                                                           t.kind == NpuTensor::Kind::State ||
                                                           t.kind == NpuTensor::Kind::Constant);
      if (t.kind == NpuTensor::Kind::Constant && t.alias_of < 0) bytes_.back() = t.bytes;
    }
  }

  std::vector<uint8_t>& bytes(size_t tensor) { return bytes_[tensor]; }
  const std::vector<bool>& written(size_t tensor) const { return written_[tensor]; }

  void run(const Operation& op) {
    op_ = &op;
    results_.clear();
    if (is_elementwise(op.kind))
      elementwise();
    else
      window();
    size_t next = 0;
    for_each(op.ofm.extent,
             [&](int32_t y, int32_t x, int32_t c) { store(op.ofm, y, x, c, results_[next++]); });
  }

 private:
  template <typename F>
  static void for_each(const Extent& e, F&& f) {
    for (int32_t y = 0; y < e.height; ++y)
      for (int32_t x = 0; x < e.width; ++x)
        for (int32_t c = 0; c < e.depth; ++c) f(y, x, c);
  }

  struct Address {
    size_t tensor, byte, size;
    DataType type;
  };
  Address address(const Operand& o, int32_t y, int32_t x, int32_t c) const {
    const NpuTensor& t = program_.tensors[static_cast<size_t>(o.tensor)];
    const int64_t h = o.origin.height + int64_t{o.step.height} * y;
    const int64_t w = o.origin.width + int64_t{o.step.width} * x;
    const int64_t d = o.origin.depth + int64_t{o.step.depth} * c;
    const int64_t size = bits(t.type) / 8;
    const int64_t element =
        o.walk ? h * o.walk->y + w * o.walk->x + d : (h * t.extent.width + w) * t.extent.depth + d;
    const size_t root = static_cast<size_t>(t.alias_of < 0 ? o.tensor : t.alias_of);
    return {root, static_cast<size_t>(element * size + t.alias_offset), static_cast<size_t>(size),
            t.type};
  }

  int64_t load(const Operand& o, int32_t y, int32_t x, int32_t c) {
    const Address a = address(o, y, x, c);
    if (!written_[a.tensor][a.byte])
      seen_->push_back(fmt::format("{}: reads tensor {} at byte {}, which nothing wrote", op_->node,
                                   a.tensor, a.byte));
    uint64_t raw = 0;
    std::memcpy(&raw, &bytes_[a.tensor][a.byte], a.size);
    if (a.type == DataType::UInt8) return static_cast<int64_t>(raw);
    const int unused = 64 - 8 * static_cast<int>(a.size);
    return static_cast<int64_t>(raw << unused) >> unused;
  }

  void store(const Operand& o, int32_t y, int32_t x, int32_t c, int64_t value) {
    const Address a = address(o, y, x, c);
    std::memcpy(&bytes_[a.tensor][a.byte], &value, a.size);
    std::fill_n(written_[a.tensor].begin() + static_cast<std::ptrdiff_t>(a.byte), a.size, true);
  }

  DataType ofm_type() const { return program_.tensors[static_cast<size_t>(op_->ofm.tensor)].type; }

  // Zero point, clamp, table. 32-bit results pass as they are, except on their way into a table.
  void finish(int64_t value) {
    const Operation& op = *op_;
    if (op.activation == Activation::None && ofm_type() == DataType::Int32) {
      results_.push_back(value);
      return;
    }
    if (op.activation == Activation::Tanh || op.activation == Activation::Sigmoid)
      value = curve(static_cast<int32_t>(std::clamp<int64_t>(value, -(1 << 18), 1 << 18)));
    value = std::clamp<int64_t>(value + op.ofm.zero_point, op.clamp_low, op.clamp_high);
    if (op.activation == Activation::Lut) value = looked_up(value);
    results_.push_back(value);
  }

  // In steps of 1 / 12288: 1 / 2^15 of the sigmoid's or tanh's value.
  int64_t curve(int32_t value) const {
    const graph::SigmoidTable& table = graph::sigmoid_table();
    return op_->activation == Activation::Tanh ? table.tanh(value, 1, 0)
                                               : table.sigmoid(value, 1, 0);
  }

  int64_t looked_up(int64_t value) const {
    const std::vector<uint8_t>& table = program_.tables[static_cast<size_t>(op_->lut)].bytes;
    const auto word = [&](int64_t i) {
      int32_t result = 0;
      std::memcpy(&result, &table.at(static_cast<size_t>(4 * i)), 4);
      return result;
    };
    if (op_->force_int8_lut_range) return word(value + 128);
    if (ofm_type() == DataType::UInt8) return table.at(static_cast<size_t>(value));
    if (ofm_type() == DataType::Int8)
      return static_cast<int8_t>(table.at(static_cast<size_t>(value + 128)));
    // 512 words of base (low half) and slope (high half), 128 values each.
    const int64_t index = (value + 32768) >> 7, offset = (value + 32768) & 127;
    const int32_t entry = word(index);
    const int64_t base = static_cast<int16_t>(entry & 0xffff), slope = entry >> 16;
    return base + ((slope * offset + 64) >> 7);
  }

  int64_t scale(int64_t value, const ChannelScale& s) const {
    return round_product(static_cast<Wide>(value + s.bias) * s.multiplier, s.shift, op_->rounding);
  }

  // Element of the input as the window sees it, or nothing in the padding.
  bool seen(int32_t y, int32_t x, int32_t c, int64_t* value) {
    const Operation& op = *op_;
    const int32_t up = op.upscale == Upscale::None ? 1 : 2;
    if (y < 0 || x < 0 || y >= op.ifm.extent.height * up || x >= op.ifm.extent.width * up)
      return false;
    *value = op.upscale == Upscale::Zeros && (y % 2 != 0 || x % 2 != 0)
                 ? 0
                 : load(op.ifm, y / up, x / up, c) - op.ifm.zero_point;
    return true;
  }

  void window() {
    const Operation& op = *op_;
    const Kernel& k = op.kernel;
    for_each(op.ofm.extent, [&](int32_t oy, int32_t ox, int32_t oc) {
      int64_t sum = 0, largest = INT64_MIN, count = 0;
      const int32_t in_depth = op.ifm.extent.depth;
      const bool all_channels =
          op.kind == OperationKind::Conv || op.kind == OperationKind::ReduceSum;
      for (int32_t ky = 0; ky < k.height; ++ky)
        for (int32_t kx = 0; kx < k.width; ++kx) {
          const int32_t y = oy * k.stride_y - op.pads.top + ky * k.dilation_y;
          const int32_t x = ox * k.stride_x - op.pads.left + kx * k.dilation_x;
          for (int32_t c = all_channels ? 0 : oc; c < (all_channels ? in_depth : oc + 1); ++c) {
            int64_t value = 0;
            if (!seen(y, x, c, &value)) continue;
            int64_t weight = 1;
            if (op.kind == OperationKind::Conv)
              weight = op.weights[static_cast<size_t>(
                  ((int64_t{oc} * k.height + ky) * k.width + kx) * in_depth + c)];
            if (op.kind == OperationKind::Depthwise)
              weight =
                  op.weights[static_cast<size_t>((int64_t{oc} * k.height + ky) * k.width + kx)];
            sum += value * weight;
            largest = std::max(largest, value);
            ++count;
          }
        }
      if (has_weights(op.kind)) return finish(scale(sum, op.scales[static_cast<size_t>(oc)]));
      if (op.kind == OperationKind::MaxPool) return finish(largest);
      if (op.global_scale) return finish(scale(sum, *op.global_scale));
      // Padded: by the number of elements inside of the input, ties away from zero.
      const int64_t magnitude = ((sum < 0 ? -sum : sum) + count / 2) / count;
      finish(sum < 0 ? -magnitude : magnitude);
    });
  }

  void elementwise() {
    const Operation& op = *op_;
    for_each(op.ofm.extent, [&](int32_t y, int32_t x, int32_t c) {
      int64_t a = load(op.ifm, y, x, c) - op.ifm.zero_point, b = 0;
      if (op.ifm2_scalar) {
        b = *op.ifm2_scalar - op.ifm2_zero_point;
      } else if (op.ifm2) {
        const Extent& e = op.ifm2->extent;
        b = load(*op.ifm2, e.height == 1 ? 0 : y, e.width == 1 ? 0 : x, e.depth == 1 ? 0 : c) -
            op.ifm2->zero_point;
      }
      if (op.reverse_operands) std::swap(a, b);
      finish(combined(a, b));
    });
  }

  int64_t combined(int64_t a, int64_t b) const {
    const Operation& op = *op_;
    const bool wide = program_.tensors[static_cast<size_t>(op.ifm.tensor)].type == DataType::Int32;
    const ChannelScale out = op.global_scale.value_or(ChannelScale{.multiplier = 1});
    switch (op.kind) {
      case OperationKind::Mul:
        return wide ? saturated(round_product(static_cast<Wide>(a) * b, out.shift, op.rounding))
                    : scale(a * b, out);
      case OperationKind::Add:
      case OperationKind::Sub: {
        if (!wide) scale_operands(a, b);
        const int64_t sum = op.kind == OperationKind::Add ? a + b : a - b;
        return wide ? saturated(round_product(sum, out.shift, op.rounding)) : scale(sum, out);
      }
      case OperationKind::Minimum:
        return std::min(a, b);
      case OperationKind::Maximum:
        return std::max(a, b);
      case OperationKind::LeakyRelu:
        return a >= 0 ? a : scale(a, out);
      case OperationKind::Abs:
        return scale(a < 0 ? -a : a, out);
      case OperationKind::CountLeadingZeros:
        return std::countl_zero(static_cast<uint32_t>(a));
      case OperationKind::ShiftRight:
        return round_product(a, static_cast<int>(b), op.rounding);
      case OperationKind::ShiftLeft:
        return truncated(a * (int64_t{1} << b));
      default:
        return 0;
    }
  }

  static int64_t saturated(int64_t value) {
    return std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
  }
  static int64_t truncated(int64_t value) {
    return static_cast<int32_t>(static_cast<uint32_t>(value));
  }

  void scale_operands(int64_t& a, int64_t& b) const {
    const Operation& op = *op_;
    const bool word = program_.tensors[static_cast<size_t>(op.ifm.tensor)].type == DataType::Int16;
    const int64_t other = int64_t{1} << (word ? 14 : 19);
    const auto by = [&](int64_t v, const ChannelScale& s) {
      return round_product(static_cast<Wide>(v) * s.multiplier, s.shift, op.rounding);
    };
    switch (op.operand_scaling) {
      case OperandScaling::Both:
        a *= op.ifm_scale.multiplier;
        b *= op.ifm2_scale.multiplier;
        return;
      case OperandScaling::First:
        a = by(a, op.ifm_scale);
        b *= other;
        return;
      case OperandScaling::Second:
        a *= other;
        b = by(b, op.ifm_scale);
        return;
    }
  }

  const Program& program_;
  std::vector<std::string>* seen_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::vector<std::vector<bool>> written_;
  const Operation* op_ = nullptr;
  std::vector<int64_t> results_;
};

class Checks {
 public:
  explicit Checks(const Program& program) : program_(program) {}

  std::vector<std::string> run() {
    for (const Operation& op : program_.operations) {
      op_ = &op;
      operand(op.ifm, "ifm");
      if (op.ifm2) operand(*op.ifm2, "ifm2");
      operand(op.ofm, "ofm");
      is_elementwise(op.kind) ? elementwise() : window();
      lut();
    }
    return std::move(found_);
  }

 private:
  void require(bool holds, const std::string& what) {
    if (!holds) found_.push_back(fmt::format("{}: {}", op_->node, what));
  }
  const NpuTensor& tensor(const Operand& o) const {
    return program_.tensors.at(static_cast<size_t>(o.tensor));
  }

  void operand(const Operand& o, const char* role) {
    const NpuTensor& t = tensor(o);
    const auto axis = [&](int32_t origin, int32_t step, int32_t extent, int32_t whole) {
      require(origin >= 0 && step >= 1 && extent >= 1 && origin + step * (extent - 1) < whole,
              fmt::format("the {} leaves its tensor", role));
      require(extent <= 65536, fmt::format("the {} is too large", role));
    };
    if (o.walk) {
      const auto last = [](int32_t origin, int32_t step, int32_t extent) {
        return origin + int64_t{step} * (extent - 1);
      };
      require(last(o.origin.height, o.step.height, o.extent.height) * o.walk->y +
                      last(o.origin.width, o.step.width, o.extent.width) * o.walk->x +
                      last(o.origin.depth, o.step.depth, o.extent.depth) <
                  t.extent.elements(),
              fmt::format("the {} leaves its tensor", role));
    } else {
      axis(o.origin.height, o.step.height, o.extent.height, t.extent.height);
      axis(o.origin.width, o.step.width, o.extent.width, t.extent.width);
      axis(o.origin.depth, o.step.depth, o.extent.depth, t.extent.depth);
    }
    require(o.step.depth == 1, fmt::format("the {} skips channels", role));
    if (t.alias_of >= 0) {
      const NpuTensor& root = program_.tensors.at(static_cast<size_t>(t.alias_of));
      require(root.alias_of < 0 && root.type == t.type, "an alias of an alias, or of another type");
      const int64_t size = bits(t.type) / 8;
      require(t.alias_offset + t.extent.elements() * size <= root.extent.elements() * size,
              "an alias leaves its tensor");
    }
  }

  void window() {
    const Operation& op = *op_;
    const Kernel& k = op.kernel;
    const int32_t up = op.upscale == Upscale::None ? 1 : 2;
    const int32_t tall = (k.height - 1) * k.dilation_y + 1,
                  broad = (k.width - 1) * k.dilation_x + 1;
    const auto fits = [&](int32_t in, int32_t out, int32_t stride, int32_t covered, int32_t before,
                          int32_t after) {
      const int32_t needed = (out - 1) * stride + covered - before - after;
      return up == 1 ? needed == in : needed <= in * 2 && needed > in * 2 - 2;
    };
    require(fits(op.ifm.extent.height, op.ofm.extent.height, k.stride_y, tall, op.pads.top,
                 op.pads.bottom),
            "heights do not fit");
    require(fits(op.ifm.extent.width, op.ofm.extent.width, k.stride_x, broad, op.pads.left,
                 op.pads.right),
            "widths do not fit");
    require(k.stride_y >= 1 && k.stride_y <= 3 && k.stride_x >= 1 && k.stride_x <= 3, "stride");
    require(k.dilation_y >= 1 && k.dilation_y <= 2 && k.dilation_x >= 1 && k.dilation_x <= 2,
            "dilation");
    require(op.pads.top < tall && op.pads.bottom < tall && op.pads.left < broad &&
                op.pads.right < broad,
            "padding");
    const size_t elements = static_cast<size_t>(k.height) * static_cast<size_t>(k.width);
    const auto out = static_cast<size_t>(op.ofm.extent.depth),
               in = static_cast<size_t>(op.ifm.extent.depth);
    if (op.kind == OperationKind::Conv) {
      require(op.weights.size() == elements * in * out, "number of weights");
    } else if (op.kind == OperationKind::Depthwise) {
      require(op.weights.size() == elements * out && in == out, "number of weights");
    } else if (op.kind == OperationKind::ReduceSum) {
      require(out == 1 && elements == 1, "a sum has one channel");
    } else {
      require(in == out, "a pool keeps the channels");
    }
    if (has_weights(op.kind)) {
      require(op.scales.size() == out, "a scale per channel");
      require(tall <= 64 && tall * broad <= 4096, "kernel");
      for (const ChannelScale& s : op.scales) require(s.shift >= 0 && s.shift < 64, "shift");
    } else {
      require(tall <= 256 && tall * broad <= 65536, "pool");
      const Pads& p = op.pads;
      if (op.kind == OperationKind::AveragePool)
        require(op.global_scale.has_value() == (p.top + p.left + p.bottom + p.right == 0),
                "an average has a scale unless it is padded");
    }
  }

  void elementwise() {
    const Operation& op = *op_;
    require(op.ifm.extent == op.ofm.extent, "extents of ifm and ofm");
    require(is_unary(op.kind) != (op.ifm2.has_value() || op.ifm2_scalar.has_value()),
            "number of operands");
    if (op.ifm2) {
      const Extent &a = op.ifm.extent, &b = op.ifm2->extent;
      require((b.height == 1 || b.height == a.height) && (b.width == 1 || b.width == a.width) &&
                  (b.depth == 1 || b.depth == a.depth),
              "extents of ifm2");
      require(tensor(*op.ifm2).type == op.ifm2_type, "type of ifm2");
    }
    require(tensor(op.ifm).type == op.ifm2_type || is_unary(op.kind),
            "operands of different types");
    if (op.ifm2_scalar) require(*op.ifm2_scalar >= -32768 && *op.ifm2_scalar <= 32767, "scalar");
    if (op.global_scale)
      require(op.global_scale->shift >= 0 && op.global_scale->shift < 64, "shift");
  }

  void lut() {
    const Operation& op = *op_;
    if (op.activation != Activation::Lut) return;
    const size_t size = program_.tables.at(static_cast<size_t>(op.lut)).bytes.size();
    const DataType type = tensor(op.ofm).type;
    require(size == (bits(type) == 8           ? 256u
                     : type == DataType::Int16 ? 2048u
                                               : 1024u),
            "size of the table");
  }

  const Program& program_;
  const Operation* op_ = nullptr;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const Program& program) {
  return Checks(program).run();
}

std::vector<std::vector<uint8_t>> execute(const Program& program,
                                          const std::vector<std::vector<uint8_t>>& inputs,
                                          std::vector<std::string>* violations_seen) {
  Machine machine(program, violations_seen);
  std::vector<size_t> outputs;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const NpuTensor& t = program.tensors[i];
    if (t.kind == NpuTensor::Kind::Input)
      machine.bytes(i) = inputs.at(static_cast<size_t>(t.parameter));
    if (t.kind == NpuTensor::Kind::Output) {
      outputs.resize(std::max(outputs.size(), static_cast<size_t>(t.parameter) + 1));
      outputs[static_cast<size_t>(t.parameter)] = i;
    }
  }
  for (const Operation& op : program.operations) machine.run(op);
  std::vector<std::vector<uint8_t>> results;
  for (const size_t output : outputs) {
    const std::vector<bool>& written = machine.written(output);
    if (std::find(written.begin(), written.end(), false) != written.end())
      violations_seen->push_back(fmt::format("output {} is not written whole", results.size()));
    results.push_back(machine.bytes(output));
  }
  return results;
}

}  // namespace intarsia::test::ethos_u
