// Streams of the Ethos-U85: written by hand, from the table in isa/, and recorded ones changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "intarsia/targets/ethos_u85/command_state.h"
#include "intarsia/targets/ethos_u85/payload.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_u {

// What the model gave that the file was compiled from, which lies where the file does: names mean one thing there.
inline std::filesystem::path u85_goldens_of(const std::filesystem::path& path) {
  const std::string model = path.parent_path().filename().string();
  for (const char* folder : {"conformance", "models"})
    if (!is_own(path) && std::filesystem::exists(shared_folder() / folder / model))
      return shared_folder() / folder / model;
  return recorded_folder(model);
}

using Words = std::vector<uint32_t>;  // of a command: one or two

// Changes all commands of a kind in a payload; returns how many there are. The length stays.
template <typename Change>
size_t edit_commands(std::vector<uint8_t>& payload, simulators::ethos_u85::Command wanted,
                     const Change& change) {
  namespace sim = simulators::ethos_u85;
  sim::Payload read;
  if (sim::read_payload(payload, read)) return 0;
  const auto begin = static_cast<size_t>(read.stream.data() - payload.data());
  size_t found = 0;
  for (uint32_t at = 0; at < read.stream.size();) {
    sim::DecodedCommand command;
    if (sim::decode(read.stream, at, command)) break;
    if (command.command == wanted) {
      Words words;
      for (uint32_t i = 0; i < command.words; ++i) {
        const uint8_t* from = payload.data() + begin + at + 4 * i;
        words.push_back(from[0] | static_cast<uint32_t>(from[1]) << 8 |
                        static_cast<uint32_t>(from[2]) << 16 |
                        static_cast<uint32_t>(from[3]) << 24);
      }
      change(words);
      for (uint32_t i = 0; i < command.words; ++i)
        for (int byte = 0; byte < 4; ++byte)
          payload[begin + at + 4 * i + static_cast<size_t>(byte)] =
              static_cast<uint8_t>(words[i] >> (8 * byte));
      ++found;
    }
    at += 4 * command.words;
  }
  return found;
}

class U85StreamWriter {
 public:
  using Command = simulators::ethos_u85::Command;

  U85StreamWriter& word(uint32_t value) {
    for (int byte = 0; byte < 4; ++byte)
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * byte)));
    return *this;
  }
  // A command of one word, its parameter as a whole.
  U85StreamWriter& set(Command command, int64_t parameter) {
    return word(simulators::ethos_u85::row_of(command).code |
                static_cast<uint32_t>(parameter & 0xFFFF) << 16);
  }
  // A command with a payload.
  U85StreamWriter& set(Command command, int64_t parameter, uint32_t payload) {
    word(simulators::ethos_u85::row_of(command).code | 0x4000 |
         static_cast<uint32_t>(parameter & 0xFFFF) << 16);
    return word(payload);
  }
  U85StreamWriter& address(Command command, uint64_t value) {
    return set(command, static_cast<int64_t>(value >> 32 & 0xFF), static_cast<uint32_t>(value));
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace intarsia::test::ethos_u
