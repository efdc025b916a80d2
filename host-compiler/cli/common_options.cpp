#include "common_options.h"

#include <fmt/format.h>

#include "support/amounts.h"
#include "support/model_name.h"

namespace intarsia::cli {

using From = ValueKind::From;

ValueKind any_value(const std::string& name) {
  return {name, From::Anything};
}
ValueKind file_value(const std::string& name) {
  return {name, From::File};
}
ValueKind folder_value() {
  return {"FOLDER", From::Folder};
}
ValueKind word_value(const std::string& name, const std::vector<std::string>& words) {
  return {name, From::Words, words};
}

namespace {

std::string check_name(const std::string& name) {
  const std::string problem = model_name_problem(name);
  return problem.empty() ? problem : fmt::format("'{}' {}; {}", name, problem, model_name_rule());
}

void add_policy(DescribedCommand& command, CommonOptions& options) {
  command.choice("--policy", options.policy, word_value("POLICY", {"priority", "cost"}),
                 "who takes what: priority (devices in the order of the target) or cost (least "
                 "estimated time)");
}

void add_tags(DescribedCommand& command, CommonOptions& options) {
  command.option("--tags", options.tags_file, file_value(), "a JSON file of your own target tags");
}

void add_driver(DescribedCommand& command, CommonOptions& options) {
  const ValueKind value = word_value("DRIVER", {"intarsia", "arm"});
  command
      .option("--driver", options.driver, value,
              "what runs the streams of an NPU that has a choice: the driver in the package "
              "(intarsia), or Arm's core driver, which your program links (arm)")
      ->check(one_of(value.words));
}

void add_devices(DescribedCommand& command, CommonOptions& options) {
  command.group("Who runs it");
  command
      .option("--target", options.target, {"TARGET", From::Targets},
              "what runs it: a tag, several with '+' between, target string or JSON ('intarsia "
              "targets'); default: the board's core")
      ->check(not_empty);
  command
      .option("--board", options.board, {"BOARD", From::Boards},
              "the board ('intarsia boards'), or the path of a board's folder; 'host' is this "
              "machine")
      ->capture_default_str();
  add_driver(command, options);
  add_policy(command, options);
  command.option("--pin", options.pins, any_value("NAME=DEVICE"),
                 "this operator or function runs there");
  command.option("--pins", options.pins_file, file_value(), "a file of NAME=DEVICE lines");
  add_tags(command, options);
}

void add_size(DescribedCommand& command, CommonOptions& options) {
  command
      .option("--flash-budget", options.flash_budget, any_value("BYTES"),
              "code, constants and command streams to stay within ('compile', 'check' and 'sweep', "
              "boards with a cross compiler)")
      ->transform(bytes_text());
  command
      .option("--sram-limit", options.sram_limit, any_value("BYTES"),
              "fast memory that an accelerator may keep alive at once")
      ->transform(bytes_text());
  command.choice("--optimise", options.optimise, word_value("WHAT", {"size", "speed", "balanced"}),
                 "size, speed or balanced: small code from a CPU, speed from an NPU");
  command.flag("--no-in-place", options.no_in_place, "no operator overwrites its input");
}

void add_memory(DescribedCommand& command, CommonOptions& options) {
  command.group("Memory and size");
  command
      .option("--ram-budget", options.ram_budget_text, any_value("BYTES"),
              "activations and scratch to stay within: 20000, 20K, 1.5M; auto: what the board has, "
              "where the model does not fit otherwise")
      ->check(bytes_or_auto_text())
      ->each([&options](const std::string& text) { set_ram_budget(options, text); });
  add_size(command, options);
  command
      .option("--section", options.sections, any_value("WHAT=SECTION"),
              "the linker section of weights, streams, a memory, or one constant")
      ->take_all();
  command.choice("--weights-file", options.weights_file,
                 word_value("WHEN", {"auto", "never", "always"}),
                 "weights as a binary file that the assembler takes in, instead of arrays of C: "
                 "above 1 MiB (auto), never or always");
}

void add_edges(DescribedCommand& command, CommonOptions& options) {
  command.choice("--io", options.io, word_value("TYPE", {"float", "int8"}),
                 "inputs and outputs as in the file (float), or without the conversions from and "
                 "to floats (or unsigned bytes) at the model's edges (int8)");
  command
      .option("--shape", options.shapes, any_value("NAME=EXTENTS"),
              "the shape of an input whose extents the file leaves open: image=1x96x96x3")
      ->take_all();
  command
      .option("--input-value", options.input_values, any_value("NAME=VALUE"),
              "an input becomes this constant, and the model has it no more: sr=16000; one number "
              "for all its elements, or one for each with commas between")
      ->take_all();
  command.option("--signature", options.signature, any_value("NAME"),
                 "of a .tflite with several networks the one with this signature; default: the "
                 "first");
  command.flag("--widen-weights", options.widen_weights,
               "integer weights that meet float activations become floats, instead of the "
               "activations being quantised as the model runs");
  command.flag("--keep-dead-channels,--no-slim", options.keep_dead_channels,
               "keep what provably does not change the results");
}

void add_meaning(DescribedCommand& command, CommonOptions& options) {
  command.group("The model");
  command
      .option("--name", options.name, any_value("NAME"),
              "the model's name in C and of its files; default: from the file's name")
      ->check(check_name);
  add_edges(command, options);
}

}  // namespace

void set_ram_budget(CommonOptions& options, const std::string& text) {
  options.ram_budget_is_auto = text == kAutoBudget;
  options.ram_budget = options.ram_budget_is_auto ? std::nullopt : parse_bytes(text);
}

void add_model(DescribedCommand& command, CommonOptions& options, ModelArgument model) {
  CLI::Option* file =
      command.argument(options.model, file_value("MODEL"),
                       model == ModelArgument::FileOrFolder
                           ? "a .tflite, an .onnx or graph text, or a folder that 'compile' wrote"
                           : "a .tflite, an .onnx or graph text");
  file->check(not_empty);
  if (model != ModelArgument::FileOrNone) file->required();
}

void add_common(DescribedCommand& command, CommonOptions& options) {
  add_devices(command, options);
  add_memory(command, options);
  add_meaning(command, options);
  command.group("Other");
  add_json(command, options.json, "print tables as JSON");
}

void add_sweep_options(DescribedCommand& command, CommonOptions& options) {
  command.group("Of every row");
  add_policy(command, options);
  add_size(command, options);
  add_edges(command, options);
  add_tags(command, options);
}

void add_timeout(DescribedCommand& command, CommonOptions& options) {
  command.group("Other");
  command
      .option("--timeout", options.timeout, any_value("SECONDS"),
              "that each compiler or program may take; 0: for ever")
      ->check(real_number(0, 1'000'000))
      ->capture_default_str();
}

void add_json(DescribedCommand& command, bool& json, const std::string& text) {
  command.group("Other");
  command.flag("--json", json, text);
}

}  // namespace intarsia::cli
