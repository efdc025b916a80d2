// Command streams written by hand, and changed one register at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "intarsia/targets/ethos_u/isa.h"

namespace intarsia::test::ethos_u {

class EditableStream {
 public:
  // SET_X or OP_X without payload.
  EditableStream& put(std::string_view name, uint32_t parameter = 0) {
    words_.push_back(row(name).code | parameter << 16);
    return *this;
  }
  // With payload; the upper bits of an address go into the parameter.
  EditableStream& put_wide(std::string_view name, uint64_t value, uint32_t parameter = 0) {
    words_.push_back(row(name).code | 1u << 14 |
                     (parameter | static_cast<uint32_t>(value >> 32)) << 16);
    words_.push_back(static_cast<uint32_t>(value));
    return *this;
  }
  EditableStream& raw(uint32_t word) {
    words_.push_back(word);
    return *this;
  }

  // The n-th command of this name, from 0: its byte offset.
  uint32_t offset(std::string_view name, int n = 0) const {
    return static_cast<uint32_t>(4 * at(name, n));
  }
  // Copies with one command changed, left out, or all that follows a command left out.
  EditableStream with(std::string_view name, int n, uint64_t value) const {
    EditableStream copy = *this;
    const size_t i = at(name, n);
    if (wide(words_[i]))
      copy.words_[i + 1] = static_cast<uint32_t>(value);
    else
      copy.words_[i] = (words_[i] & 0xFFFF) | static_cast<uint32_t>(value) << 16;
    return copy;
  }
  EditableStream without(std::string_view name, int n) const {
    EditableStream copy = *this;
    const auto first = copy.words_.begin() + static_cast<std::ptrdiff_t>(at(name, n));
    copy.words_.erase(first, first + (wide(*first) ? 2 : 1));
    return copy;
  }

  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> out;
    for (const uint32_t word : words_)
      for (int i = 0; i < 4; ++i) out.push_back(static_cast<uint8_t>(word >> (8 * i)));
    return out;
  }

 private:
  static bool wide(uint32_t word) { return (word >> 14 & 3) == 1; }
  static const simulators::ethos_u::CommandRow& row(std::string_view name) {
    for (const auto& candidate : simulators::ethos_u::command_table())
      if (candidate.name == name) return candidate;
    throw name;
  }
  size_t at(std::string_view name, int n) const {
    const auto& wanted = row(name);
    const bool is_wide = wanted.form != simulators::ethos_u::Form::OneWord;
    for (size_t i = 0; i < words_.size(); i += wide(words_[i]) ? 2 : 1)
      if ((words_[i] & 0x3FF) == wanted.code && wide(words_[i]) == is_wide && n-- == 0) return i;
    throw name;
  }

  std::vector<uint32_t> words_;
};

}  // namespace intarsia::test::ethos_u
