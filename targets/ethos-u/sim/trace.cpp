#include "intarsia/targets/ethos_u/trace.h"

#include <cstdio>

#include "intarsia/targets/ethos_u/command_text.h"

namespace intarsia::simulators::ethos_u {
namespace {

enum Row { kOperations = 1, kTransfers = 2, kWaits = 3 };

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

constexpr const char* kPoolNames[] = {"max pool", "average pool", "reduce sum"};
constexpr const char* kElementwiseNames[] = {"mul",        "add", "sub", "min", "max",
                                             "leaky relu", "abs", "clz", "shr", "shl"};

}  // namespace

std::string json_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (code < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out;
}

std::string work_name(const TimedCommand& command) {
  switch (command.command) {
    case Command::OP_CONV:
      return "conv";
    case Command::OP_DEPTHWISE:
      return "depthwise";
    case Command::OP_POOL:
      return kPoolNames[field::OP_POOL_pooling_mode.get(command.parameter)];
    case Command::OP_ELEMENTWISE:
      return kElementwiseNames[field::OP_ELEMENTWISE_elementwise_mode.get(command.parameter)];
    default:
      return "dma";
  }
}

Trace::Process& Trace::process(int id, std::string_view device) {
  for (Process& known : processes_)
    if (known.id == id) return known;
  const auto name = [&](const char* what, int row, std::string_view text) {
    if (!events_.empty()) events_ += ",\n";
    events_ += "{\"ph\":\"M\",\"name\":\"";
    ((events_ += what) += "\",\"pid\":") += std::to_string(id);
    ((events_ += ",\"tid\":") += std::to_string(row)) += ",\"args\":{\"name\":\"";
    (events_ += json_escaped(text)) += "\"}}";
  };
  name("process_name", 0, device);
  name("thread_name", kOperations, "operations");
  name("thread_name", kTransfers, "DMA");
  name("thread_name", kWaits, "waits of the command processor");
  return processes_.emplace_back(Process{id, 0, 0});
}

void Trace::event(int process, int row, const std::string& name, double from_us, double length_us,
                  const std::string& arguments) {
  events_ += ",\n{\"ph\":\"X\",\"name\":\"";
  ((events_ += json_escaped(name)) += "\",\"pid\":") += std::to_string(process);
  ((events_ += ",\"tid\":") += std::to_string(row)) += ",\"ts\":";
  ((events_ += number(from_us)) += ",\"dur\":") += number(length_us);
  ((events_ += ",\"args\":{") += arguments) += "}}";
}

void Trace::add(int id, std::string_view device, const Timeline& timeline, const NodeOf& node_of) {
  Process& place = process(id, device);
  if (place.runs++ >= kMostRuns) return;
  const double us = 1 / timeline.memories().clock_mhz;  // a cycle
  for (const TimedCommand& command : timeline.commands()) {
    const bool is_operation = command.kind == TimedKind::Operation;
    const std::string node = node_of ? node_of(command.offset) : std::string();
    std::string name = node.empty() ? work_name(command) : node;
    std::string arguments = "\"command\":\"";
    ((arguments += row_of(command.command).name) += "\",\"offset\":\"") += hex(command.offset);
    const auto add = [&](const char* key, double value) {
      (((arguments += ",\"") += key) += "\":") += number(value);
    };
    arguments += '"';
    add("cycles", command.cycles());
    if (is_operation) {
      add("macs", static_cast<double>(command.macs));
      add("mac_cycles", command.mac);
      add("output_cycles", command.output);
    }
    for (size_t port = 0; port < 2; ++port)
      if (command.port_cycles[port] > 0)
        add(port == 0 ? "axi0_cycles" : "axi1_cycles", command.port_cycles[port]);
    event(id, is_operation ? kOperations : kTransfers, name, place.now_us + command.started * us,
          command.cycles() * us, arguments);
  }
  for (const Stall& stall : timeline.stalls()) {
    std::string arguments = "\"offset\":\"";
    (arguments += hex(stall.offset)) += '"';
    event(id, kWaits, "wait", place.now_us + stall.from * us, (stall.to - stall.from) * us,
          arguments);
  }
  place.now_us += timeline.totals().cycles * us;
}

std::string Trace::text() const {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  return (out += events_) += "\n]}\n";
}

}  // namespace intarsia::simulators::ethos_u
