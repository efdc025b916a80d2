// Writes a compiled network: ENCN 2.0.0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace intarsia::targets::ethos_n {

inline constexpr int64_t kBufferAlignment = 64;  // of every buffer in the memory of its kind

class NetworkWriter {
 public:
  // `shares_buffers`: one buffer holds all weights, and one all intermediate maps.
  explicit NetworkWriter(bool shares_buffers) : shares_(shares_buffers) {}

  // The number of a buffer, and where in it something begins.
  struct Place {
    uint32_t buffer = 0;
    int64_t base = 0;
  };
  // Numbers of buffers are given as they are added; the command stream is buffer 0.
  uint32_t add_input(int64_t bytes, std::string name);
  uint32_t add_output(int64_t bytes, std::string name);
  Place add_weights(std::span<const uint8_t> bytes);
  Place add_intermediate(int64_t offset, int64_t bytes, std::string name);

  int64_t buffers() const { return next_; }  // so far

  std::vector<uint8_t> finish(std::span<const uint8_t> command_stream) const;

 private:
  struct Row {
    uint32_t id, offset, bytes;
    std::string name;
  };
  uint32_t add(std::vector<Row>& rows, int64_t offset, int64_t bytes, std::string name);

  // Of the one buffer of a kind; it grows with what is put there.
  Place share(std::vector<Row>& rows, int64_t offset, int64_t bytes);

  bool shares_;
  uint32_t next_ = 1;
  int64_t input_end_ = 0, output_end_ = 0;
  std::vector<uint8_t> weights_;
  std::vector<Row> inputs_, outputs_, constants_, intermediates_;
};

}  // namespace intarsia::targets::ethos_n
