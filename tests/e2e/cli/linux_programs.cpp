#include "linux_programs.h"

#include <filesystem>

#include <fmt/format.h>

#include "support/c_identifier.h"

namespace intarsia::test {
namespace {

// A model's part of main.c.
constexpr const char* kPart = R"(
#include "{name}.h"
{NAME}_DEFINE_RESOURCES({name}_memory);
static struct {name} {name}_model;
struct intarsia_device *{name}_board_device(int32_t index);

static int start_{name}(void) {{
{devices}  return {name}_init(&{name}_model, &{name}_memory) == INTARSIA_OK;
}}

static int run_{name}(FILE *in, FILE *out) {{
  if (fread({name}_input(&{name}_model, 0), 1, {NAME}_INPUT0_BYTES, in) != {NAME}_INPUT0_BYTES) return 0;
  if ({name}_run(&{name}_model) != INTARSIA_OK) return 0;
  return fwrite({name}_output(&{name}_model, 0), 1, {NAME}_OUTPUT0_BYTES, out) == {NAME}_OUTPUT0_BYTES;
}}
)";

// The devices that the boards' programs of this model have, under a name that other models of the program do not have.
constexpr const char* kDevices = R"(#define intarsia_board_device {0}_board_device
#include "{0}_devices.c"
)";

std::string part_text(const UsedPackage& package) {
  const std::string& of =
      package.shares_devices_of.empty() ? package.model : package.shares_devices_of;
  std::string devices;
  for (int i = 0; i < package.devices; ++i)
    devices +=
        fmt::format("  {}_memory.device{} = {}_board_device({});\n", package.model, i, of, i);
  return fmt::format(kPart, fmt::arg("name", package.model),
                     fmt::arg("NAME", upper_case(package.model)), fmt::arg("devices", devices));
}

std::string main_text(const std::vector<UsedPackage>& packages, int rounds) {
  std::string text = "#include <stdio.h>\n#include \"intarsia/contract/status.h\"\n", start, turn,
              close;
  for (const UsedPackage& package : packages) {
    text += part_text(package);
    start += fmt::format(
        "  FILE *{0}_in = fopen(\"{0}.in\", \"rb\"), *{0}_out = fopen(\"{0}.out\", \"wb\");\n"
        "  if (!{0}_in || !{0}_out || !start_{0}()) return 1;\n",
        package.model);
    turn += fmt::format("    if (!run_{0}({0}_in, {0}_out)) return 2;\n", package.model);
    close += fmt::format("  if (fclose({}_out) != 0) return 3;\n", package.model);
  }
  return text + fmt::format(
                    "\nint main(void) {{\n  int round;\n{}"
                    "  for (round = 0; round < {}; ++round) {{\n{}  }}\n{}  return 0;\n}}\n",
                    start, rounds, turn, close);
}

std::string cmake_lists(const std::vector<UsedPackage>& packages, bool shared) {
  std::string text = "cmake_minimum_required(VERSION 3.20)\nproject(user C CXX)\n", sources,
              libraries;
  for (const UsedPackage& package : packages) {
    text += fmt::format("add_subdirectory({0})\n", package.model);
    if (package.devices > 0) sources += fmt::format(" {}_glue.c", package.model);
    // In front of the package's library, so that the model is the shared one's.
    if (shared) libraries += fmt::format(" ${{CMAKE_SOURCE_DIR}}/lib{}.so", package.model);
    libraries += " " + package.model;
  }
  return text +
         fmt::format("add_executable(user main.c{})\ntarget_link_libraries(user PRIVATE{})\n",
                     sources, libraries);
}

