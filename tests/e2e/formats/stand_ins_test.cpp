// Packages of ecosystems whose build systems are not installed, built by their own CMake files over functions that stand
// in for the ecosystem's: with two models in one program, every object linked whole where the ecosystem does so, -Os, and
// warnings as errors.
#include <cstdlib>

#include <gmock/gmock.h>

#include "cli.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;

// What Zephyr's functions do for a module, as far as ours needs it. Zephyr links modules' libraries whole.
constexpr const char* kZephyr = R"(cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C CXX ASM)
add_compile_options(-Os -Wall -Wextra -Wno-unused-parameter -Werror)
add_library(zephyr_interface INTERFACE)
set(CONFIG_INTARSIA_DIGITS y)
set(CONFIG_INTARSIA_OTHER y)
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC)
  target_link_libraries(${name} PRIVATE zephyr_interface)
  set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
endmacro()
macro(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE ${ARGN})
endfunction()
foreach(module IN ITEMS one two)
  set(ZEPHYR_CURRENT_MODULE_DIR ${CMAKE_SOURCE_DIR}/${module})
  add_subdirectory(${module}/zephyr build_${module})
endforeach()
get_property(libraries GLOBAL PROPERTY ZEPHYR_LIBS)
foreach(sample IN ITEMS one/samples/digits two/samples/other)
  get_filename_component(name ${sample} NAME)
  add_executable(run_${name} ${sample}/src/main.c)
  target_include_directories(run_${name} PRIVATE shim)
  target_link_libraries(run_${name} PRIVATE zephyr_interface -Wl,--whole-archive ${libraries} -Wl,--no-whole-archive m)
endforeach()
)";

// The Pico SDK's functions that a program calls.
constexpr const char* kPico = R"(set(PICO_SDK_VERSION_STRING 2.0.0)
macro(pico_sdk_init)
  add_library(pico_stdlib INTERFACE)
  target_include_directories(pico_stdlib INTERFACE $ENV{PICO_SDK_PATH}/shim)
  target_link_libraries(pico_stdlib INTERFACE m)
  add_compile_options(-Wall -Wextra -Werror)
endmacro()
function(pico_enable_stdio_usb)
endfunction()
function(pico_enable_stdio_uart)
endfunction()
function(pico_add_extra_outputs)
endfunction()
)";

// ESP-IDF's registration of a component; components are static libraries, linked without -Wl,--whole-archive.
constexpr const char* kEspIdf = R"(cmake_minimum_required(VERSION 3.16)
project(app LANGUAGES C ASM)
add_compile_options(-Og -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare)
function(idf_component_register)
  cmake_parse_arguments(ARG "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS;REQUIRES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(component ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_library(${component} STATIC ${ARG_SRCS})
  target_include_directories(${component} PUBLIC ${ARG_INCLUDE_DIRS} PRIVATE ${ARG_PRIV_INCLUDE_DIRS})
  set(COMPONENT_LIB ${component} PARENT_SCOPE)
endfunction()
add_subdirectory(one)
add_subdirectory(two)
foreach(example IN ITEMS one/examples/digits two/examples/other)
  get_filename_component(name ${example} NAME)
  add_executable(run_${name} ${example}/main/main.c start.c)
  target_link_libraries(run_${name} PRIVATE one two m)
endforeach()
)";

// With weights as arrays of C, and as files that the assembler takes in.
class StandIns : public Cli, public testing::WithParamInterface<const char*> {
 protected:
  void two_models(const std::string& format) const {
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--weights-file", GetParam(), "--format",
                               format, "-o", "one"})));
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--name", "other", "--optimise", "size",
                               "--weights-file", GetParam(), "--format", format, "-o", "two"})));
    EXPECT_EQ(exists("two/src/other_weights.bin"), std::string(GetParam()) == "always");
  }
  void SetUp() override {
    Cli::SetUp();
    setenv("PICO_SDK_PATH", path("sdk").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("PICO_SDK_PATH");
    Cli::TearDown();
  }
  void build(const std::vector<std::string>& configuration) const {
    std::vector<std::string> command = {INTARSIA_CMAKE, "-G", INTARSIA_GENERATOR, "-B", "build"};
    command.insert(command.end(), configuration.begin(), configuration.end());
    const ProcessOutcome configured = program(command);
    ASSERT_TRUE(configured.succeeded()) << configured.out << configured.err;
    const ProcessOutcome built = program({INTARSIA_CMAKE, "--build", "build"});
    ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  }
  void expect_exact(const std::string& sample, const std::string& model) const {
    const ProcessOutcome outcome = program({path(sample)});
    EXPECT_TRUE(outcome.succeeded()) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(model + ": 10 of 10 exact"));
  }
};

INSTANTIATE_TEST_SUITE_P(WeightsFile, StandIns, testing::Values("never", "always"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(StandIns, ZephyrsModulesAreLinkedWholeAndShareTheRuntime) {
  two_models("zephyr");
  write("CMakeLists.txt", std::string(kZephyr));
  write("shim/zephyr/sys/printk.h", std::string("#include <stdio.h>\n#define printk printf\n"));
  build({"-S", "."});
  expect_exact("build/run_digits", "digits");
  expect_exact("build/run_other", "other");
}

TEST_P(StandIns, ThePicosSampleIsBuiltAsTheProgramAsks) {
  two_models("pico");
  write("sdk/external/pico_sdk_import.cmake", std::string(kPico));
  write("sdk/shim/pico/stdlib.h", std::string("static inline void stdio_init_all(void) {}\n"));
  for (const char* build_type : {"", "Release"}) {
    build({"-S", "one/sample", std::string("-DCMAKE_BUILD_TYPE=") + build_type,
           "-DCMAKE_C_FLAGS=-Os"});
    expect_exact("build/digits_sample", "digits");
  }
}

TEST_P(StandIns, EspIdfsComponentsLiveInOneProgram) {
  two_models("esp-idf");
  write("CMakeLists.txt", std::string(kEspIdf));
  write("start.c",
        std::string("void app_main(void);\nint main(void) {\n  app_main();\n  return 0;\n}\n"));
  build({"-S", "."});
  expect_exact("build/run_digits", "digits");
  expect_exact("build/run_other", "other");
}

// Two of the Pico's libraries in a program: what both have is compiled once.
TEST_P(StandIns, ThePicosModelsShareTheRuntime) {
  two_models("pico");
  write("sdk/external/pico_sdk_import.cmake", std::string(kPico));
  write("sdk/shim/pico/stdlib.h", std::string("static inline void stdio_init_all(void) {}\n"));
  write("CMakeLists.txt",
        std::string("cmake_minimum_required(VERSION 3.13)\n"
                    "include($ENV{PICO_SDK_PATH}/external/pico_sdk_import.cmake)\n"
                    "project(both LANGUAGES C CXX ASM)\npico_sdk_init()\n"
                    "add_subdirectory(one)\nadd_subdirectory(two)\n"
                    "add_executable(both one/sample/main.c)\n"
                    "target_link_libraries(both PRIVATE digits other pico_stdlib)\n"));
  build({"-S", "."});
  expect_exact("build/both", "digits");
}

}  // namespace
}  // namespace intarsia::test
