#include "end_to_end.h"

#include <cstring>

#include "intarsia/targets/ethos_n/driver.h"
#include "intarsia/targets/ethos_n/simulator.h"
#include "kinds.h"
#include "support/device_end_to_end.h"

namespace intarsia::test::ethos_n {

Result<CompiledModel> compile_for(const graph::Module& module, const std::string& target) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const TargetSpec spec, parse_target_argument(registry.catalogue(), target));
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  return compile_module(module, registry, spec, options);
}

std::vector<uint8_t> network_of(const CompiledModel& model) {
  const std::vector<uint8_t>& payload = model.program().emitted.streams.at(0).commands;
  uint32_t at = 0;
  std::memcpy(&at, payload.data() + 12, sizeof at);
  return {payload.begin() + at, payload.end()};
}

std::string run_on(const std::string& target, const CompiledModel& compiled,
                   const std::vector<graph::TensorValue>& inputs,
                   std::vector<graph::TensorValue>& outputs) {
  intarsia_ethos_n npu;
  const intarsia_register_bus bus =
      intarsia_ethos_n_simulator(target.substr(0, target.find(' ')).c_str());
  if (const intarsia_status status = intarsia_ethos_n_open_bus(&npu, &bus); status != INTARSIA_OK)
    return "the device does not open: " + std::to_string(status);
  std::map<std::string, intarsia_device*> devices;
  for (const CommandStream& stream : compiled.program().emitted.streams)
    devices[stream.device] = &npu.device;
  return try_run_compiled(compiled, devices, inputs, outputs);
}

}  // namespace intarsia::test::ethos_n
