#include "board/cycles/cycle_listing.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "board/cycles/timed_instruction.h"

namespace intarsia::board {
namespace {

std::string flags_of(const TimedInstruction& timed) {
  std::string flags;
  if (timed.writes_back) flags += 'w';
  if (timed.literal) flags += 'l';
  if (timed.register_offset) flags += 'r';
  if (timed.shifts_operand) flags += 's';
  if (timed.part_of_word) flags += 'p';
  return flags.empty() ? "-" : flags;
}

class OperatorOfLine {
 public:
  explicit OperatorOfLine(const std::vector<OperatorLines>& operators) {
    for (const OperatorLines& lines : operators) by_file_[path_of(lines.file)].push_back(lines);
  }
  int operator()(const SourceLine& source) const {
    const auto found = by_file_.find(path_of(source.file));
    if (found == by_file_.end()) return -1;
    for (const OperatorLines& lines : found->second)
      if (source.line >= lines.first && source.line <= lines.last) return lines.index;
    return -1;
  }

 private:
  static std::string path_of(const std::string& path) {
    return std::filesystem::path(path).lexically_normal();
  }
  std::map<std::string, std::vector<OperatorLines>> by_file_;
};

}  // namespace

std::vector<OperatorLines> operator_lines(const std::string& file, std::string_view text,
                                          const std::string& hook) {
  std::vector<OperatorLines> found;
  const std::string call = hook + "(";
  int number = 0, first = 0;  // 0: outside of functions
  bool starts_stream = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.starts_with('}')) first = 0;
    if (line.ends_with('{') && !line.starts_with(' ')) first = number, starts_stream = false;
    starts_stream = starts_stream || line.find("intarsia_package_run(") != std::string_view::npos;
    const size_t at = line.find(call);
    if (first == 0 || at == std::string_view::npos) continue;
    OperatorLines lines{file, first, number, -1, {}, starts_stream};
    std::from_chars(line.data() + at + call.size(), line.data() + line.size(), lines.index);
    if (lines.index < 0) continue;
    const size_t quote = line.find('"');
    if (quote != std::string_view::npos)
      lines.name = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
    found.push_back(lines);
    first = number + 1;
    starts_stream = false;
  }
  return found;
}

std::string cycle_listing(const Board& board, const std::vector<CodeInstruction>& code,
                          const std::vector<OperatorLines>& operators) {
  std::string text;
  for (const Memory& memory : board.memories)
    text +=
        fmt::format("memory {:x} {:x} {}\n", memory.base, memory.size, memory.cycles_per_access);
  const OperatorOfLine operator_of(operators);
  for (const CodeInstruction& instruction : code) {
    TimedInstruction unknown;
    unknown.address = instruction.address;
    unknown.size = instruction.size;
    unknown.class_name = "Unknown";
    const TimedInstruction timed =
        (board.is_riscv() ? timed_riscv_instruction(instruction) : timed_instruction(instruction))
            .value_or(unknown);
    text += fmt::format("code {:x} {} {} {} {} {} {:x} {:x} {:x} {:x} {}\n", timed.address,
                        timed.size, timed.class_name, timed.words, timed.elements, flags_of(timed),
                        timed.written, timed.read, timed.of_address, timed.accumulated,
                        operator_of(instruction.source));
  }
  return text;
}

}  // namespace intarsia::board
