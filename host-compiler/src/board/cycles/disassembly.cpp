#include "board/cycles/disassembly.h"

#include <cctype>
#include <charconv>
#include <optional>

namespace intarsia::board {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return text;
}

std::string_view next_field(std::string_view& line) {
  const size_t tab = line.find('\t');
  const std::string_view field = line.substr(0, tab);
  line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  return field;
}

// "/path/kws.c:123", "inlined by /path/kws.c:123 (kws_run)", "/path/kws.c:123 (discriminator 2)".
std::optional<SourceLine> source_line(std::string_view line) {
  constexpr std::string_view kInlined = "inlined by ";
  if (line.starts_with(kInlined)) line.remove_prefix(kInlined.size());
  if (const size_t remark = line.rfind(" ("); remark != std::string_view::npos)
    line = line.substr(0, remark);
  const size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  SourceLine found;
  const char* end = line.data() + line.size();
  const auto [last, error] = std::from_chars(line.data() + colon + 1, end, found.line);
  if (error != std::errc() || last != end) return std::nullopt;
  found.file = line.substr(0, colon);
  return found;
}

// "   2e:\tf7ff fffe \tbl\t0 <name>": address, code, mnemonic, operands.
std::optional<CodeInstruction> instruction(std::string_view line) {
  const std::string_view address = trimmed(next_field(line));
  if (address.size() < 2 || address.back() != ':') return std::nullopt;
  CodeInstruction found;
  const char* end = address.data() + address.size() - 1;
  const auto [last, error] = std::from_chars(address.data(), end, found.address, 16);
  if (error != std::errc() || last != end) return std::nullopt;
  const std::string_view code = trimmed(next_field(line));
  const std::string_view mnemonic = trimmed(next_field(line));
  if (code.empty() || mnemonic.empty() || mnemonic.front() == '.') return std::nullopt;  // data
  found.size = code.find(' ') == std::string_view::npos && code.size() == 4 ? 2 : 4;
  found.mnemonic = mnemonic;
  const std::string_view rest = next_field(line);
  found.operands = trimmed(rest.substr(0, rest.find_first_of("@;<")));
  return found;
}

}  // namespace

std::vector<std::string> disassembler_arguments(const std::string& architecture,
                                                const std::string& program) {
  std::vector<std::string> arguments = {"-d", "-l", "--inlines"};
  if (!architecture.empty()) arguments.insert(arguments.end(), {"-m", architecture});
  arguments.push_back(program);
  return arguments;
}

std::vector<CodeInstruction> parse_disassembly(std::string_view text) {
  std::vector<CodeInstruction> found;
  SourceLine source;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (std::optional<CodeInstruction> read = instruction(line)) {
      read->source = source;
      found.push_back(*std::move(read));
    } else if (line.ends_with(">:") || line.ends_with("():")) {
      source = {};  // a function whose lines may not be known
    } else if (std::optional<SourceLine> place = source_line(line)) {
      source = *std::move(place);
    }
  }
  return found;
}

}  // namespace intarsia::board
