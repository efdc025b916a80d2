// Helpers for text that came from outside: whether it is readable, where we are in it, and how it
// is quoted in a message so that no message carries control characters or kilobytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia {

// Longer target texts are refused unread.
inline constexpr size_t kMaxTargetText = 64 * 1024;

// Offset of the first byte that is not UTF-8, or a control character; tab and line breaks pass
// only when `allow_space`.
std::optional<size_t> find_unreadable(std::string_view text, bool allow_space);

// "character 7", or "line 2, column 5" when there are several lines.
std::string position_in(std::string_view text, size_t offset);

// 'text', clipped and without control characters.
std::string in_quotes(std::string_view text);

// [A-Za-z_][A-Za-z0-9_.-]*: device names, kinds, tags, attributes.
bool is_name(std::string_view text);
bool is_name_character(char c);

// "did you mean 'x'?", or an empty string; does not search for words no name is as long as.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& words, std::string_view separator);

}  // namespace intarsia
