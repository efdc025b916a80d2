#include "packaging/runtime_trees.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "packaging/copy_tree.h"
#include "support/c_identifier.h"

namespace intarsia::packaging {
namespace {

namespace fs = std::filesystem;

// A tree of the runtime or of a target, by what it is called there and where it lies in the package.
struct Tree {
  std::string root, folder, into;
  std::vector<std::string> endings;
};

Result<void> add_trees(const std::vector<Tree>& trees, std::vector<SourceFile>& files) {
  for (const Tree& tree : trees) {
    INTARSIA_TRY(std::vector<SourceFile> copied,
                 copy_tree(tree.root, tree.folder, tree.into, tree.endings));
    std::move(copied.begin(), copied.end(), std::back_inserter(files));
  }
  return {};
}

}  // namespace

Result<RuntimeTrees> portable_runtime(const PackageOptions& options, RuntimeLibraries libraries) {
  RuntimeTrees runtime;
  std::vector<Tree> trees = {
      {options.resource_root, "device-runtime/contract/include", "", {".h", ".def"}},
      {options.resource_root, "device-runtime/contract/src", "intarsia/contract", {".c"}},
      {options.resource_root, "device-runtime/kernels/include", "", {".h", ".def"}},
      {options.resource_root, "device-runtime/kernels/src", "intarsia/kernels", {".c", ".h"}}};
  if (libraries.core) {
    trees.push_back({options.resource_root, "device-runtime/core/include", "", {".h"}});
    trees.push_back(
        {options.resource_root, "device-runtime/core/src", "intarsia/core", {".h", ".cpp"}});
  }
  if (libraries.executor) {
    trees.push_back({options.resource_root, "device-runtime/executor/include", "", {".h"}});
    trees.push_back({options.resource_root,
                     "device-runtime/executor/src",
                     "intarsia/executor",
                     {".h", ".cpp"}});
  }
  if (libraries.mailbox) {
    trees.push_back({options.resource_root, "device-runtime/mailbox/include", "", {".h"}});
    trees.push_back(
        {options.resource_root, "device-runtime/mailbox/src", "intarsia/mailbox", {".h", ".c"}});
  }
  INTARSIA_TRY_VOID(add_trees(trees, runtime.firmware));
  INTARSIA_TRY_VOID(add_trees({trees.front()}, runtime.simulators));
  return runtime;
}

namespace {

// "my-npu", and for a driver within it "my-npu/core-driver", as an #include has them.
std::string folder_in_package(const fs::path& folder, const std::optional<fs::path>& within) {
  const std::string name = c_identifier(folder.filename().string(), "target");
  return within ? folder_in_package(*within, std::nullopt) + "/" + name
                : "intarsia/targets/" + name;
}

// The target's folder that holds the folder of a driver; nothing for the folder of a target.
std::optional<fs::path> target_around(const fs::path& folder) {
  const bool is_target = folder.is_absolute()
                             ? fs::exists(folder / "CMakeLists.txt") || fs::exists(folder / "isa")
                             : !folder.has_parent_path();
  return is_target ? std::nullopt : std::optional(folder.parent_path());
}

}  // namespace

Result<void> check_driver(const Target& device, const DeviceDriver& driver) {
  if (!driver.header.empty()) return {};
  return Diagnostics(fmt::format("target '{}'", device.name),
                     "there is no driver for it, so that no program or package can be made",
                     "'intarsia run' executes the model here, on the simulated device");
}

Result<void> add_target(const PackageOptions& options, const std::string& folder,
                        RuntimeTrees& runtime) {
  const fs::path path(folder);
  const std::optional<fs::path> around = target_around(path);
  const bool simulated = options.simulated || options.simulated_remotely;
  const auto add = [&](const fs::path& from, const std::string& part, const std::string& into,
                       std::vector<SourceFile>& files) -> Result<void> {
    const std::string root = from.is_absolute() ? "" : options.resource_root;
    const std::string tree = ((from.is_absolute() ? from : "targets" / from) / part).string();
    std::error_code error;
    if (!fs::exists(fs::path(root) / tree, error)) return {};
    return add_trees({{root, tree, into, {".h", ".def", ".c", ".cpp"}}}, files);
  };
  const fs::path target = around.value_or(path);
  const std::string into = folder_in_package(target, std::nullopt);
  INTARSIA_TRY_VOID(add(target, "isa", into, runtime.firmware));
  INTARSIA_TRY_VOID(add(path, "device", folder_in_package(path, around), runtime.firmware));
  if (!simulated) return {};
  INTARSIA_TRY_VOID(add(target, "isa", into, runtime.simulators));
  INTARSIA_TRY_VOID(add(target, "sim", into, runtime.simulators));
  return add(path, "stand-in", "", runtime.stand_ins);
}

}  // namespace intarsia::packaging
