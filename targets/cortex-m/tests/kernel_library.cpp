#include "kernel_library.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/process.h"

namespace intarsia::test::cortex_m {

std::string kernel_library(const std::string& compiler) {
  if (compiler == INTARSIA_KERNEL_LIBRARY_COMPILER) return INTARSIA_KERNEL_LIBRARY;
  static const Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return "";
  const std::string library = fmt::format("{}/{}.so", folder->path(), compiler);
  if (std::filesystem::exists(library)) return library;
  std::vector<std::string> command = {
      compiler,       "-std=c11",          "-O1",     "-fPIC", "-shared", "-Wall", "-Wextra",
      "-Wconversion", "-Wsign-conversion", "-Werror", "-o",    library};
  const std::string root = INTARSIA_SOURCE_DIR, views = INTARSIA_CORTEX_M_VIEWS;
  for (const std::string& include :
       {views + "/isa", views + "/device", root + "/device-runtime/kernels/include"})
    command.push_back("-I" + include);
  for (const char* sources : {"/targets/cortex-m/device", "/device-runtime/kernels/src"})
    for (const auto& entry : std::filesystem::directory_iterator(root + sources))
      if (entry.path().extension() == ".c") command.push_back(entry.path().string());
  const Result<ProcessOutcome> built = run_process(command);
  EXPECT_TRUE(built.ok() && built->succeeded())
      << (built.ok() ? built->err : built.error().to_string());
  return built.ok() && built->succeeded() ? library : "";
}

std::string flags_with_kernels(const std::string& compiler) {
  return fmt::format(
      "-O0 -I{0}/isa -I{0}/device -I{1}/device-runtime/kernels/include "
      "-I{1}/device-runtime/contract/include -Wl,--no-as-needed {2}",
      INTARSIA_CORTEX_M_VIEWS, INTARSIA_SOURCE_DIR, kernel_library(compiler));
}

}  // namespace intarsia::test::cortex_m
