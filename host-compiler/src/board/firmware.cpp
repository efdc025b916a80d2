// Command lines that build and start a board's firmware.
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "board/board_firmware.h"

namespace intarsia::board {
namespace {

// In QEMU's comma-separated options a comma of a value is written twice.
std::string option_value(const std::string& value) {
  std::string text;
  for (const char c : value) text += c == ',' ? std::string(",,") : std::string(1, c);
  return text;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::vector<std::string> compile_flags(const Board& board, const Core& core) {
  std::vector<std::string> flags = core.flags;
  if (!board.native()) {
    append(flags, {"-ffunction-sections", "-fdata-sections", "-DINTARSIA_BOARD_MEMORIES=1"});
    // Lines of the source say which operator a fault is in; they are no part of what is loaded.
    if (board.probe) append(flags, {"-DINTARSIA_BOARD_PROBE=1", "-g"});
  }
  return flags;
}

std::vector<std::string> include_flags(const std::string& root) {
  return {"-I" + root + "/device-runtime/contract/include", "-I" + root + "/boards/common/include"};
}

std::vector<std::string> startup_sources(const Board& board, const std::string& root) {
  if (board.startup.empty())
    return {root + "/boards/common/" + (board.is_riscv() ? "startup_riscv.c" : "startup.c")};
  std::vector<std::string> sources;
  for (const std::string& name : board.startup) sources.push_back(board.folder + "/" + name);
  return sources;
}

std::vector<std::string> support_sources(const Board& board, const std::string& root) {
  const std::string common = root + "/boards/common/";
  std::vector<std::string> sources = {common + "inference_main.c", common + "run_file.c",
                                      common + "text.c", common + "marks.c"};
  switch (board.port) {
    case Port::Semihosting:
      append(sources, startup_sources(board, root));
      append(sources, {common + (board.is_riscv() ? "fault_riscv.c" : "fault.c"),
                       common + "stack.c", common + "port_semihosting.c"});
      if (board.takes_simulated_devices())
        append(sources, {common + "remote_device.c", common + "remote_registers.c"});
      if (board.probe) sources.push_back(common + "probe.c");
      break;
    case Port::Stdio:
      append(sources, {root + "/boards/host/port.c"});
      break;
  }
  return sources;
}

std::vector<std::string> link_flags(const Board& board, const Core& core,
                                    const std::string& linker_script_path,
                                    const std::string& map_path) {
  std::vector<std::string> flags = core.flags;
  if (!board.native()) {
    // -n: sections are not aligned to pages, which no board has. The C library gives memcpy and
    // the functions of math.h; nothing that needs an operating system is linked.
    append(flags, {"-nostartfiles", "-T", linker_script_path, "-Wl,--gc-sections", "-Wl,-n"});
  }
  if (!map_path.empty()) flags.push_back("-Wl,-Map=" + map_path);
  flags.push_back("-lm");
  return flags;
}

std::vector<std::string> build_command(const Board& board, const Core& core,
                                       const std::string& root, const BuildRequest& request) {
  std::vector<std::string> command = {board.compiler, "-std=c11"};
  append(command, compile_flags(board, core));
  append(command, include_flags(root));
  append(command, request.flags);
  append(command, request.sources);
  append(command, support_sources(board, root));
  // The core's flags, the first of these, are there already; GCC refuses a --specs that is there twice.
  std::vector<std::string> link =
      link_flags(board, core, request.linker_script_path, request.map_path);
  link.erase(link.begin(), link.begin() + static_cast<std::ptrdiff_t>(core.flags.size()));
  append(command, link);
  append(command, {"-o", request.output});
  return command;
}

std::vector<std::string> count_plugin_command(const std::string& root, const std::string& output) {
  return {"cc", "-std=c11", "-O2", "-shared", "-fPIC", root + "/boards/common/qemu_plugin/count.c",
          "-o", output};
}

std::vector<std::string> cycles_plugin_command(const std::string& root, const std::string& output) {
  std::vector<std::string> command = {"cc",  "-std=c11", "-D_POSIX_C_SOURCE=200809L",
                                      "-O2", "-shared",  "-fPIC"};
  for (const char* source : {"cycles.c", "cycles_core.c", "cycles_listing.c", "cycles_model.c",
                             "cycles_scoreboard.c", "cycles_sequential.c"})
    command.push_back(root + "/boards/common/qemu_plugin/" + source);
  append(command, {"-o", output});
  return command;
}

Result<std::vector<std::string>> run_command(const Board& board, const StartRequest& request) {
  if (board.native()) {
    std::vector<std::string> command;
    if (board.emulator) {
      command = {board.emulator->program};
      append(command, board.emulator->arguments);
    }
    append(command, {request.program, request.run_file});
    return command;
  }
  if (!board.emulator) {
    return Diagnostics(fmt::format("--board {}", board.name),
                       "neither an emulator nor a debug probe is known for this board",
                       "load the program with a debug probe that offers semihosting");
  }
  const Emulator& emulator = *board.emulator;
  std::string machine = emulator.machine;
  std::vector<std::string> command = {emulator.program};
  if (!request.shared_memory_file.empty()) {
    const Memory* memory = board.find_memory(emulator.shared_memory);
    if (memory == nullptr) {
      return Diagnostics(fmt::format("--board {}", board.name),
                         "the emulator cannot share a memory of this board with the host");
    }
    machine += ",memory-backend=" + memory->name;
    append(command,
           {"-m", fmt::format("{}M", memory->size >> 20), "-object",
            fmt::format("memory-backend-file,id={},size={},mem-path={},share=on", memory->name,
                        memory->size, option_value(request.shared_memory_file))});
  }
  append(command, {"-M", machine});
  append(command, emulator.arguments);
  append(command, {"-nographic", "-monitor", "none", "-serial", "null", "-semihosting-config",
                   "enable=on,target=native,arg=intarsia,arg=" + option_value(request.run_file),
                   "-kernel", request.program});
  if (!request.loaded_file.empty())
    append(command, {"-device", fmt::format("loader,file={},addr={:#x},force-raw=on",
                                            option_value(request.loaded_file), request.loaded_at)});
  if (request.count) {
    std::string plugin =
        fmt::format("file={},begin={:#x},end={:#x},out={}", option_value(request.count->plugin),
                    request.count->begin, request.count->end, option_value(request.count->output));
    if (request.count->pause != 0)
      plugin +=
          fmt::format(",pause={:#x},resume={:#x}", request.count->pause, request.count->resume);
    if (!request.count->listing.empty())
      plugin += fmt::format(",core={},listing={}", request.count->core,
                            option_value(request.count->listing));
    append(command, {"-plugin", plugin});
  }
  return command;
}

Result<void> check_memories_of_devices(const Board& board) {
  const std::string& shared = board.emulator->shared_memory;
  std::vector<std::string> places = board.roles.activations;
  places.insert(places.end(), board.roles.constants.begin(), board.roles.constants.end());
  places.push_back(board.roles.streams);
  Diagnostics problems;
  std::set<std::string> told;
  for (const std::string& place : places) {
    const Memory* memory = board.find_memory(place);
    if (memory == nullptr || place == shared || !told.insert(place).second) continue;
    if (!memory->is_cpus_alone())
      problems.add(
          board.name,
          fmt::format("devices reach '{}' too, and the emulator shares '{}' alone with them", place,
                      shared),
          fmt::format("give '{}' \"accessible_by\": [\"cpu\"] in the board's file", place));
  }
  if (!problems.empty()) return problems;
  return {};
}

}  // namespace intarsia::board
