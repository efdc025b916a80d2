#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "emission/device_glue.h"
#include "emission/package_contract.h"
#include "intarsia/compiled_model.h"
#include "package_writer/package_writer.h"
#include "packaging/add_once.h"
#include "packaging/build_glue.h"
#include "packaging/copy_tree.h"
#include "packaging/program_package.h"
#include "support/c_identifier.h"

namespace intarsia {
namespace {

namespace fs = std::filesystem;
using packaging::add_once;
using packaging::copy_tree;
using packaging::ProgramPackageRequest;

constexpr std::string_view kSimulatorFolder = "simulator/";

// Of the firmware, or of the program that simulates its devices.
void list_sources(const std::vector<SourceFile>& files, const std::string& ending,
                  bool of_simulator, std::vector<std::string>& sources) {
  for (const SourceFile& file : files)
    if (file.path.ends_with(ending) && file.path.starts_with(kSimulatorFolder) == of_simulator)
      sources.push_back(file.path);
}

// The parts of a target's folder that its programs need, each below a folder of its own, so that they
// are included as "<identifier>/x.h" like in the target itself.
Result<void> add_target(const ProgramPackageRequest& request, const std::string& folder,
                        PackageContents& package) {
  const fs::path path(folder);
  const std::string identifier = c_identifier(path.filename().string(), "target");
  const bool outside = path.is_absolute();
  for (const std::string part : {"isa", "device", "sim"}) {
    const bool remote = part == "sim" && request.options.simulated_remotely;
    if (part == "sim" && !request.options.simulated && !remote) continue;
    const std::string from = outside ? (path / part).string() : "targets/" + folder + "/" + part;
    std::error_code error;
    if (!fs::exists(outside ? fs::path(from) : fs::path(request.options.resource_root) / from,
                    error))
      continue;
    const std::string view =
        remote ? std::string(kSimulatorFolder) + "targets" : "runtime/targets/" + part;
    INTARSIA_TRY(std::vector<SourceFile> files,
                 copy_tree(outside ? "" : request.options.resource_root, from,
                           view + "/" + identifier, {".h", ".def", ".c", ".cpp"}));
    std::move(files.begin(), files.end(), std::back_inserter(package.files));
    if (!remote) add_once(package.manifest.include_dirs, view);
    if (request.options.simulated_remotely && part != "device")
      add_once(package.manifest.simulator_include_dirs, view);
  }
  return {};
}

PackageContract contract_of(const CompiledProgram& program) {
  emission::PackageNeeds needs =
      emission::package_needs(program.lowered, program.plan, program.emitted);
  return {needs.model_id, std::move(needs.pool_bytes), needs.alignment};
}

// What streams need: the package, the runtime core, and per device its driver and, for this machine,
// its simulator.
Result<void> add_devices(const ProgramPackageRequest& request, PackageContents& package) {
  const EmittedModel& model = request.program.emitted;
  const auto take = [&](std::vector<SourceFile> files) {
    std::move(files.begin(), files.end(), std::back_inserter(package.files));
  };
  const SharedBytes bytes = write_package(model.name, model.streams, contract_of(request.program));
  take(package_sources(model.name, bytes));
  // The same bytes as a file: for updating flash without a new image, and for 'intarsia disasm'.
  package.files.push_back({model.name + ".intarsia", "", [bytes](const TextSink& sink) {
                             sink({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                           }});
  std::string marks;
  for (const CommandStream& stream : model.streams) marks += stream.marks;
  if (request.options.simulated && !marks.empty())
    package.files.push_back({model.name + ".marks", marks});
  INTARSIA_TRY(std::vector<SourceFile> headers,
               copy_tree(request.options.resource_root, "device-runtime/core/include",
                         "runtime/include", {".h"}));
  take(std::move(headers));
  INTARSIA_TRY(std::vector<SourceFile> core,
               copy_tree(request.options.resource_root, "device-runtime/core/src", "runtime/core",
                         {".h", ".cpp"}));
  take(std::move(core));
  std::set<std::string> folders;
  for (const std::string& name : model.devices) {
    const Target* device = request.program.target.device(name);
    INTARSIA_CHECK(device != nullptr, "streams belong to devices of the target");
    const DeviceDriver driver = request.registry.kind_of(*device).driver(*device);
    for (const std::string& library : driver.link_libraries)
      package.manifest.link_libraries.push_back(library);
    if (folders.insert(driver.folder).second)
      INTARSIA_TRY_VOID(add_target(request, driver.folder, package));
  }
  package.manifest.devices = model.devices;
  using Place = emission::DevicePlace;
  const Place place = request.options.simulated            ? Place::InProgram
                      : request.options.simulated_remotely ? Place::Remote
                                                           : Place::Board;
  const std::string glue = model.name + "_devices.c";
  package.files.push_back(
      {glue, emission::device_glue_text(model, request.registry, request.program.target, place)});
  package.manifest.program_sources.push_back(glue);
  if (!request.options.simulated_remotely) return {};
  package.manifest.simulator_include_dirs.push_back("runtime/include");
  package.files.push_back(
      {std::string(kSimulatorFolder) + model.name + "_simulators.cpp",
       emission::device_server_text(model, request.registry, request.program.target)});
  return {};
}

// The kernel libraries of devices that have functions in C.
Result<void> add_kernels(const ProgramPackageRequest& request, PackageContents& package) {
  std::set<std::string> folders;
  for (const Target& device : request.program.target.devices()) {
    const KernelLibrary* library = request.registry.kind_of(device).kernels_for(device);
    if (library == nullptr) continue;
    const auto& funcs = request.program.lowered.funcs;
    const bool runs_code = std::any_of(funcs.begin(), funcs.end(),
                                       [&](const tir::Func& f) { return f.target == device.name; });
    if (runs_code && folders.insert(library->folder).second)
      INTARSIA_TRY_VOID(add_target(request, library->folder, package));
  }
  return {};
}

}  // namespace

Result<PackageContents> packaging::program_package(const ProgramPackageRequest& request) {
  const EmittedModel& model = request.program.emitted;
  PackageContents package;
  package.files = model.sources;

  const std::string& root = request.options.resource_root;
  const auto add = [&](const std::string& folder, const std::string& into,
                       const std::vector<std::string>& endings) -> Result<void> {
    INTARSIA_TRY(std::vector<SourceFile> files, copy_tree(root, folder, into, endings));
    std::move(files.begin(), files.end(), std::back_inserter(package.files));
    return {};
  };
  INTARSIA_TRY_VOID(add("device-runtime/contract/include", "runtime/include", {".h", ".def"}));
  INTARSIA_TRY_VOID(add("device-runtime/kernels/include", "runtime/include", {".h", ".def"}));
  INTARSIA_TRY_VOID(add("device-runtime/kernels/src", "runtime/kernels", {".c", ".h"}));

  PackageManifest& manifest = package.manifest;
  manifest.model = model.name;
  manifest.target = to_string(request.program.target);
  manifest.board = request.options.board;
  manifest.core = request.options.core;
  manifest.inputs = model.inputs;
  manifest.outputs = model.outputs;
  manifest.program_sources = {model.name + "_descriptor.c"};
  manifest.include_dirs = {".", "runtime/include"};
  if (!model.streams.empty()) INTARSIA_TRY_VOID(add_devices(request, package));
  INTARSIA_TRY_VOID(add_kernels(request, package));
  list_sources(package.files, ".c", false, manifest.sources);
  list_sources(package.files, ".cpp", false, manifest.sources);
  list_sources(package.files, ".cpp", true, manifest.simulator_sources);

  package.files.push_back({"CMakeLists.txt", packaging::cmake_text(manifest)});
  package.files.push_back({model.name + ".mk", packaging::make_text(manifest)});
  package.files.push_back({"manifest.json", manifest_json(manifest)});
  return package;
}

Result<PackageContents> make_package(const CompiledModel& model, const TargetRegistry& registry,
                                     const TargetSpec& target, const PackageOptions& options) {
  INTARSIA_CHECK(model.reached >= Stage::Emit, "what is packaged is emitted");
  if (!model.multicore.segments.empty())
    return packaging::multicore_package(model, registry, target, options);
  return packaging::program_package({model.program(), registry, options});
}

}  // namespace intarsia
