#include "usage_errors.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace intarsia::cli {
namespace {

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Words behind an unknown option may be its value: they are no news beside it.
Diagnostics unknown_options(const CLI::App& command) {
  Diagnostics problems;
  for (const std::string& word : command.remaining()) {
    if (!word.starts_with('-') || word.size() < 2) continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string near = nearest_name(name, names_of_options(command));
    problems.add(name, fmt::format("'{}' has no such option", command.get_name()),
                 near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  return problems;
}

Diagnostics words_too_many(const CLI::App& command) {
  Diagnostics problems;
  for (const std::string& word : command.remaining())
    problems.add(word, fmt::format("is a word more than '{}' takes", command.get_name()));
  return problems;
}

// How often an option was given, or that its value is missing: the error tells it by its text alone.
Diagnostics wrong_count(const CLI::App& command, const std::string& said) {
  const std::string name = said.substr(0, said.find_first_of(": "));
  for (const CLI::Option* option : command.get_options()) {
    if (!option->check_name(name)) continue;
    if (option->get_items_expected_max() == 0) return Diagnostics(name, "takes no value");
    const size_t given = option->count();
    if (given > 1)
      return Diagnostics(name, fmt::format("is given {} times", given), "give it once");
    return Diagnostics(name, "needs a value behind it");
  }
  return Diagnostics("", said);
}

}  // namespace

Diagnostics usage_problems(const CLI::App& command, const CLI::ParseError& error) {
  // What is missing may be what a misspelt option was to give.
  if (Diagnostics unknown = unknown_options(command); !unknown.empty()) return unknown;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    if (Diagnostics words = words_too_many(command); !words.empty()) return words;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return wrong_count(command, error.what());
  return Diagnostics("", error.what());
}

}  // namespace intarsia::cli
