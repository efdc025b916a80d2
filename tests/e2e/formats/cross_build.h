// Firmware out of a formatted package: exactly the files that its description lists, compiled as that ecosystem compiles
// them for an Arm core, and run in QEMU with the start-up code of examples/common.
#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {

class CrossBuild : public Cli {
 protected:
  static bool have_tools() {
    return have_program("arm-none-eabi-gcc") && have_program("qemu-system-arm");
  }

  void package(const std::string& format, const std::string& board, const std::string& folder,
               std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"compile",  digits_path(), "--board", board,
                                      "--format", format,        "-o",      folder};
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_TRUE(done(intarsia(words)));
  }

  // Options of the core, from the package.
  std::vector<std::string> core_flags(const std::string& folder) const {
    return nlohmann::json::parse(*read_text_file(path(folder + "/manifest.json")))
        .at("core_flags")
        .get<std::vector<std::string>>();
  }

  // One file of C, C++ or for the assembler; its object is named for it.
  void compile(const std::string& source, std::vector<std::string> options) {
    std::vector<std::string> command = {
        source.ends_with(".cpp") ? "arm-none-eabi-g++" : "arm-none-eabi-gcc",
        "-ffunction-sections",
        "-fdata-sections",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Dprintf=console_printf"};
    command.insert(command.end(), options.begin(), options.end());
    const std::string object = "object" + std::to_string(objects_.size()) + ".o";
    command.insert(command.end(), {"-c", source, "-o", object});
    const ProcessOutcome compiled = program(command);
    ASSERT_TRUE(compiled.succeeded()) << source << "\n" << compiled.err;
    objects_.push_back(object);
  }

  // With a console and the examples' start-up code; for mps3-an547 and boards with the memories of mps2-an386.
  ProcessOutcome link_and_run(const std::string& board, const std::vector<std::string>& flags) {
    const std::string common = INTARSIA_SOURCE_DIR "/examples/common/";
    write("console.c", std::string("#include <stdarg.h>\n#include <stdio.h>\n"
                                   "#include \"semihosting.h\"\n"
                                   "int console_printf(const char *format, ...);\n"
                                   "int console_printf(const char *format, ...) {\n"
                                   "  char line[200];\n  va_list values;\n  int length;\n"
                                   "  va_start(values, format);\n"
                                   "  length = vsnprintf(line, sizeof line, format, values);\n"
                                   "  va_end(values);\n  print(line);\n  return length;\n}\n"));
    for (const std::string& source :
         {std::string("console.c"), common + "startup.c", common + "semihosting.c"}) {
      std::vector<std::string> options = flags;
      options.insert(options.end(), {"-O2", "-std=c11", "-I" + common});
      compile(source, options);
    }
    std::vector<std::string> command = {"arm-none-eabi-gcc"};
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), objects_.begin(), objects_.end());
    command.insert(command.end(),
                   {"-nostartfiles", "--specs=nosys.specs", "-T",
                    common + (board == "mps3-an547" ? board : "mps2-an386") + ".ld",
                    "-Wl,--defsym=end=0x20040000", "-Wl,--gc-sections", "-o", "firmware.elf"});
    const ProcessOutcome linked = program(command);
    EXPECT_TRUE(linked.succeeded()) << linked.err;
    return program({"qemu-system-arm", "-M", board, "-display", "none", "-monitor", "none",
                    "-serial", "null", "-chardev", "stdio,id=console", "-semihosting-config",
                    "enable=on,target=native,chardev=console", "-kernel", "firmware.elf"});
  }

 private:
  std::vector<std::string> objects_;
};

// What stands in lines between `before` and `after`: "        - file: main.c".
inline std::vector<std::string> listed(const std::string& text, const std::string& before,
                                       const std::string& after) {
  std::vector<std::string> found;
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
    at += before.size();
    const size_t end = text.find(after, at);
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

}  // namespace intarsia::test