std::string makefile(const std::vector<UsedPackage>& packages) {
  std::string text = "user:\n", sources = "main.c", includes, libraries;
  for (const UsedPackage& package : packages) {
    text += fmt::format("include {0}/{0}.mk\n", package.model);
    const std::string name = upper_case(package.model);
    if (package.devices > 0) sources += fmt::format(" {}_glue.c", package.model);
    sources += fmt::format(" $({}_SOURCES)", name);
    includes += fmt::format(" $({}_INCLUDES)", name);
    libraries += fmt::format(" $({}_LIBRARIES)", name);
  }
  const std::string first = upper_case(packages.front().model);
  return text + fmt::format(
                    "SOURCES := {0} $(INTARSIA_RUNTIME_SOURCES)\n"
                    "user: $(SOURCES:%=objects/%.o)\n"
                    "\t$(CXX) $^{2} -o $@\n"
                    "objects/%.c.o: %.c\n\t@mkdir -p $(@D)\n"
                    "\t$(CC) -O0 $({3}_CFLAGS){1} -c $< -o $@\n"
                    "objects/%.cpp.o: %.cpp\n\t@mkdir -p $(@D)\n"
                    "\t$(CXX) -O0 $({3}_CXXFLAGS){1} -c $< -o $@\n",
                    sources, includes, libraries, first);
}

}  // namespace

const LinuxMachine& arm_linux() {
  static const LinuxMachine machine{
      "aarch64-linux",
      "aarch64-linux-gnu-",
      "aarch64",
      {"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", "LD_LIBRARY_PATH=/lib"}};
  return machine;
}

const LinuxMachine& x86_linux() {
  static const LinuxMachine machine{"x86_64-linux", "x86_64-linux-gnu-", "x86_64", {}};
  return machine;
}

bool can_build_for(const LinuxMachine& machine) {
  const std::string tools = machine.tools;
  return have_program(tools + "gcc") && have_program(tools + "g++") &&
         (machine.emulator.empty() || have_program(machine.emulator.front()));
}

const char* name_of(Build build) {
  switch (build) {
    case Build::CMake:
      return "CMake";
    case Build::Make:
      return "make";
    case Build::SharedLibrary:
      return "shared library";
  }
  return "";
}

void LinuxPrograms::write_sources(const std::vector<UsedPackage>& packages, int rounds) const {
  write("main.c", main_text(packages, rounds));
  for (const UsedPackage& package : packages)
    if (package.devices > 0) write(package.model + "_glue.c", fmt::format(kDevices, package.model));
}

ProcessOutcome LinuxPrograms::build_program(const LinuxMachine& machine, Build build,
                                            const std::vector<UsedPackage>& packages) const {
  const std::string tools = machine.tools, cc = tools + "gcc", cxx = tools + "g++";
  if (build == Build::Make) {
    write("Makefile", makefile(packages));
    return program({"make", "-j2", "CC=" + cc, "CXX=" + cxx, "user"});
  }
  write("CMakeLists.txt", cmake_lists(packages, build == Build::SharedLibrary));
  const ProcessOutcome configured = program(
      {"cmake", "-S", ".", "-B", "build", "-D", "CMAKE_SYSTEM_NAME=Linux", "-D",
       std::string("CMAKE_SYSTEM_PROCESSOR=") + machine.processor, "-D", "CMAKE_CXX_FLAGS=-O0",
       "-D", "CMAKE_C_COMPILER=" + cc, "-D", "CMAKE_CXX_COMPILER=" + cxx});
  if (!configured.succeeded()) return configured;
  const ProcessOutcome built = program({"cmake", "--build", "build", "-j2"});
  if (built.succeeded())
    std::filesystem::copy_file(path("build/user"), path("user"),
                               std::filesystem::copy_options::overwrite_existing);
  return built;
}

testing::AssertionResult LinuxPrograms::build_and_run(const LinuxMachine& machine, Build build,
                                                      const std::vector<UsedPackage>& packages,
                                                      int rounds) const {
  std::filesystem::remove(path("user"));
  for (const UsedPackage& package : packages) std::filesystem::remove(path(package.model + ".out"));
  write_sources(packages, rounds);
  const ProcessOutcome built = build_program(machine, build, packages);
  if (!built.succeeded())
    return testing::AssertionFailure() << name_of(build) << ": " << built.out << built.err;
  std::vector<std::string> command = machine.emulator;
  command.push_back(path("user"));
  const ProcessOutcome ran = program(command);
  if (!ran.succeeded())
    return testing::AssertionFailure() << name_of(build) << ": " << ran.ending() << ran.err;
  return testing::AssertionSuccess();
}

}  // namespace intarsia::test
