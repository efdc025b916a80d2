#include "emission/device_glue.h"

#include <set>

#include <fmt/format.h>

#include "intarsia/plugin/c_writer.h"

namespace intarsia::emission {
namespace {

struct Device {
  const Target* target;
  DeviceDriver driver;
  DeviceSimulator simulator;  // no header: there is none
  std::string name;           // as boards call it
  int unit = 0;               // among the target's devices of this name
};

std::vector<Device> devices_of(const EmittedModel& model, const TargetRegistry& registry,
                               const TargetSpec& target) {
  std::vector<Device> devices;
  for (const std::string& device_name : model.devices) {
    Device device;
    device.target = target.device(device_name);
    INTARSIA_CHECK(device.target != nullptr, "streams belong to devices of the target");
    const TargetKind& kind = registry.kind_of(*device.target);
    INTARSIA_CHECK(kind.driver, "a kind with streams has a driver");
    device.driver = kind.driver(*device.target);
    if (kind.simulator) device.simulator = kind.simulator(*device.target);
    device.name = kind.memory_master(*device.target);
    for (const Target& other : target.beside_host()) {
      if (&other == device.target) break;
      if (registry.kind_of(other).memory_master(other) == device.name) ++device.unit;
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

DevicePlace place_of(const Device& device, DevicePlace place) {
  return device.simulator.header.empty() ? DevicePlace::Board : place;
}

// Registers that the board says it has are answered for there, by the simulated device: the driver is the one for silicon.
void at_board_registers(CWriter& out, const Device& device, size_t index) {
  out.line(fmt::format("void *registers = intarsia_board_registers(\"{}\", {});", device.name,
                       device.unit));
  out.open(fmt::format("if (registers != NULL && intarsia_remote_registers({}, registers) == 0)",
                       index));
  out.line(fmt::format("if ({}(&driver, registers) != INTARSIA_OK) return NULL;",
                       device.driver.open_function));
  out.line("return &driver.device;");
  out.close();
}

void open_function(CWriter& out, const Device& device, size_t index, DevicePlace place) {
  out.comment({fmt::format("{}: {}", device.target->name, to_string(*device.target))});
  out.open(fmt::format("static struct intarsia_device *open_device{}(void)", index));
  out.line(fmt::format("static {} driver;", device.driver.driver_type));
  std::string call;
  if (place_of(device, place) == DevicePlace::Remote) {
    out.line("static struct intarsia_register_bus bus;");
    if (device.driver.has_registers) at_board_registers(out, device, index);
    out.line(fmt::format("bus = intarsia_remote_bus({});", index));
    out.line("if (bus.read == NULL) return NULL;");
    call = fmt::format("{}(&driver, &bus)", device.simulator.open_bus_function);
  } else if (place_of(device, place) == DevicePlace::InProgram) {
    out.line("static struct intarsia_register_bus bus;");
    out.line(fmt::format("if (bus.read == NULL) bus = {};", device.simulator.attach_expression));
    call = fmt::format("{}(&driver, &bus)", device.simulator.open_bus_function);
  } else if (device.driver.has_registers) {
    out.line(fmt::format("void *registers = intarsia_board_registers(\"{}\", {});", device.name,
                         device.unit));
    out.line("if (registers == NULL) return NULL;");
    call = fmt::format("{}(&driver, registers)", device.driver.open_function);
  } else {
    call = fmt::format("{}(&driver, NULL)", device.driver.open_function);
  }
  out.line(fmt::format("if ({} != INTARSIA_OK) return NULL;", call));
  out.line("return &driver.device;");
  out.close();
}

}  // namespace

std::string device_glue_text(const EmittedModel& model, const TargetRegistry& registry,
                             const TargetSpec& target, DevicePlace place) {
  const std::vector<Device> devices = devices_of(model, registry, target);
  CWriter out;
  out.comment(
      {fmt::format(
           "{}: its devices on this board, behind the boards' generic main program. Generated",
           model.name),
       "file; a program of your own does not need it."});
  out.directive("#include \"intarsia/contract/board_devices.h\"");
  if (place == DevicePlace::Remote) out.directive("#include \"intarsia/contract/remote_device.h\"");
  out.blank();
  out.directive("#include <stddef.h>");
  out.blank();
  std::set<std::string> headers;
  for (const Device& device : devices) {
    headers.insert(device.driver.header);
    if (place_of(device, place) == DevicePlace::InProgram) headers.insert(device.simulator.header);
  }
  for (const std::string& header : headers) out.directive(fmt::format("#include \"{}\"", header));
  out.blank();
  for (size_t i = 0; i < devices.size(); ++i) {
    open_function(out, devices[i], i, place);
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

std::string device_server_text(const EmittedModel& model, const TargetRegistry& registry,
                               const TargetSpec& target) {
  const std::vector<Device> devices = devices_of(model, registry, target);
  CWriter out;
  out.comment({fmt::format(
      "{}: its devices simulated, for firmware in an emulator. Generated file.", model.name)});
  out.directive("#include \"intarsia/contract/remote_device.h\"");
  out.blank();
  std::set<std::string> headers;
  for (const Device& device : devices)
    if (!device.simulator.header.empty()) headers.insert(device.simulator.header);
  for (const std::string& header : headers) out.directive(fmt::format("#include \"{}\"", header));
  out.blank();
  out.open("int main(int argc, char **argv)");
  out.line(fmt::format("struct intarsia_register_bus devices[{}] = {{}};", devices.size()));
  for (size_t i = 0; i < devices.size(); ++i)
    if (!devices[i].simulator.header.empty())
      out.line(fmt::format("devices[{}] = {};", i, devices[i].simulator.attach_expression));
  out.line(fmt::format("return intarsia_serve_devices(argc, argv, devices, {});", devices.size()));
  out.close();
  return out.text();
}

}  // namespace intarsia::emission
