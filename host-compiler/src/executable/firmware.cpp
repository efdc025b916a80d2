#include "executable/firmware.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "emission/device_glue.h"
#include "packaging/runtime_files.h"
#include "packaging/runtime_trees.h"
#include "packaging/simulators.h"
#include "support/files.h"

namespace intarsia::executable {
namespace {

constexpr const char* kName = "firmware";
constexpr int64_t kPageBytes = 4096;  // sizes are rounded up to these

int64_t rounded(int64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

int64_t package_bytes(const FirmwareRequest& request) {
  if (request.room.package_bytes > 0) return request.room.package_bytes;
  int64_t most = 0;
  for (const ExecutableModel& model : request.models)
    most = std::max(most, std::ssize(model.package()));
  return rounded(most + most / 4);
}

// Inputs, or outputs, of a package: as many as any of the models has, and a few for other ones.
size_t most_tensors(const std::vector<ExecutableModel>& models) {
  size_t most = 16;
  for (const ExecutableModel& model : models)
    most = std::max({most, model.program.inputs.size(), model.program.outputs.size()});
  return most;
}

// RAM for a package from a file: of what devices read, where they read streams; else the memory with most room.
std::string buffer_memory(const board::Board& board, bool read_by_devices) {
  const board::Memory* streams = board.find_memory(board.roles.streams);
  if (read_by_devices && streams != nullptr && streams->kind == board::MemoryKind::Ram)
    return streams->name;
  const auto room = [&](const std::string& name) {
    return board::available(board, *board.find_memory(name));
  };
  return *std::ranges::max_element(board.roles.activations, {}, room);
}

Result<void> add_room(const FirmwareRequest& request, Image& image) {
  for (const MemoryBlock& asked : request.room.memories) {
    const board::Memory* memory = request.board.find_memory(asked.name);
    if (memory == nullptr || memory->kind != board::MemoryKind::Ram)
      return Diagnostics(
          "--arena", fmt::format("board {} has no RAM '{}'", request.board.name, asked.name),
          fmt::format("'intarsia boards {}' lists its memories", request.board.name));
    const auto known = std::ranges::find(image.memories, asked.name, &MemoryBlock::name);
    if (known == image.memories.end())
      image.memories.push_back(asked);
    else
      known->bytes = std::max(known->bytes, asked.bytes);
  }
  return {};
}

// The devices of all models as those of one.
EmittedModel devices_of(const FirmwareRequest& request) {
  EmittedModel all;
  all.name = kName;
  for (const CompiledProgram* program : request.compiled)
    for (const std::string& device : program->emitted.devices)
      if (std::ranges::find(all.devices, device) == all.devices.end())
        all.devices.push_back(device);
  return all;
}

Result<void> add_libraries(const FirmwareRequest& request, const EmittedModel& devices,
                           PackageContents& package, packaging::RuntimeTrees& runtime) {
  const TargetSpec& target = request.compiled.front()->target;
  std::set<std::string> folders;
  const auto add = [&](const std::string& folder) -> Result<void> {
    if (!folders.insert(folder).second) return {};
    return packaging::add_target(request.options, folder, runtime);
  };
  for (const std::string& name : devices.devices) {
    const Target& device = *target.device(name);
    const DeviceDriver driver = request.registry.kind_of(device).driver(device);
    INTARSIA_TRY_VOID(packaging::check_driver(device, driver));
    package.manifest.link_libraries.insert(package.manifest.link_libraries.end(),
                                           driver.link_libraries.begin(),
                                           driver.link_libraries.end());
    INTARSIA_TRY_VOID(add(driver.folder));
  }
  for (const Target& device : target.devices()) {
    const KernelLibrary* library = request.registry.kind_of(device).kernels_for(device);
    if (library != nullptr) INTARSIA_TRY_VOID(add(library->folder));
  }
  return {};
}

}  // namespace

KeptPackage kept_package(const board::Board& board, bool read_by_devices, int64_t bytes) {
  const board::Memory* memory = board.find_memory(read_by_devices && !board.roles.streams.empty()
                                                      ? board.roles.streams
                                                      : board.roles.constants.front());
  if (board.native() || memory == nullptr) return {};
  const auto size = static_cast<uint64_t>(rounded(bytes));
  if (size + memory->reserved > memory->size) return {};
  // At the end of what is offered to models, so that the program lies in front of it.
  const uint64_t end = memory->end() - memory->reserved;
  return {memory->name, (end - size) / kPageBytes * kPageBytes, size};
}

Result<Firmware> make_firmware(const FirmwareRequest& request) {
  const PackageOptions& options = request.options;
  Firmware firmware;
  firmware.image = image_for(request.models);
  Image& image = firmware.image;
  INTARSIA_TRY_VOID(add_room(request, image));
  EmittedModel devices = devices_of(request);
  const TargetSpec& target = request.compiled.front()->target;
  image.devices.clear();
  for (const std::string& device : devices.devices)
    image.devices.push_back(to_string(*target.device(device)));
  const bool has_devices = !devices.devices.empty();
  const int64_t bytes = package_bytes(request);
  image.package_buffer = {buffer_memory(request.board, has_devices), bytes};
  const KeptPackage kept = kept_package(request.board, has_devices, bytes);
  image.kept_at = kept.address;
  image.kept_bytes = kept.bytes;

  PackageContents& package = firmware.package;
  PackageManifest& manifest = package.manifest;
  manifest.model = kName;
  manifest.target = to_string(target);
  manifest.board = options.board;
  manifest.core = options.core;
  manifest.devices = devices.devices;
  manifest.include_dirs = {".", options.resource_root + "/boards/common/include"};
  if (request.same_interface) image.interface_id = request.models.front().program.interface_id;
  image.tensors = most_tensors(request.models);
  manifest.inputs.resize(image.tensors);
  package.files.push_back({"image.c", image_text(image)});
  INTARSIA_TRY(std::string model,
               read_text_file(options.resource_root + "/boards/common/executor_model.c"));
  model.insert(0, fmt::format("#define INTARSIA_MAX_TENSORS {}\n\n", image.tensors));
  package.files.push_back({"executor_model.c", std::move(model)});
  INTARSIA_TRY(packaging::RuntimeTrees runtime,
               packaging::portable_runtime(options, {.core = true, .executor = true}));
  INTARSIA_TRY_VOID(add_libraries(request, devices, package, runtime));
  if (!runtime.stand_ins.empty())
    return Diagnostics("--driver", "another driver's library is no part of a firmware for packages",
                       "leave it out");
  if (has_devices) {
    using Place = emission::DevicePlace;
    const Place place = options.simulated            ? Place::InProgram
                        : options.simulated_remotely ? Place::Remote
                                                     : Place::Board;
    package.files.push_back(
        {"devices.c", emission::device_glue_text(devices, request.registry, target, place)});
  }
  packaging::add_runtime_files(runtime.firmware, package.files);
  if (has_devices && (options.simulated || options.simulated_remotely))
    packaging::add_simulators({devices, request.registry, target}, runtime,
                              options.simulated_remotely, package);
  packaging::list_sources(options.simulated_remotely, package);
  return firmware;
}

}  // namespace intarsia::executable
