// The files for CMake and make, as text; tests/e2e/cli builds programs with them.
#include "packaging/build_glue.h"

#include <gtest/gtest.h>

namespace intarsia::packaging {
namespace {

PackageManifest sample() {
  PackageManifest manifest;
  manifest.model = "kws", manifest.core = "cortex-m4";
  manifest.sources = {"kws.c", "kws_devices.c", "intarsia/kernels/conv.c"};
  manifest.program_sources = {"kws_devices.c"};
  manifest.include_dirs = {"."};
  return manifest;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BuildGlue, NamesTheModelsSourcesAndNotThePrograms) {
  const std::string cmake = cmake_text(sample()), make = make_text(sample());
  EXPECT_TRUE(has(cmake, "add_library(kws STATIC\n  kws.c\n  intarsia/kernels/conv.c\n)")) << cmake;
  EXPECT_TRUE(has(cmake, "PUBLIC\n  \"${CMAKE_CURRENT_SOURCE_DIR}\"\n"));
  EXPECT_TRUE(has(make, "  $(KWS_DIR)/kws.c \\\n")) << make;
  EXPECT_TRUE(has(make, "KWS_RUNTIME := \\\n  intarsia/kernels/conv.c \\\n"));
  EXPECT_FALSE(has(cmake, "descriptor") || has(make, "descriptor"));
}

TEST(BuildGlue, DriversAreCppWithoutALibrary) {
  EXPECT_FALSE(has(cmake_text(sample()), "-ffreestanding"));
  PackageManifest manifest = sample();
  manifest.sources.push_back("intarsia/targets/npu/driver.cpp");
  EXPECT_TRUE(has(cmake_text(manifest), "-ffreestanding -fno-exceptions -fno-rtti"));
  EXPECT_TRUE(has(cmake_text(manifest), "cxx_std_20"));
  EXPECT_TRUE(has(make_text(manifest), "-std=c++20 -ffreestanding"));
  // A core of that name beside an operating system as well as one without.
  manifest.core = "cortex-a53", manifest.hosted = true;
  for (const std::string& text : {cmake_text(manifest), make_text(manifest)}) {
    EXPECT_FALSE(has(text, "-ffreestanding")) << text;
    EXPECT_FALSE(has(text, "-fno-exceptions")) << text;
  }
}

// Models of a program may be simulated by the same files.
TEST(BuildGlue, MakeCompilesSimulatorsOnceForAllModels) {
  PackageManifest manifest = sample();
  manifest.sources.push_back("simulator/intarsia/targets/npu/engine.cpp");
  EXPECT_TRUE(has(make_text(manifest),
                  "KWS_RUNTIME := \\\n  intarsia/kernels/conv.c \\\n  "
                  "simulator/intarsia/targets/npu/engine.cpp \\\n"));
}

TEST(BuildGlue, LibrariesAreLinked) {
  EXPECT_FALSE(has(cmake_text(sample()), "target_link_libraries(kws PUBLIC"));
  PackageManifest manifest = sample();
  manifest.link_libraries = {"OpenCL", "m"};
  EXPECT_TRUE(has(cmake_text(manifest), "target_link_libraries(kws PUBLIC OpenCL m)\n"));
  EXPECT_TRUE(has(make_text(manifest), "KWS_LIBRARIES := -lOpenCL -lm\n"));
}

TEST(BuildGlue, NamesThatCMakeHasTakenGetAnother) {
  for (const char* name : {"test", "all", "m"}) {
    PackageManifest manifest = sample();
    manifest.model = name;
    EXPECT_TRUE(has(cmake_text(manifest), std::string("add_library(") + name + "_model STATIC\n"));
  }
}

}  // namespace
}  // namespace intarsia::packaging
