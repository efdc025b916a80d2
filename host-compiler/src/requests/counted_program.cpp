#include "requests/counted_program.h"

#include "intarsia/graph/tensor_values.h"

namespace intarsia::requests {

Result<RunCycles> count_cycles(BuildSetting setting, const graph::Module& module,
                               const std::string& work_folder) {
  INTARSIA_TRY_VOID(prepare_to_count_cycles(setting));
  ExecuteRequest request;
  INTARSIA_TRY(request.program, build_program(setting, work_folder));
  request.inputs = graph::make_sample(module, graph::kFirstRandomSample);
  request.count_cycles = true;
  INTARSIA_TRY(ExecuteResult result, execute(setting, request, work_folder));
  INTARSIA_CHECK(!result.cycles.empty(), "the plugin writes what it counted of every run");
  return std::move(result.cycles.front());
}

}  // namespace intarsia::requests
