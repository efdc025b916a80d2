#include <algorithm>
#include <set>
#include <string_view>

#include "emit/device_glue.h"
#include "intarsia/package.h"
#include "package/add_once.h"
#include "package/build_glue.h"
#include "package/copy_tree.h"
#include "support/c_identifier.h"

namespace intarsia {
namespace {

using packaging::add_once;

void add_file(PackageContents& package, SourceFile file) {
  const auto same = [&](const SourceFile& other) { return other.path == file.path; };
  if (std::none_of(package.files.begin(), package.files.end(), same))
    package.files.push_back(std::move(file));
}

constexpr std::string_view kSimulators = "runtime/targets/sim";  // of a stage's package

// The stage's sources without what makes a program or a package of them.
Result<void> add_stage(const PartsPackageRequest& request, const CompiledStage& stage,
                       PackageContents& part) {
  const Target* member = request.target.member(stage.member);
  INTARSIA_CHECK(member != nullptr, "stages belong to members of the target");
  INTARSIA_TRY(PackageContents made,
               make_package({stage.model, request.registry, request.target, request.board,
                             part.manifest.core, request.resource_root, request.simulated}));
  const std::string& name = stage.model.emitted.name;
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

std::string core_of(const Target& member) {
  const AttributeValue* mcpu = member.attributes.find("mcpu");
  const std::string* name = mcpu == nullptr ? nullptr : std::get_if<std::string>(mcpu);
  return name == nullptr ? "native" : *name;
}

Result<PackageContents> make_part(const PartsPackageRequest& request, const std::string& member) {
  PackageContents part;
  PackageManifest& manifest = part.manifest;
  manifest.model = request.parts.pipeline.name + "_" + c_identifier(member, "part");
  manifest.target = to_string(request.target);
  manifest.board = request.board;
  manifest.core = core_of(*request.target.member(member));
  for (const CompiledStage& stage : request.parts.stages)
    if (stage.member == member) INTARSIA_TRY_VOID(add_stage(request, stage, part));
  for (SourceFile& file : part_sources(request.parts, member)) add_file(part, std::move(file));
  for (SourceFile& file : mailbox_sources(request.parts)) add_file(part, std::move(file));
  for (const auto& [folder, into] :
       {std::pair{"include", "runtime/include"}, std::pair{"src", "runtime/mailbox"}}) {
    INTARSIA_TRY(
        std::vector<SourceFile> files,
        packaging::copy_tree(request.resource_root, std::string("device-runtime/mailbox/") + folder,
                             into, {".h", ".c"}));
    for (SourceFile& file : files) add_file(part, std::move(file));
  }
  for (const std::string ending : {".c", ".cpp"})
    for (const SourceFile& file : part.files)
      if (file.path.ends_with(ending) && !file.path.starts_with(kSimulators))
        manifest.sources.push_back(file.path);
  part.files.push_back({"CMakeLists.txt", packaging::cmake_text(manifest)});
  part.files.push_back({manifest.model + ".mk", packaging::make_text(manifest)});
  part.files.push_back({"manifest.json", manifest_json(manifest)});
  return part;
}

// The drivers of all parts' devices, for the program that all parts are in.
void add_device_glue(const PartsPackageRequest& request, PackageContents& whole) {
  EmittedModel all;
  all.name = request.parts.pipeline.name;
  all.members = whole.manifest.devices;
  const auto place =
      request.simulated ? emission::DevicePlace::InProgram : emission::DevicePlace::Board;
  const std::string glue = all.name + "_devices.c";
  whole.files.push_back(
      {glue, emission::device_glue_text(all, request.registry, request.target, place)});
  whole.manifest.sources.push_back(glue);
  whole.manifest.program_sources.push_back(glue);
  std::string marks;
  for (const CompiledStage& stage : request.parts.stages)
    for (const CommandStream& stream : stage.model.emitted.streams) marks += stream.marks;
  if (request.simulated && !marks.empty()) whole.files.push_back({all.name + ".marks", marks});
}

}  // namespace

Result<PackageContents> make_parts_package(const PartsPackageRequest& request) {
  const CompiledParts& parts = request.parts;
  PackageContents whole;
  PackageManifest& manifest = whole.manifest;
  manifest.model = parts.pipeline.name;
  manifest.target = to_string(request.target);
  manifest.board = request.board;
  manifest.core = request.core;
  const graph::Module& module = parts.front.partitioned.module;
  manifest.inputs = tensor_infos(module.entry_function(), module.entry_function().inputs);
  manifest.outputs = tensor_infos(module.entry_function(), module.entry_function().outputs);
  manifest.parts = parts.pipeline.members;

  std::set<std::string> taken;  // what is the same in several parts is compiled once
  for (const std::string& member : parts.pipeline.members) {
    const std::string folder = c_identifier(member, "part");
    INTARSIA_TRY(PackageContents part, make_part(request, member));
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
  SourceFile descriptor = parts_descriptor(parts);
  manifest.sources.push_back(descriptor.path);
  manifest.program_sources = {descriptor.path};
  whole.files.push_back(std::move(descriptor));
  manifest.devices = devices_of(parts);
  if (!manifest.devices.empty()) add_device_glue(request, whole);
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
