#include "component.h"

#include <vector>

#include <fmt/format.h>

#include "intarsia/targets/llvm/load_component.h"

namespace intarsia::targets::llvm {
namespace {

void take_text(void* context, const char* bytes, size_t size) {
  static_cast<std::string*>(context)->append(bytes, size);
}

Diagnostics refused(const Target& target, const std::string& problem, const std::string& hint) {
  return Diagnostics(fmt::format("target '{}'", target.name), problem, hint);
}

}  // namespace

Result<IrDialect> describe(const Target& target) {
  INTARSIA_TRY(const Component component, the_component());
  const MachineTexts texts(target);
  const intarsia_llvm_machine machine = texts.machine();
  intarsia_llvm_facts facts;
  std::string problem;
  if (component.describe(&machine, &facts, take_text, &problem) != 0)
    return refused(target, problem, "give another -mtriple, or an LLVM that has one for it");
  if (facts.little_endian == 0)
    return refused(target, fmt::format("'{}' stores the high byte first", machine.triple),
                   "models are made for machines that store the low byte first");
  return IrDialect{facts.typed_pointers != 0, facts.pointer_bits,  facts.runs_here != 0,
                   facts.vector_bits,         facts.permutes != 0, facts.pair_bits};
}

Result<std::string> object_file(const Target& target, const tir::Module& module,
                                const std::string& ir) {
  INTARSIA_TRY(const Component component, the_component());
  const MachineTexts texts(target);
  const intarsia_llvm_machine machine = texts.machine();
  std::vector<std::string> names;
  for (const tir::Constant& constant : module.constants)
    names.push_back(module.name + "_" + constant.name);
  std::vector<intarsia_llvm_constant> constants;
  for (size_t i = 0; i < names.size(); ++i)
    constants.push_back(
        {names[i].c_str(), module.constants[i].bytes.data(), module.constants[i].bytes.size()});
  const intarsia_llvm_module asked{ir.data(), ir.size(), constants.data(), constants.size()};
  std::string answer;
  if (component.compile(&machine, &asked, take_text, &answer) != 0)
    return refused(target, answer, "compile for kind 'c', and report it");
  return answer;
}

}  // namespace intarsia::targets::llvm
