#include "intarsia/targets/ethos_u/simulator.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "intarsia/targets/ethos_u/simulation.h"

namespace {

namespace sim = intarsia::simulators::ethos_u;

std::string_view text(const char* value) {
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string from_environment(const char* name) {
  return std::string(text(std::getenv(name)));
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!written) std::fprintf(stderr, "ethos-u simulator: %s cannot be written\n", path.c_str());
  if (file != nullptr) std::fclose(file);
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// All devices of the program. Its files, named by the environment, are written when it ends.
class Program {
 public:
  Program()
      : trace_file_(from_environment("INTARSIA_DEVICE_TRACE")),
        profile_file_(from_environment("INTARSIA_DEVICE_PROFILE")),
        simulation_({.trace = !trace_file_.empty(),
                     .profile = !profile_file_.empty(),
                     .marks = contents(from_environment("INTARSIA_DEVICE_MARKS")),
                     .say = say,
                     .faults = faults()}) {}
  ~Program() {
    if (!trace_file_.empty()) write_file(trace_file_, simulation_.recorder().trace_text());
    if (!profile_file_.empty()) write_file(profile_file_, simulation_.recorder().profile_text());
  }
  sim::Simulation& simulation() { return simulation_; }

 private:
  static void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }
  static sim::InjectedFaults faults() {
    std::string problem;
    sim::InjectedFaults faults =
        sim::parse_injected_faults(from_environment("INTARSIA_DEVICE_FAULTS"), problem);
    if (!problem.empty()) say("ethos-u simulator: INTARSIA_DEVICE_FAULTS: " + problem);
    return faults;
  }

  std::string trace_file_, profile_file_;
  sim::Simulation simulation_;
};

}  // namespace

intarsia_register_bus intarsia_ethos_u_simulator(const char* configuration) {
  return intarsia_ethos_u_simulator_in(configuration, nullptr, nullptr);
}

intarsia_register_bus intarsia_ethos_u_simulator_in(const char* configuration, const char* system,
                                                    const char* memory_mode) {
  static Program program;
  return program.simulation()
      .add_device(text(configuration), text(system), text(memory_mode))
      .value_or(intarsia_register_bus{nullptr, nullptr, nullptr});
}
