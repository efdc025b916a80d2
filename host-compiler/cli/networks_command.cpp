#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "messages.h"
#include "requests/bare_networks.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

// A file of that name holds the model; a folder each network of it, and what they are.
bool is_one_file(const CompileCommand& command) {
  return std::filesystem::path(command.output_folder).extension() == "." + command.format;
}

Result<void> write_one(const CompileCommand& command, const requests::BareNetworks& made) {
  if (made.networks.size() != 1 || made.others != 0)
    return Diagnostics(
        command.output_folder,
        fmt::format(
            "cannot hold the model: it is {} network{} and {} operator{} that other devices "
            "run",
            made.networks.size(), made.networks.size() == 1 ? "" : "s", made.others,
            made.others == 1 ? "" : "s"),
        "-o FOLDER writes each network, and networks.json with what is between them");
  return write_file(command.output_folder, std::span<const uint8_t>(made.networks[0].bytes));
}

Result<void> write_all(const CompileCommand& command, const requests::BareNetworks& made) {
  std::vector<SourceFile> files = {{"networks.json", made.json}};
  for (const requests::BareNetwork& network : made.networks)
    files.push_back({network.file, std::string(network.bytes.begin(), network.bytes.end())});
  return write_folder(command.output_folder, files);
}

Result<void> write_networks(Context& context, const CompileCommand& command) {
  INTARSIA_TRY_VOID(check_no_folder_options(command));
  show_progress("reading " + command.common.model);
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(command.common.model));
  INTARSIA_TRY(const requests::BareNetworks made,
               requests::bare_networks(context, command.common, command.format, bytes, print_note,
                                       progress_listener()));
  INTARSIA_TRY_VOID(is_one_file(command) ? write_one(command, made) : write_all(command, made));
  clear_progress();
  for (const requests::BareNetwork& network : made.networks)
    fmt::print("{:<24} {:>9} bytes {:>5} operators\n", network.file, network.bytes.size(),
               network.operators);
  if (made.others > 0)
    fmt::print("{:<24} {:>15} {:>5} operators\n", "other devices", "", made.others);
  fmt::print("{}\n", command.output_folder);
  return {};
}

}  // namespace

int run_networks(Context& context, const CompileCommand& command) {
  if (const Result<void> written = write_networks(context, command); !written.ok())
    return fail(written.error());
  return kDone;
}

}  // namespace intarsia::cli
