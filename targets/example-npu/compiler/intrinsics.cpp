#include "intrinsics.h"

#include <fmt/format.h>

#include "commands.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::example_npu {
namespace {

constexpr std::string_view kPrefix = "example_npu.";
constexpr std::string_view kRegion = "region_", kOffset = "offset_";

}  // namespace

std::vector<std::string_view> addresses_of(std::string_view command) {
  std::vector<std::string_view> names;
  for (const FieldRow& field : field_table())
    if (field.command == command && field.name.starts_with(kRegion))
      names.push_back(field.name.substr(kRegion.size()));
  return names;
}

std::vector<std::string_view> values_of(std::string_view command) {
  std::vector<std::string_view> names;
  for (const FieldRow& field : field_table())
    if (field.command == command && !field.name.starts_with(kRegion) &&
        !field.name.starts_with(kOffset))
      names.push_back(field.name);
  return names;
}

tir::Stmt to_statement(const Intrinsic& intrinsic) {
  const std::vector<std::string_view> values = values_of(intrinsic.command);
  INTARSIA_CHECK(intrinsic.runs.size() == addresses_of(intrinsic.command).size() &&
                     intrinsic.fields.size() == values.size(),
                 "an intrinsic has all operands of its command");
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
  for (const tir::BufferRun& run : intrinsic.runs) operands.push_back(run);
  for (const std::string_view name : values)
    operands.push_back(tir::int_imm(intrinsic.fields.at(name)));
  return tir::intrinsic(fmt::format("{}{}", kPrefix, intrinsic.command), std::move(operands));
}

Intrinsic from_statement(const tir::Stmt& statement) {
  const auto* node = std::get_if<tir::Intrinsic>(&statement->node);
  INTARSIA_CHECK(node != nullptr && node->name.starts_with(kPrefix),
                 "a function of this device consists of its intrinsics");
  Intrinsic result;
  for (const CommandRow& command : command_table())
    if (node->name.substr(kPrefix.size()) == command.name) result.command = command.name;
  const std::vector<std::string_view> values = values_of(result.command);
  const size_t runs = addresses_of(result.command).size();
  INTARSIA_CHECK(node->operands.size() == runs + values.size(),
                 "an intrinsic has all operands of its command");
  for (size_t i = 0; i < node->operands.size(); ++i) {
    if (i < runs) {
      result.runs.push_back(std::get<tir::BufferRun>(node->operands[i]));
      continue;
    }
    const auto* value = std::get_if<tir::IntImm>(&std::get<tir::Expr>(node->operands[i])->node);
    INTARSIA_CHECK(value != nullptr, "values of commands are constants");
    result.fields[values[i - runs]] = value->value;
  }
  return result;
}

}  // namespace intarsia::targets::example_npu
