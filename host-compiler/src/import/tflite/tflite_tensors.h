// The tensors of one subgraph, checked and converted when something asks for them: a model may
// carry broken or exotic tensors as long as nothing uses them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/tflite/blockwise_constant.h"
#include "import/tflite/tflite_file.h"
#include "intarsia/graph.h"

namespace intarsia::tflite {

inline constexpr size_t kHighestRank = 6;
inline constexpr uint8_t kSignedByte = 128;  // what int8 is less than the byte without a sign
inline constexpr int64_t kLargestTensor = (int64_t{1} << 31) - 1;  // bytes

class TensorTable {
 public:
  // Problems go to `problems`, each tensor's once.
  TensorTable(const ModelFile& file, const format::Subgraph& subgraph, Diagnostics& problems);

  size_t count() const { return entries_.size(); }
  bool in_range(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < count(); }

  // The functions below ask for an id in range.
  std::string_view name(int32_t id) const { return text(raw(id).name()); }
  std::string label(int32_t id) const;  // "tensor 12 'conv/weights'"
  bool has_data(int32_t id) const;      // is a constant, as far as the file says
  bool is_empty(int32_t id) const;      // has no element
  bool is_variable(int32_t id) const { return raw(id).is_variable(); }

  // The converted tensor, or null when it cannot be; then the problem is reported, with `used_by`
  // ("read by operator 3 'conv'") to lead the reader to it. The pointer stays good.
  const graph::Tensor* get(int32_t id, const std::string& used_by);
  // In range, asked for before, and converted.
  bool is_good(int32_t id) const {
    return in_range(id) && entries_[static_cast<size_t>(id)].state == Entry::State::Good;
  }
  // Bytes of a tensor that is only room to work in, for which an extent of 0 is good. None after a report.
  std::optional<int64_t> room(int32_t id, const std::string& used_by);
  // The element type of a handle to a variable, which has no value of its own.
  bool is_resource(int32_t id) const;
  bool is_other_float(int32_t id) const;    // of 16 or 64 bits: read as floats of 32
  bool is_complex(int32_t id) const;        // read as floats, two for each number
  bool is_unsigned_long(int32_t id) const;  // read as the int64 of its bits
  // From now on quantised bytes without a sign are int8: zero points 128 less, constants' bytes too.
  void read_bytes_signed() { reads_bytes_signed_ = true; }
  bool is_quantised_byte(int32_t id) const;  // as the file has it: UINT8 with a scale
  bool is_made_signed(int32_t id) const { return reads_bytes_signed_ && is_quantised_byte(id); }
  // Weights that get() has accepted, less their zero point: of 8 bits where these hold them, else of 16.
  void centre_weights(int32_t id, bool in_single_precision);
  void rename(int32_t id, std::string name) {
    entries_[static_cast<size_t>(id)].tensor.name = std::move(name);
  }
  // Whether the converter did not know all extents; what it wrote instead says nothing.
  bool is_dynamic(int32_t id) const;
  // The extents of a tensor that get() has accepted, -1 for those that the converter did not know.
  Shape open_shape(int32_t id) const;
  // What importing has found out about a tensor that get() has accepted: its extents, or its value.
  void set_shape(int32_t id, const Shape& shape) {
    entries_[static_cast<size_t>(id)].tensor.shape = shape;
  }
  void set_data(int32_t id, std::vector<uint8_t> bytes);  // the first one stays
  // `id` has the value of another constant, whose bytes are not copied.
  void share_data(int32_t id, int32_t constant) {
    entries_[static_cast<size_t>(id)].data = data(constant);
  }
  // An operator's result that will be a constant: of a type, perhaps, that only constants may have.
  void expect_constant(int32_t id) { entries_[static_cast<size_t>(id)].expected = true; }
  // get() for a tensor whose values are needed: reported, too, when its scale is too small to compute with and it is no
  // constant of zeros.
  const graph::Tensor* get_values(int32_t id, const std::string& used_by);
  // A constant's bytes; exactly the tensor's size once get() has accepted it.
  std::span<const uint8_t> data(int32_t id) const { return entries_[static_cast<size_t>(id)].data; }

 private:
  struct Entry {
    enum class State { Unasked, Good, Bad } state = State::Unasked;
    graph::Tensor tensor;
    std::span<const uint8_t> data;
    std::vector<uint8_t> computed;  // `data`, when it is not the file's
    bool expected = false;          // to be a constant
  };

  const format::Tensor& raw(int32_t id) const {
    return *subgraph_.tensors()->Get(static_cast<flatbuffers::uoffset_t>(id));
  }
  // Each says what is wrong; empty when nothing is.
  std::string read_type_and_shape(const format::Tensor& raw, graph::Tensor& tensor,
                                  std::string& hint) const;
  std::string read_data(const format::Tensor& raw, Entry& entry) const;
  std::string widen_blocks(const format::Tensor& raw, Entry& entry) const;
  std::string block_numbers(int32_t id, BlockNumbers& numbers) const;
  void make_signed(Entry& entry) const;

  const ModelFile& file_;
  const format::Subgraph& subgraph_;
  Diagnostics& problems_;
  std::vector<Entry> entries_;
  bool reads_bytes_signed_ = false;
};

// The integers of weights of 8 or 4 bits.
std::vector<int8_t> unpacked(const graph::Tensor& tensor, std::span<const uint8_t> bytes);
// The signed number of `size` bytes, little endian, with this index.
int64_t number_at(std::span<const uint8_t> bytes, size_t size, size_t index);
// Scales and zero points of a tensor whose type and shape are known. What is wrong, or empty.
std::string read_quantization(const format::Quantization* raw, graph::Tensor& tensor,
                              std::string& hint);
// Whether the file has a scale of 0, or of less than a float holds in full. Converters write them for what was zero
// whenever they looked: the state that an unrolled network begins with, biases of zeros.
bool has_vanishing_scale(const format::Quantization* raw, const graph::Tensor& tensor);
// Such a scale is as good as any while its values are zero: `bytes` are the values of a constant. What is wrong, or empty.
std::string check_vanishing(const format::Quantization& raw, const graph::Tensor& tensor,
                            std::span<const uint8_t> bytes);

}  // namespace intarsia::tflite
