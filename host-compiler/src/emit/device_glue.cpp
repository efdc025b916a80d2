#include "emit/device_glue.h"

#include <set>

#include <fmt/format.h>

#include "support/c_writer.h"

namespace intarsia::emission {
namespace {

struct Device {
  const Target* member;
  RuntimePart runtime;
  SimulatorPart simulator;
  std::string name;  // as boards call it
  int unit = 0;      // among the target's devices of this name
};

std::vector<Device> devices_of(const EmittedModel& model, const TargetRegistry& registry,
                               const TargetSpec& target) {
  std::vector<Device> devices;
  for (const std::string& member_name : model.members) {
    Device device;
    device.member = target.member(member_name);
    INTARSIA_CHECK(device.member != nullptr, "streams belong to members of the target");
    const TargetKind& kind = registry.kind(device.member->kind);
    device.runtime = kind.runtime(*device.member);
    device.simulator = kind.simulator(*device.member);
    INTARSIA_CHECK(!device.runtime.driver_type.empty(), "a kind with streams has a driver");
    device.name = kind.memory_master(*device.member);
    for (const Target& other : target.devices()) {
      if (&other == device.member) break;
      if (registry.kind(other.kind).memory_master(other) == device.name) ++device.unit;
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

bool is_simulated(const Device& device, bool simulated) {
  return simulated && !device.simulator.header.empty();
}

void open_function(CWriter& out, const Device& device, size_t index, bool simulated) {
  out.comment({fmt::format("{}: {}", device.member->name, to_string(*device.member))});
  out.open(fmt::format("static struct intarsia_device *open_device{}(void)", index));
  out.line(fmt::format("static {} driver;", device.runtime.driver_type));
  std::string call;
  if (is_simulated(device, simulated)) {
    out.line("static struct intarsia_register_bus bus;");
    out.line(fmt::format("if (bus.read == NULL) bus = {};", device.simulator.attach_expression));
    call = fmt::format("{}(&driver, &bus)", device.simulator.open_bus_function);
  } else if (device.runtime.has_registers) {
    out.line(fmt::format("void *registers = intarsia_board_registers(\"{}\", {});", device.name,
                         device.unit));
    out.line("if (registers == NULL) return NULL;");
    call = fmt::format("{}(&driver, registers)", device.runtime.open_function);
  } else {
    call = fmt::format("{}(&driver, NULL)", device.runtime.open_function);
  }
  out.line(fmt::format("if ({} != INTARSIA_OK) return NULL;", call));
  out.line("return &driver.device;");
  out.close();
}

}  // namespace

std::string device_glue_text(const EmittedModel& model, const TargetRegistry& registry,
                             const TargetSpec& target, bool simulated) {
  const std::vector<Device> devices = devices_of(model, registry, target);
  CWriter out;
  out.comment(
      {fmt::format(
           "{}: its devices on this board, behind the boards' generic main program. Generated",
           model.name),
       "file; a program of your own does not need it."});
  out.directive("#include \"intarsia_contract/board_devices.h\"");
  out.blank();
  out.directive("#include <stddef.h>");
  out.blank();
  std::set<std::string> headers;
  for (const Device& device : devices) {
    headers.insert(device.runtime.header);
    if (is_simulated(device, simulated)) headers.insert(device.simulator.header);
  }
  for (const std::string& header : headers) out.directive(fmt::format("#include \"{}\"", header));
  out.blank();
  for (size_t i = 0; i < devices.size(); ++i) {
    open_function(out, devices[i], i, simulated);
    out.blank();
  }
  out.open("struct intarsia_device *intarsia_board_device(int32_t index)");
  out.open("switch (index)");
  for (size_t i = 0; i < devices.size(); ++i)
    out.line(fmt::format("case {0}: return open_device{0}();", i));
  out.line("default: return NULL;");
  out.close();
  out.close();
  return out.text();
}

}  // namespace intarsia::emission
