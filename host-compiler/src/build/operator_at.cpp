#include "build/operator_at.h"

#include <algorithm>

#include "build/count_cycles.h"
#include "support/process.h"

namespace intarsia::build {

Result<OperatorMap> OperatorMap::of(const BuildSetting& setting, const std::string& program) {
  OperatorMap map;
  std::vector<std::string> command = {disassembler_of(setting.board.compiler)};
  for (std::string& argument : board::disassembler_arguments("", program))
    command.push_back(std::move(argument));
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command));
  map.code_ = board::parse_disassembly(outcome.out);
  std::sort(map.code_.begin(), map.code_.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  INTARSIA_TRY(map.operators_, operators_of(setting));
  return map;
}

const board::OperatorLines* OperatorMap::at(uint32_t address) const {
  auto found =
      std::upper_bound(code_.begin(), code_.end(), address,
                       [](uint32_t value, const auto& code) { return value < code.address; });
  if (found == code_.begin()) return nullptr;
  --found;
  if (address - found->address >= found->size) return nullptr;
  for (const board::OperatorLines& lines : operators_)
    if (lines.file == found->source.file && found->source.line >= lines.first &&
        found->source.line <= lines.last)
      return &lines;
  return nullptr;
}

const board::OperatorLines* OperatorMap::before(uint32_t address) const {
  return address == 0 ? nullptr : at(address - 1);
}

}  // namespace intarsia::build
