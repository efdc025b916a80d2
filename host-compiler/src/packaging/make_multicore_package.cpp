#include <algorithm>
#include <set>
#include <string_view>

#include "emission/device_glue.h"
#include "emission/tensor_infos.h"
#include "intarsia/compiled_model.h"
#include "multicore/multicore.h"
#include "packaging/add_once.h"
#include "packaging/build_glue.h"
#include "packaging/program_package.h"
#include "packaging/runtime_files.h"
#include "packaging/runtime_trees.h"
#include "support/c_identifier.h"

namespace intarsia {
namespace {

using packaging::add_once;

void add_file(PackageContents& package, SourceFile file) {
  const auto same = [&](const SourceFile& other) { return other.path == file.path; };
  if (std::none_of(package.files.begin(), package.files.end(), same))
    package.files.push_back(std::move(file));
}

constexpr std::string_view kSimulators = "simulator";  // the folder in a segment's package

struct Request {
  const CompiledModel& model;
  const TargetRegistry& registry;
  const TargetSpec& target;
  const PackageOptions& options;
};

// The segment's sources without what makes a program or a package of them. No part is simulated beside an emulator.
Result<void> add_segment(const Request& request, const CompiledProgram& program,
                         PackageContents& part) {
  PackageOptions options = request.options;
  options.core = part.manifest.core;
  options.hosted = part.manifest.hosted;
  options.simulated_remotely = false;
  INTARSIA_TRY(PackageContents made,
               packaging::program_package({program, request.registry, options}));
  const std::string& name = program.emitted.name;
  const std::set<std::string> dropped = {"CMakeLists.txt",    "manifest.json",
                                         name + ".mk",        name + "_descriptor.c",
                                         name + "_devices.c", name + ".marks"};
  for (SourceFile& file : made.files)
    if (!dropped.contains(file.path)) add_file(part, std::move(file));
  for (const std::string& dir : made.manifest.include_dirs)
    if (dir != kSimulators) add_once(part.manifest.include_dirs, dir);
  for (const std::string& library : made.manifest.link_libraries)
    add_once(part.manifest.link_libraries, library);
  return {};
}

std::string core_of(const Target& cpu) {
  const AttributeValue* mcpu = cpu.attributes.find("mcpu");
  const std::string* name = mcpu == nullptr ? nullptr : std::get_if<std::string>(mcpu);
  return name == nullptr ? "native" : *name;
}

Result<PackageContents> make_part(const Request& request, const std::string& cpu) {
  PackageContents part;
  PackageManifest& manifest = part.manifest;
  manifest.model = request.model.multicore.name + "_" + c_identifier(cpu, "part");
  manifest.target = to_string(request.target);
  manifest.board = request.options.board;
  manifest.core = core_of(*request.target.device(cpu));
  // Of the cores of one board only those like the first are known to have its operating system.
  manifest.hosted = manifest.core == "native" ||
                    (request.options.hosted && manifest.core == request.options.core);
  for (const CompiledProgram& program : request.model.programs)
    if (program.cpu == cpu) INTARSIA_TRY_VOID(add_segment(request, program, part));
  for (SourceFile& file : part_sources(request.model, cpu)) add_file(part, std::move(file));
  for (SourceFile& file : mailbox_sources(request.model)) add_file(part, std::move(file));
  INTARSIA_TRY(packaging::RuntimeTrees runtime,
               packaging::portable_runtime(request.options, {.mailbox = true}));
  std::vector<SourceFile> files = part.files;
  packaging::add_runtime_files(runtime.firmware, files);
  for (SourceFile& file : files) add_file(part, std::move(file));
  for (const std::string ending : {".c", ".S", ".cpp"})
    for (const SourceFile& file : part.files)
      if (file.path.ends_with(ending) && !file.path.starts_with(kSimulators))
        manifest.sources.push_back(file.path);
  part.files.push_back({"CMakeLists.txt", packaging::cmake_text(manifest)});
  part.files.push_back({manifest.model + ".mk", packaging::make_text(manifest)});
  part.files.push_back({"manifest.json", manifest_json(manifest)});
  return part;
}

// The drivers of all parts' devices, for the program that all parts are in.
void add_device_glue(const Request& request, PackageContents& whole) {
  EmittedModel all;
  all.name = request.model.multicore.name;
  all.devices = whole.manifest.devices;
  const auto place =
      request.options.simulated ? emission::DevicePlace::InProgram : emission::DevicePlace::Board;
  const std::string glue = all.name + "_devices.c";
  whole.files.push_back(
      {glue, emission::device_glue_text(all, request.registry, request.target, place)});
  whole.manifest.sources.push_back(glue);
  whole.manifest.program_sources.push_back(glue);
  std::string marks;
  for (const CompiledProgram& program : request.model.programs)
    for (const CommandStream& stream : program.emitted.streams) marks += stream.marks;
  if (request.options.simulated && !marks.empty())
    whole.files.push_back({all.name + ".marks", marks});
}

// What the whole's own sources, those from `first_own` on, include and no part has: into the first part's folder.
Result<void> add_headers(const Request& request, size_t first_own, PackageContents& whole) {
  INTARSIA_TRY(packaging::RuntimeTrees runtime,
               packaging::portable_runtime(request.options, {.mailbox = true}));
  std::vector<SourceFile> files(whole.files.begin() + static_cast<std::ptrdiff_t>(first_own),
                                whole.files.end());
  const size_t own = files.size();
  packaging::add_runtime_files(runtime.firmware, files);
  const std::string folder = c_identifier(request.model.multicore.cpus.front(), "part") + "/";
  for (size_t i = own; i < files.size(); ++i) {
    files[i].path.insert(0, folder);
    add_file(whole, std::move(files[i]));
  }
  return {};
}

}  // namespace

Result<PackageContents> packaging::multicore_package(const CompiledModel& model,
                                                     const TargetRegistry& registry,
                                                     const TargetSpec& target,
                                                     const PackageOptions& options) {
  const Request request{model, registry, target, options};
  const MulticorePartition& multicore = model.multicore;
  PackageContents whole;
  PackageManifest& manifest = whole.manifest;
  manifest.model = multicore.name;
  manifest.target = to_string(request.target);
  manifest.board = request.options.board;
  manifest.core = request.options.core;
  manifest.hosted = request.options.hosted;
  manifest.core_flags = request.options.core_flags;
  const graph::Module& module = model.partitioned.module;
  manifest.inputs = tensor_infos(module.entry_function(), module.entry_function().inputs);
  manifest.outputs = tensor_infos(module.entry_function(), module.entry_function().outputs);
  manifest.parts = multicore.cpus;

  std::set<std::string> taken;  // what is the same in several parts is compiled once
  for (const std::string& cpu : multicore.cpus) {
    const std::string folder = c_identifier(cpu, "part");
    INTARSIA_TRY(PackageContents part, make_part(request, cpu));
    for (const std::string& source : part.manifest.sources)
      if (taken.insert(source).second) manifest.sources.push_back(folder + "/" + source);
    for (const std::string& dir : part.manifest.include_dirs)
      manifest.include_dirs.push_back(folder + "/" + dir);
    for (const std::string& library : part.manifest.link_libraries)
      add_once(manifest.link_libraries, library);
    for (SourceFile& file : part.files) {
      if (!file.path.starts_with(kSimulators)) file.path = folder + "/" + file.path;
      add_file(whole, std::move(file));
    }
  }
  SourceFile descriptor = multicore_descriptor(model);
  const size_t first_own = whole.files.size();
  manifest.sources.push_back(descriptor.path);
  manifest.program_sources = {descriptor.path};
  whole.files.push_back(std::move(descriptor));
  manifest.devices = devices_of(model);
  if (!manifest.devices.empty()) add_device_glue(request, whole);
  INTARSIA_TRY_VOID(add_headers(request, first_own, whole));
  // Simulators are of the program that all parts are in, and not of the firmware.
  for (const SourceFile& file : whole.files) {
    if (!file.path.starts_with(kSimulators)) continue;
    if (file.path.ends_with(".cpp")) manifest.sources.push_back(file.path);
    add_once(manifest.include_dirs, std::string(kSimulators));
  }
  whole.files.push_back({"manifest.json", manifest_json(manifest)});
  return whole;
}

}  // namespace intarsia
