#include "commands/intrinsics.h"

#include <memory>
#include <string>
#include <utility>

#include "commands/commands.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr std::string_view kPrefix = "ethos_u.";

struct Name {
  std::string_view intrinsic, command;
};
constexpr Name kNames[] = {{"ethos_u.conv", "OP_CONV"},
                           {"ethos_u.depthwise", "OP_DEPTHWISE"},
                           {"ethos_u.pool", "OP_POOL"},
                           {"ethos_u.elementwise", "OP_ELEMENTWISE"},
                           {"ethos_u.dma", "OP_DMA_START"}};

int64_t constant(const std::variant<tir::BufferRun, tir::Expr>& operand) {
  const auto* expr = std::get_if<tir::Expr>(&operand);
  const auto* value = expr == nullptr ? nullptr : std::get_if<tir::IntImm>(&(*expr)->node);
  INTARSIA_CHECK(value != nullptr, "codes and values of commands are constants");
  return value->value;
}

}  // namespace

const tir::Expr& Statements::number(int64_t value) {
  tir::Expr& made = numbers_[value];
  if (made == nullptr) made = tir::int_imm(value, DataType::Int64);
  return made;
}

tir::Stmt Statements::of(const Intrinsic& intrinsic, std::string comment) {
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
  operands.reserve(2 * (intrinsic.memory.size() + intrinsic.registers.size() + 1));
  for (const MemoryOperand& operand : intrinsic.memory) {
    operands.emplace_back(number(operand.base));
    operands.emplace_back(operand.run);
  }
  for (const RegisterValue& value : intrinsic.registers) {
    operands.emplace_back(number(value.code));
    operands.emplace_back(number(value.value));
  }
  operands.emplace_back(number(intrinsic.operation));
  operands.emplace_back(number(intrinsic.parameter));
  for (const Name& name : kNames)
    if (command_named(name.command).code == intrinsic.operation)
      return std::make_shared<const tir::StmtNode>(tir::StmtNode{
          tir::Intrinsic{std::string(name.intrinsic), std::move(operands)}, std::move(comment)});
  INTARSIA_CHECK(false, "intrinsics are operations");
}

Intrinsic from_statement(const tir::Stmt& statement) {
  const auto* node = std::get_if<tir::Intrinsic>(&statement->node);
  INTARSIA_CHECK(node != nullptr && node->name.starts_with(kPrefix) && node->operands.size() >= 2 &&
                     node->operands.size() % 2 == 0,
                 "a function of this device consists of its intrinsics");
  Intrinsic result;
  for (size_t i = 0; i < node->operands.size(); i += 2) {
    const auto code = static_cast<uint32_t>(constant(node->operands[i]));
    if (const auto* run = std::get_if<tir::BufferRun>(&node->operands[i + 1])) {
      result.memory.push_back({code, *run});
    } else if (i + 2 < node->operands.size()) {
      result.registers.push_back({code, constant(node->operands[i + 1])});
    } else {
      result.operation = code;
      result.parameter = static_cast<uint32_t>(constant(node->operands[i + 1]));
    }
  }
  return result;
}

}  // namespace intarsia::targets::ethos_u
