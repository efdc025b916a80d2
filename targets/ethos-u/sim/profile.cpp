#include "intarsia/targets/ethos_u/profile.h"

#include <cstdio>

namespace intarsia::simulators::ethos_u {
namespace {

// Writes members of an object, or elements of an array, with the commas between them.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  void text(std::string_view key, std::string_view value) {
    begin(key);
    ((out_ += '"') += json_escaped(value)) += '"';
  }
  void number(std::string_view key, double value) {
    begin(key);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    out_ += digits;
  }
  void count(std::string_view key, uint64_t value) {
    begin(key);
    out_ += std::to_string(value);
  }
  void begin(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    if (!key.empty()) ((out_ += '"') += key) += "\":";
  }

 private:
  std::string& out_;
  bool first_ = true;
};

uint64_t whole(double value) {
  return static_cast<uint64_t>(value + 0.5);
}

}  // namespace

std::string profile_text(std::string_view device, const Timeline& timeline, const NodeOf& node_of) {
  const CycleTotals& totals = timeline.totals();
  std::string out = "{";
  Writer top(out);
  top.text("device", device);
  top.text("system", timeline.memories().name);
  top.text("memory_mode", timeline.memories().mode);
  top.number("clock_mhz", timeline.memories().clock_mhz);
  top.count("cycles", whole(totals.cycles));
  top.count("macs", static_cast<uint64_t>(totals.macs));
  top.number("mac_utilisation", totals.utilisation(timeline.npu().macs));
  top.count("operation_cycles", whole(totals.operation_cycles));
  top.count("transfer_cycles", whole(totals.transfer_cycles));
  top.count("transfer_only_cycles", whole(totals.transfer_only));
  top.count("stream_bytes", totals.stream_bytes);
  top.begin("ports");
  out += '[';
  Writer ports(out);
  for (size_t port = 0; port < 2; ++port) {
    ports.begin("");
    out += '{';
    Writer row(out);
    row.text("memory", timeline.memories().ports[port].name);
    row.count("busy_cycles", whole(totals.port_cycles[port]));
    out += '}';
  }
  out += ']';
  top.begin("regions");
  out += '[';
  Writer regions(out);
  for (uint32_t region = 0; region < kRegions; ++region) {
    const RegionTraffic& traffic = totals.traffic[region];
    if (traffic.read_bytes == 0 && traffic.written_bytes == 0) continue;
    regions.begin("");
    out += '{';
    Writer row(out);
    row.count("region", region);
    row.text("memory", timeline.memories().memory_of_region(region).name);
    row.count("read_bytes", traffic.read_bytes);
    row.count("written_bytes", traffic.written_bytes);
    out += '}';
  }
  out += ']';
  top.begin("commands");
  out += "[\n";
  Writer commands(out);
  for (const TimedCommand& command : timeline.commands()) {
    commands.begin("");
    out += "\n{";
    Writer row(out);
    row.count("offset", command.offset);
    row.text("work", work_name(command));
    row.text("node", node_of ? node_of(command.offset) : std::string());
    row.number("start", command.started);
    row.number("cycles", command.cycles());
    row.count("macs", static_cast<uint64_t>(command.macs));
    row.number("mac_cycles", command.mac);
    row.number("output_cycles", command.output);
    row.number("axi0_cycles", command.port_cycles[0]);
    row.number("axi1_cycles", command.port_cycles[1]);
    out += '}';
  }
  return out += "]}\n";
}

}  // namespace intarsia::simulators::ethos_u
