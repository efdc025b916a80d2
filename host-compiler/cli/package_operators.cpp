#include "package_operators.h"

#include <nlohmann/json.hpp>

#include "support/files.h"

namespace intarsia::cli {
namespace {

void add_operators(const nlohmann::json& report, std::vector<Explanation::Operator>& operators) {
  const auto rows = report.find("operators");
  if (rows == report.end() || !rows->is_array()) return;
  for (const nlohmann::json& row : *rows) {
    if (!row.is_object()) continue;
    const auto name = row.find("name"), device = row.find("member");
    if (name == row.end() || device == row.end() || !name->is_string() || !device->is_string())
      continue;
    operators.push_back({name->get<std::string>(), "", "", device->get<std::string>(), {}});
  }
}

}  // namespace

std::vector<Explanation::Operator> operators_of_package(const std::string& folder) {
  std::vector<Explanation::Operator> operators;
  const Result<std::string> text = read_text_file(folder + "/report.json");
  if (!text.ok()) return operators;
  const nlohmann::json report = nlohmann::json::parse(*text, nullptr, false);
  if (!report.is_object()) return operators;
  add_operators(report, operators);
  // A model in parts has a report of each.
  if (const auto stages = report.find("stages"); stages != report.end() && stages->is_array())
    for (const nlohmann::json& stage : *stages)
      if (stage.is_object()) add_operators(stage, operators);
  return operators;
}

}  // namespace intarsia::cli
