#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "emission/device_glue.h"
#include "emission/incbin.h"
#include "intarsia/compiled_model.h"
#include "package_writer/package_writer.h"
#include "packaging/build_glue.h"
#include "packaging/program_package.h"
#include "packaging/runtime_files.h"
#include "packaging/runtime_trees.h"
#include "packaging/simulators.h"
#include "packaging/stream_package.h"
#include "support/sha256.h"

namespace intarsia {
namespace {

using packaging::ProgramPackageRequest;

using packaging::kSimulatorFolder;

constexpr std::string_view kStandInFolder = "stand-in/";
constexpr int32_t kStreamAlignment = 16;  // of a package in flash

// The streams in C, or taken in by the assembler from the file that is beside them in any case.
void add_streams(const EmittedModel& model, const SharedBytes& bytes, PackageContents& package) {
  std::vector<SourceFile> sources = package_sources(model.name, bytes, model.streams_attribute);
  const std::string file = model.name + ".intarsia";
  if (takes_weights_file(model.weights_file, bytes.size())) {
    INTARSIA_CHECK(sources.size() == 2 && sources.back().path.ends_with(".c"),
                   "streams are a header and a source");
    package.arrays.push_back(std::move(sources.back()));
    sources.back() = {
        model.name + "_package.S",
        emission::incbin_text({.about = model.name + ": command streams of the accelerators",
                               .file = file,
                               .sha256 = sha256(bytes.vector()),
                               .macro = "intarsia_streams",
                               .objects = {{.symbol = model.name + "_package",
                                            .bytes = static_cast<int64_t>(bytes.size()),
                                            .alignment = kStreamAlignment,
                                            .section = model.streams_section}}})};
  }
  std::move(sources.begin(), sources.end(), std::back_inserter(package.files));
  // The same bytes as a file: for updating flash without a new image, and for 'intarsia disasm'.
  package.files.push_back({file, "", [bytes](const TextSink& sink) {
                             sink({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                           }});
}

// What streams need: the package, and per device its driver and, for this machine, its simulator.
Result<void> add_devices(const ProgramPackageRequest& request, PackageContents& package,
                         packaging::RuntimeTrees& runtime) {
  const EmittedModel& model = request.program.emitted;
  add_streams(model, packaging::stream_package(request.program), package);
  std::string marks;
  for (const CommandStream& stream : model.streams) marks += stream.marks;
  if ((request.options.simulated || request.options.simulated_remotely) && !marks.empty())
    package.files.push_back({model.name + ".marks", marks});
  std::set<std::string> folders;
  for (const std::string& name : model.devices) {
    const Target* device = request.program.target.device(name);
    INTARSIA_CHECK(device != nullptr, "streams belong to devices of the target");
    const DeviceDriver driver = request.registry.kind_of(*device).driver(*device);
    INTARSIA_TRY_VOID(packaging::check_driver(*device, driver));
    if (folders.insert(driver.folder).second)
      INTARSIA_TRY_VOID(packaging::add_target(request.options, driver.folder, runtime));
    for (const std::string& library : driver.link_libraries)
      package.manifest.link_libraries.push_back(library);
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
  return {};
}

// The kernel libraries of devices that have functions in C.
Result<void> add_kernels(const ProgramPackageRequest& request, packaging::RuntimeTrees& runtime) {
  std::set<std::string> folders;
  for (const Target& device : request.program.target.devices()) {
    const KernelLibrary* library = request.registry.kind_of(device).kernels_for(device);
    if (library == nullptr) continue;
    const auto& funcs = request.program.lowered.funcs;
    const bool runs_code = std::any_of(funcs.begin(), funcs.end(),
                                       [&](const tir::Func& f) { return f.target == device.name; });
    if (runs_code && folders.insert(library->folder).second)
      INTARSIA_TRY_VOID(packaging::add_target(request.options, library->folder, runtime));
  }
  return {};
}

// The files of the program that the compiler builds itself: its users' programs have the libraries instead.
void add_stand_ins(const packaging::RuntimeTrees& runtime, PackageContents& package) {
  for (SourceFile file : runtime.stand_ins) {
    file.path.insert(0, kStandInFolder);
    if (!file.path.ends_with(".h")) package.manifest.program_sources.push_back(file.path);
    package.files.push_back(std::move(file));
  }
}

// The package as its users' programs have it, where it is not the one that the compiler builds: with the libraries
// that something stands in for there, and without all that is simulated.
PackageManifest for_users(PackageManifest manifest, const std::vector<std::string>& libraries) {
  manifest.link_libraries = libraries;
  manifest.include_dirs = {"."};
  for (const std::string& source : manifest.sources)
    if (source.starts_with(kSimulatorFolder)) manifest.program_sources.push_back(source);
  return manifest;
}

}  // namespace

Result<PackageContents> packaging::program_package(const ProgramPackageRequest& request) {
  const EmittedModel& model = request.program.emitted;
  const PackageOptions& options = request.options;
  PackageContents package;
  package.files = model.sources;
  package.arrays = model.arrays;
  package.weights_file = model.weights_file;

  PackageManifest& manifest = package.manifest;
  manifest.model = model.name;
  manifest.target = to_string(request.program.target);
  manifest.board = options.board;
  manifest.core = options.core;
  manifest.hosted = options.hosted;
  manifest.core_flags = options.core_flags;
  manifest.inputs = model.inputs;
  manifest.outputs = model.outputs;
  manifest.memories = model.memories;
  manifest.alignment = model.alignment;
  manifest.has_state = model.has_state;
  manifest.include_dirs = {"."};
  const bool has_devices = !model.streams.empty();
  INTARSIA_TRY(packaging::RuntimeTrees runtime,
               packaging::portable_runtime(options, {.core = has_devices}));
  if (has_devices) INTARSIA_TRY_VOID(add_devices(request, package, runtime));
  INTARSIA_TRY_VOID(add_kernels(request, runtime));
  add_stand_ins(runtime, package);
  packaging::add_runtime_files(runtime.firmware, package.files);
  if (has_devices && (options.simulated || options.simulated_remotely))
    packaging::add_simulators({model, request.registry, request.program.target}, runtime,
                              options.simulated_remotely, package);
  packaging::list_sources(options.simulated_remotely, package);

  PackageManifest of_library = manifest;
  if (!runtime.stand_ins.empty()) {
    of_library = for_users(manifest, manifest.link_libraries);
    manifest.link_libraries.clear();
    manifest.include_dirs.emplace_back("stand-in");
    manifest.program_sources = of_library.program_sources;
  }
  package.files.push_back({"CMakeLists.txt", packaging::cmake_text(of_library)});
  package.files.push_back({model.name + ".mk", packaging::make_text(of_library)});
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
