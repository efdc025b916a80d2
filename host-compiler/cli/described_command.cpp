#include "described_command.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "intarsia/diagnostics.h"
#include "support/amounts.h"

namespace intarsia::cli {

std::string not_empty(const std::string& text) {
  return text.empty() ? "is empty" : "";
}

CLI::Validator bytes_text() {
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<int64_t> bytes = parse_bytes(text);
        if (!bytes)
          return fmt::format("'{}' is no size; write bytes as 60000, 20K, 1.5M or 2G (K is 1024)",
                             text);
        if (*bytes < 1) return std::string("is less than one byte");
        text = std::to_string(*bytes);
        return std::string();
      },
      "BYTES");
}

namespace {

template <typename Number>
CLI::Validator number(const char* what, int64_t least, int64_t most) {
  return CLI::Validator(
      [=](std::string& text) {
        Number value{};
        const char* const end = text.data() + text.size();
        const auto [read, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && read == end && value >= static_cast<Number>(least) &&
            value <= static_cast<Number>(most))
          return std::string();
        return fmt::format("'{}' is no {} from {} to {}", text, what, least, most);
      },
      "NUMBER");
}

}  // namespace

CLI::Validator whole_number(int64_t least, int64_t most) {
  return number<int64_t>("whole number", least, most);
}

CLI::Validator real_number(int64_t least, int64_t most) {
  return number<double>("number", least, most);
}

CLI::Validator one_of(std::vector<std::string> words, std::vector<std::string> unlisted) {
  return CLI::Validator(
      [words = std::move(words), unlisted = std::move(unlisted)](std::string& text) {
        for (const auto* list : {&words, &unlisted})
          if (std::ranges::find(*list, text) != list->end()) return std::string();
        const std::string near = nearest_name(text, words);
        const std::string all = fmt::format("'{}' is none of {}", text, fmt::join(words, ", "));
        return near.empty() ? all : fmt::format("{}; did you mean '{}'?", all, near);
      },
      "WORD");
}

CLI::Validator bytes_or_auto_text() {
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<int64_t> bytes = parse_bytes(text);
        if (text == kAutoBudget || (bytes && *bytes >= 1)) return std::string();
        if (bytes) return std::string("is less than one byte");
        return fmt::format(
            "'{}' is no size; write bytes as 60000, 20K, 1.5M or 2G (K is 1024), or auto", text);
      },
      "BYTES");
}

OptionPage DescribedCommand::page_of(const CLI::Option& option) const {
  OptionPage page;
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  page.takes_value = option.get_items_expected_max() > 0;
  if (const auto found = values_.find(&option); found != values_.end()) page.value = found->second;
  page.text = option.get_description();
  if (page.takes_value) page.default_text = option.get_default_str();
  page.is_required = option.get_required();
  page.may_repeat = page.takes_value && option.get_items_expected_max() > 1;
  return page;
}

CommandPage DescribedCommand::page() const {
  CommandPage page{app_.get_name(), group_, app_.get_description(), text_, {}, {}, examples_};
  for (const CLI::Option* option : static_cast<const CLI::App&>(app_).get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->get_positional()) {
      page.arguments.push_back(page_of(*option));
      continue;
    }
    auto found =
        std::find_if(page.groups.begin(), page.groups.end(),
                     [&](const OptionGroup& group) { return group.title == option->get_group(); });
    if (found == page.groups.end())
      found = page.groups.insert(page.groups.end(), {option->get_group(), {}});
    found->options.push_back(page_of(*option));
  }
  // --help is the parser's first option.
  std::stable_partition(page.groups.begin(), page.groups.end(),
                        [](const OptionGroup& group) { return group.title != kLastGroup; });
  if (!page.groups.empty() && page.groups.back().title == kLastGroup) {
    std::vector<OptionPage>& last = page.groups.back().options;
    std::stable_partition(last.begin(), last.end(),
                          [](const OptionPage& option) { return option.names.back() != "--help"; });
  }
  return page;
}

}  // namespace intarsia::cli
