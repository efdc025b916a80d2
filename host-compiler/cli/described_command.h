// A sub-command of the parser with what else there is to say about it: the one place where an option is described.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_page.h"

namespace intarsia::cli {

// Checks of values.
std::string not_empty(
    const std::string&
        text);  // an empty word is more likely a script's unset variable than a choice
CLI::Validator bytes_text();  // "60000", "20K", "1.5M", "2G" become a number
CLI::Validator whole_number(int64_t least, int64_t most);
CLI::Validator real_number(int64_t least, int64_t most);
// `unlisted` is taken too and told to nobody: names of earlier versions.
CLI::Validator one_of(std::vector<std::string> words, std::vector<std::string> unlisted = {});
inline constexpr const char* kAutoBudget = "auto";
CLI::Validator bytes_or_auto_text();  // such a text, or kAutoBudget

class DescribedCommand {
 public:
  // `group` is that of the command on the program's page.
  DescribedCommand(CLI::App& program, const std::string& name, const std::string& group,
                   const std::string& summary)
      : app_(*program.add_subcommand(name, summary)), group_(group) {
    app_.group(group);
    app_.get_help_ptr()->group(kLastGroup);
  }

  CLI::App& app() { return app_; }
  void explain(const std::string& text) { text_ = text; }
  void example(const std::string& command, const std::string& what) {
    examples_.push_back({command, what});
  }
  // Of the options that are added from here on.
  void group(const std::string& title) { title_ = title; }

  template <typename Into>
  CLI::Option* argument(Into& into, const ValueKind& value, const std::string& text) {
    return remember(app_.add_option(value.name, into, text), value);
  }
  template <typename Into>
  CLI::Option* option(const std::string& names, Into& into, const ValueKind& value,
                      const std::string& text) {
    return remember(app_.add_option(names, into, text), value);
  }
  // One of the value's words.
  CLI::Option* choice(const std::string& names, std::string& into, const ValueKind& value,
                      const std::string& text) {
    return option(names, into, value, text)->check(one_of(value.words))->capture_default_str();
  }
  template <typename Into>
  CLI::Option* flag(const std::string& names, Into& into, const std::string& text) {
    return remember(app_.add_flag(names, into, text), {});
  }

  CommandPage page() const;

 private:
  static constexpr const char* kLastGroup = "Other";

  CLI::Option* remember(CLI::Option* option, const ValueKind& value) {
    option->group(title_);
    values_[option] = value;
    return option;
  }
  OptionPage page_of(const CLI::Option& option) const;

  CLI::App& app_;
  std::string group_, text_, title_ = "Options";
  std::vector<Example> examples_;
  std::map<const CLI::Option*, ValueKind> values_;
};

}  // namespace intarsia::cli
