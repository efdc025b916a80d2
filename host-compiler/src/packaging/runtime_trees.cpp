#include "packaging/runtime_trees.h"

#include <filesystem>

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
  if (libraries.mailbox) {
    trees.push_back({options.resource_root, "device-runtime/mailbox/include", "", {".h"}});
    trees.push_back(
        {options.resource_root, "device-runtime/mailbox/src", "intarsia/mailbox", {".h", ".c"}});
  }
  INTARSIA_TRY_VOID(add_trees(trees, runtime.firmware));
  INTARSIA_TRY_VOID(add_trees({trees.front()}, runtime.simulators));
  return runtime;
}

Result<void> add_target(const PackageOptions& options, const std::string& folder,
                        RuntimeTrees& runtime) {
  const fs::path path(folder);
  const std::string into = "intarsia/targets/" + c_identifier(path.filename().string(), "target");
  const bool outside = path.is_absolute();
  const bool simulated = options.simulated || options.simulated_remotely;
  for (const std::string part : {"isa", "device", "sim"}) {
    if (part == "sim" && !simulated) continue;
    const std::string from = outside ? (path / part).string() : "targets/" + folder + "/" + part;
    const std::string root = outside ? "" : options.resource_root;
    std::error_code error;
    if (!fs::exists(fs::path(root) / from, error)) continue;
    const Tree tree = {root, from, into, {".h", ".def", ".c", ".cpp"}};
    if (part != "sim") INTARSIA_TRY_VOID(add_trees({tree}, runtime.firmware));
    if (part != "device" && simulated) INTARSIA_TRY_VOID(add_trees({tree}, runtime.simulators));
  }
  return {};
}

}  // namespace intarsia::packaging
