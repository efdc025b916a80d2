#include "encode/network_writer.h"

#include <algorithm>

#include "program/program.h"

namespace intarsia::targets::ethos_n {
namespace {

void append(std::vector<uint8_t>& bytes, size_t value) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}
template <typename Bytes>
void append_array(std::vector<uint8_t>& bytes, const Bytes& values) {
  append(bytes, values.size());
  bytes.insert(bytes.end(), values.begin(), values.end());
}

}  // namespace

uint32_t NetworkWriter::add(std::vector<Row>& rows, int64_t offset, int64_t bytes,
                            std::string name) {
  rows.push_back(
      {next_, static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes), std::move(name)});
  return next_++;
}
uint32_t NetworkWriter::add_input(int64_t bytes, std::string name) {
  const int64_t offset = input_end_;
  input_end_ = round_up(offset + bytes, kBufferAlignment);
  return add(inputs_, offset, bytes, std::move(name));
}
uint32_t NetworkWriter::add_output(int64_t bytes, std::string name) {
  const int64_t offset = output_end_;
  output_end_ = round_up(offset + bytes, kBufferAlignment);
  return add(outputs_, offset, bytes, std::move(name));
}
NetworkWriter::Place NetworkWriter::share(std::vector<Row>& rows, int64_t offset, int64_t bytes) {
  if (rows.empty()) add(rows, 0, 0, "");
  Row& row = rows.front();
  row.bytes = std::max(row.bytes, static_cast<uint32_t>(offset + bytes));
  return {row.id, offset};
}
NetworkWriter::Place NetworkWriter::add_weights(std::span<const uint8_t> bytes) {
  const auto offset = static_cast<int64_t>(weights_.size());
  weights_.insert(weights_.end(), bytes.begin(), bytes.end());
  weights_.resize(
      static_cast<size_t>(round_up(static_cast<int64_t>(weights_.size()), kBufferAlignment)));
  const auto size = static_cast<int64_t>(bytes.size());
  if (shares_) return share(constants_, offset, size);
  return {add(constants_, offset, size, ""), 0};
}
NetworkWriter::Place NetworkWriter::add_intermediate(int64_t offset, int64_t bytes,
                                                     std::string name) {
  if (shares_) return share(intermediates_, offset, bytes);
  return {add(intermediates_, offset, bytes, std::move(name)), 0};
}

std::vector<uint8_t> NetworkWriter::finish(std::span<const uint8_t> command_stream) const {
  std::vector<uint8_t> bytes;
  for (const int64_t value : {kContainerMagic, kContainerMajor, int64_t{0}, int64_t{0}})
    append(bytes, static_cast<size_t>(value));
  append_array(bytes, weights_);
  append_array(bytes, command_stream);
  const std::vector<Row> stream = {{0, 0, static_cast<uint32_t>(command_stream.size()), ""}};
  for (const std::vector<Row>* rows :
       {&inputs_, &outputs_, &stream, &constants_, &intermediates_}) {
    append(bytes, rows->size());
    for (const Row& row : *rows) {
      append(bytes, row.id), append(bytes, row.offset), append(bytes, row.bytes);
      append_array(bytes, row.name);
    }
  }
  return bytes;
}

}  // namespace intarsia::targets::ethos_n
