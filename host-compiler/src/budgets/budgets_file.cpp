#include "budgets/budgets_file.h"

#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/json_reader.h"
#include "support/strict_json.h"

namespace intarsia::budgets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPage = "docs/check-in-ci.md";

// Keys that are options of the command line; `choices`: what they may be, where that is a list.
struct OptionKey {
  const char* key;
  const char* option;
  std::vector<std::string> choices = {};
};
const OptionKey kOptionKeys[] = {{"target", "target"},
                                 {"board", "board"},
                                 {"name", "name"},
                                 {"policy", "policy", {"priority", "cost"}},
                                 {"optimise", "optimise", {"size", "speed", "balanced"}},
                                 {"io", "io", {"float", "int8"}}};

struct LimitKey {
  const char* key;
  Kind kind;
};
constexpr LimitKey kLimitKeys[] = {{"max_ram", Kind::Ram},
                                   {"max_flash", Kind::Flash},
                                   {"max_stack", Kind::Stack},
                                   {"max_cycles", Kind::Cycles}};

// "20K", 20480, or a list of such.
void read_limits(const json& value, const LimitKey& key, const std::string& where,
                 std::vector<Limit>& limits, Diagnostics& problems) {
  if (value.is_array()) {
    for (const json& each : value) read_limits(each, key, where, limits, problems);
    return;
  }
  if (!value.is_string() && !value.is_number_unsigned()) {
    problems.add(where, fmt::format("'{}' is neither a text nor a whole number", key.key),
                 "write for example \"20K\", 20480 or [\"24K\", \"sram=16K\"]");
    return;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  Result<Limit> limit = parse_limit(key.kind, text, fmt::format("{}: {}", where, key.key));
  if (limit.ok())
    limits.push_back(*std::move(limit));
  else
    problems.append(limit.error());
}

void read_ram_budget(JsonReader& reader, const std::string& where, ModelBudget& entry,
                     Diagnostics& problems) {
  const json* budget = reader.optional_value("ram_budget");
  if (budget == nullptr) return;
  if (*budget == "auto") {
    entry.options["ram-budget"] = "auto";
    return;
  }
  const size_t before = problems.items().size();
  const uint64_t bytes = reader.optional_amount("ram_budget", 0);
  if (problems.items().size() > before) return;
  if (bytes == 0 || bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    problems.add(where, fmt::format("'ram_budget' cannot be {}", bytes),
                 "write bytes, for example \"20K\", \"auto\" for what the board has, or leave it "
                 "out");
  entry.options["ram-budget"] = std::to_string(bytes);
}

ModelBudget parse_model(const json& value, const std::string& where, const fs::path& folder,
                        Diagnostics& problems) {
  JsonReader reader(value, where, problems, kPage);
  // Without the "./" of a folder that is not named.
  const auto located = [&](const std::string& path) {
    return path.empty() || folder.empty() ? path : (folder / path).string();
  };
  ModelBudget entry;
  entry.where = where;
  entry.model = located(reader.text("model"));
  for (const OptionKey& key : kOptionKeys) {
    std::string text = reader.optional_text(key.key);
    if (text.empty()) continue;
    if (!key.choices.empty() &&
        std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end())
      problems.add(where, fmt::format("'{}' cannot be '{}'", key.key, text),
                   fmt::format("write {}", fmt::join(key.choices, " or ")));
    if (key.option == std::string_view("board") && text.find('/') != std::string::npos)
      text = located(text);
    entry.options[key.option] = std::move(text);
  }
  read_ram_budget(reader, where, entry, problems);
  entry.pins = reader.optional_texts("pins");
  for (const LimitKey& key : kLimitKeys)
    if (const json* limit = reader.optional_value(key.key))
      read_limits(*limit, key, where, entry.limits, problems);
  entry.baseline = located(reader.optional_text("baseline"));
  if (const std::string growth = reader.optional_text("max_growth"); !growth.empty()) {
    const Result<Growth> parsed = parse_growth(growth, where + ": max_growth");
    if (!parsed.ok())
      problems.append(parsed.error());
    else
      entry.max_growth = *parsed;
    if (entry.baseline.empty())
      problems.add(where, "'max_growth' is there without a 'baseline' to grow from",
                   "name a report.json with 'baseline', or leave it out");
  }
  const size_t before = problems.items().size();
  reader.finish();
  if (value.is_object() && entry.limits.empty() && entry.baseline.empty() &&
      problems.items().size() == before)
    problems.add(where, "has neither a budget nor a baseline",
                 "give at least one of max_ram, max_flash, max_stack, max_cycles and baseline");
  return entry;
}

}  // namespace

Result<std::vector<ModelBudget>> parse_budgets(std::string_view text, const std::string& path) {
  INTARSIA_TRY(
      const json root,
      parse_strict_json(text, path,
                        fmt::format("name a file of models with their budgets ({})", kPage)));
  Diagnostics problems;
  JsonReader reader(root, path, problems, kPage);
  const json* models = reader.array("models");
  reader.finish();
  std::vector<ModelBudget> entries;
  if (models != nullptr) {
    const fs::path folder = fs::path(path).parent_path();
    for (const json& model : *models)
      entries.push_back(parse_model(model, fmt::format("{}: models[{}]", path, entries.size()),
                                    folder, problems));
    if (entries.empty()) problems.add(path, "'models' is empty", "list at least one model");
  }
  if (!problems.empty()) return problems;
  return entries;
}

}  // namespace intarsia::budgets
