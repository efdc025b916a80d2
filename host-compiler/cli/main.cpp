// The command line: a table of sub-commands. The composition root: nothing else links every target.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "commands.h"
#include "packaging/formats/format.h"
#include "plan_command.h"
#include "support/amounts.h"
#include "support/interrupt.h"
#include "support/model_name.h"
#include "targets_command.h"

namespace intarsia::cli {
namespace {

// An empty word is more likely a script's unset variable than a choice.
std::string not_empty(const std::string& text) {
  return text.empty() ? "is empty" : "";
}

// Bytes as board.json has them too.
CLI::Validator bytes_text() {
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<int64_t> bytes = parse_bytes(text);
        if (!bytes)
          return fmt::format("'{}' is no size; write bytes as 60000, 20K or 1.5M (K is 1024)",
                             text);
        if (*bytes < 1) return std::string("is less than one byte");
        text = std::to_string(*bytes);
        return std::string();
      },
      "BYTES");
}

// `model`: what may be named as the model.
enum class ModelArgument : uint8_t { File, FileOrFolder, FileOrNone };

void add_common(CLI::App& app, CommonOptions& options, ModelArgument model) {
  CLI::Option* file =
      app.add_option("MODEL", options.model,
                     model == ModelArgument::FileOrFolder
                         ? "a .tflite, an .onnx or graph text, or a folder that 'compile' wrote"
                         : "a .tflite, an .onnx or graph text");
  if (model != ModelArgument::FileOrNone) file->required();
  app.add_option("--target", options.target,
                 "what runs it: a tag, target string or JSON ('intarsia targets'); default: the "
                 "board's core")
      ->check(not_empty);
  app.add_option("--name", options.name,
                 "the model's name in C and of its files; default: from the file's name")
      ->check([](const std::string& name) {
        const std::string problem = model_name_problem(name);
        return problem.empty() ? problem
                               : fmt::format("'{}' {}; {}", name, problem, model_name_rule());
      });
  app.add_option(
         "--board", options.board,
         "the board ('intarsia boards'), or the path of a board's folder; default: this machine")
      ->capture_default_str();
  app.add_option("--policy", options.policy, "who takes what: priority | cost")
      ->check(CLI::IsMember({"priority", "cost"}))
      ->capture_default_str();
  app.add_option("--pin", options.pins, "NAME=DEVICE: this operator or function runs there");
  app.add_option("--pins", options.pins_file, "a file of NAME=DEVICE lines");
  app.add_option("--tags", options.tags_file, "a JSON file of your own target tags");
  app.add_option("--optimise", options.optimise,
                 "size | speed | balanced: small code from a CPU, speed from an NPU")
      ->check(CLI::IsMember({"size", "speed", "balanced"}))
      ->capture_default_str();
  app.add_option("--sram-limit", options.sram_limit,
                 "BYTES of fast memory an accelerator may keep alive at once")
      ->transform(bytes_text());
  app.add_option("--ram-budget", options.ram_budget,
                 "BYTES of activations and scratch to stay within")
      ->transform(bytes_text());
  app.add_option("--flash-budget", options.flash_budget,
                 "BYTES of code, constants and command streams to stay within ('compile' and "
                 "'check', boards "
                 "with a cross compiler)")
      ->transform(bytes_text());
  app.add_option(
         "--io", options.io,
         "float | int8: inputs and outputs as in the file, or without the conversions from and "
         "to floats (or unsigned bytes) at the model's edges")
      ->check(CLI::IsMember({"float", "int8"}))
      ->capture_default_str();
  app.add_flag("--keep-dead-channels,--no-slim", options.keep_dead_channels,
               "keep what provably does not change the results");
  app.add_option("--section", options.sections,
                 "WHAT=SECTION: the linker section of weights, streams, a memory, or one constant; "
                 "once each")
      ->take_all();
  app.add_flag("--no-in-place", options.no_in_place, "no operator overwrites its input");
  app.add_flag("--json", options.json, "print tables as JSON");
}

void add_timeout(CLI::App& app, CommonOptions& options) {
  app.add_option("--timeout", options.timeout,
                 "SECONDS that each compiler or program may take; 0: for ever")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

// What --format takes, a line each.
std::string formats_help() {
  std::string text = "the build files beside the C:";
  for (const packaging::Format& format : packaging::formats())
    text += fmt::format("\n{}: {}", format.name, format.summary);
  return text;
}

// Our own line for a command there is not: the parser would only say that one is required.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return "";
  const std::string near = nearest_name(argv[1], names);
  return Diagnostics("intarsia", fmt::format("there is no command '{}'", argv[1]),
                     near.empty() ? fmt::format("commands: {}", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", near))
      .to_string();
}

int run_main(int argc, char** argv) {
  CLI::App app{
      "Intarsia: ahead-of-time deployment of quantised networks to microcontrollers and NPUs",
      "intarsia"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("intarsia ") + INTARSIA_VERSION);
  Context context;
  int exit_code = kDone;

  CompileCommand compile;
  compile.common.keeps_flash_budget = true;
  CLI::App* sub = app.add_subcommand("compile", "model to C sources, streams, package and report");
  add_common(*sub, compile.common, ModelArgument::File);
  sub->add_option("-o,--output", compile.output_folder, "the folder to write")
      ->required()
      ->check(not_empty);
  CLI::Option* runtime = sub->add_option(
      "--runtime", compile.runtime_folder,
      "a folder for the runtime as a package of its own, which the models of a program share");
  runtime->check(not_empty);
  sub->add_flag("--single-file", compile.single_file, "one .c and one .h, for a CPU")
      ->excludes(runtime);
  sub->add_option("--format", compile.format, formats_help())->capture_default_str();
  sub->callback([&] { exit_code = run_compile(context, compile); });

  BuildCommand build;
  sub = app.add_subcommand("build", "compile, and build a program for the board's debug probe");
  add_common(*sub, build.common, ModelArgument::FileOrFolder);
  add_timeout(*sub, build.common);
  sub->add_option("-o,--output", build.output_file, "the program to write (ELF)")
      ->required()
      ->check(not_empty);
  sub->callback([&] { exit_code = run_build(context, build); });

  RunCommand run;
  sub = app.add_subcommand("run", "compile and run on this machine or in the board's emulator");
  add_common(*sub, run.common, ModelArgument::FileOrFolder);
  sub->add_option("--input", run.inputs, "raw little-endian tensor or .npy, once per model input");
  sub->add_option("--output-dir", run.output_folder, "where out0.bin, out1.bin, ... are written")
      ->required()
      ->check(not_empty);
  sub->add_option("--repeat", run.repeat,
                  "invocations on one state; inputs may hold one slice for each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  sub->add_flag("--keep-all", run.keep_all,
                "write the outputs of every invocation, one after another");
  sub->add_flag("--native", run.native,
                "on this machine, build the generated C and run that program");
  CLI::Option* batch = sub->add_flag("--batch", run.batch,
                                     "input files hold any number of samples: each is run on a "
                                     "fresh state, on all cores; outN.bin "
                                     "holds the outputs of all, one after another");
  sub->add_option("--jobs", run.jobs, "threads of --batch; 0: as many as there are cores")
      ->needs(batch)
      ->check(CLI::Range(0, 1024));
  sub->add_flag("--count-instructions", run.count,
                "count instructions of each run (emulated boards)");
  sub->add_option(
         "--trace", run.trace_file,
         "write what simulated devices did, cycle by cycle, for ui.perfetto.dev (--board host)")
      ->check(not_empty);
  sub->add_option(
         "--outputs", run.intermediates,
         "all, or NAME,...: write these operators' results too, each to NAME.bin (with every "
         "channel that the model has; what reads them is compiled for that)")
      ->delimiter(',')
      ->check(not_empty);
  add_timeout(*sub, run.common);
  sub->callback([&] { exit_code = run_run(context, run); });

  VerifyCommand verify;
  sub = app.add_subcommand(
      "verify", "reference, generated C on this machine and firmware in the emulator, compared");
  add_common(*sub, verify.common, ModelArgument::FileOrFolder);
  add_timeout(*sub, verify.common);
  sub->add_option(
         "--samples", verify.samples,
         "zero points, smallest and largest values (floats: -1 and 1), then random inputs; "
         "state goes on from one to the next")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  sub->add_option("--input", verify.inputs,
                  "inputs instead: raw little-endian tensors or .npy with one sample or several, "
                  "once per model input; or one folder of such files, one per sample and input");
  CLI::Option* layers =
      sub->add_flag("--layers,!--no-layers", verify.layers,
                    "operator by operator, which needs memory for every result at once (default: "
                    "where there is that much)");
  sub->add_option("--reference", verify.reference, "the model that a compiled folder was made from")
      ->check(not_empty);
  sub->callback([&] {
    verify.layers_are_asked_for = layers->count() > 0 && verify.layers;
    exit_code = run_verify(context, verify);
  });

  CheckCommand check;
  check.common.keeps_flash_budget = true;
  sub = app.add_subcommand("check", "exit status 1 when a model needs more than its budgets allow");
  add_common(*sub, check.common, ModelArgument::FileOrNone);
  add_timeout(*sub, check.common);
  // One value each time: the model may come behind it.
  const auto limit = [&](const char* option, std::vector<std::string>& texts, const char* what) {
    sub->add_option(option, texts, what)->allow_extra_args(false);
  };
  limit("--max-ram", check.max_ram,
        "BYTES or MEMORY=BYTES of activations and scratch, in all memories or in one; may be "
        "repeated");
  limit("--max-flash", check.max_flash,
        "BYTES of code, constants and command streams (boards with a cross compiler)");
  limit("--max-stack", check.max_stack,
        "BYTES of stack below the run function (boards with a cross compiler)");
  limit("--max-cycles", check.max_cycles,
        "CYCLES or DEVICE=CYCLES, as the compiler estimates them; may be repeated");
  sub->add_option("--baseline", check.baseline,
                  "a report.json of 'compile': what has grown since is an error")
      ->check(not_empty);
  sub->add_option("--max-growth", check.max_growth,
                  "PERCENT that each figure may exceed the baseline's; default: 0%");
  sub->add_option("--file", check.file, "a JSON file of models with their budgets and baselines")
      ->check(not_empty);
  sub->callback([&] { exit_code = run_check(context, check); });

  ReportCommand report;
  sub =
      app.add_subcommand("report", "a page of HTML that shows a report: memory, flash, operators");
  sub->add_option("REPORT", report.report, "a report.json, or the folder that 'compile' wrote")
      ->required()
      ->check(not_empty);
  sub->add_option("--baseline", report.baseline, "another report to compare with: a file or folder")
      ->check(not_empty);
  sub->add_option("--trace", report.trace, "what simulated devices did: a file of 'run --trace'")
      ->check(not_empty);
  sub->add_option("-o,--output", report.output_file, "the page to write")
      ->required()
      ->check(not_empty);
  sub->callback([&] { exit_code = run_report(report); });

  ExplainCommand explain;
  sub = app.add_subcommand("explain", "who runs each operator, and why not another");
  add_common(*sub, explain.common, ModelArgument::File);
  sub->add_flag("--refused", explain.refused, "only operators that a device cannot take, and why");
  sub->callback([&] { exit_code = run_explain(context, explain); });

  DumpCommand dump;
  sub = app.add_subcommand("dump", "the output of one stage");
  add_common(*sub, dump.common, ModelArgument::File);
  sub->add_option("--stage", dump.stage, "import | eliminate | partition | lower | plan | emit")
      ->required()
      ->check(CLI::IsMember({"import", "eliminate", "slim", "partition", "lower", "plan", "emit"}));
  sub->callback([&] { exit_code = run_dump(context, dump); });

  std::string stream;
  sub = app.add_subcommand("disasm", "a command stream, readable");
  sub->add_option("FILE", stream, "a package or a stream")->required();
  sub->callback([&] { exit_code = run_disasm(context, stream); });

  PlanCommandOptions plan;
  sub = app.add_subcommand("plan", "the memory planner alone, on MiniMalloc's format");
  sub->add_option("PROBLEM", plan.problem_path, "a .csv: id,lower,upper,size")->required();
  sub->add_option("--capacity", plan.capacity, "bytes that must suffice; without it: the least");
  sub->add_option("-o,--output", plan.output_path, "the .csv to write, with offsets")
      ->required()
      ->check(not_empty);
  sub->add_flag("--json", plan.json, "print the figures as JSON");
  sub->callback([&] { exit_code = run_plan_command(plan); });

  std::string target_name, board_name, error_code, targets_tags;
  bool json = false;
  sub = app.add_subcommand("targets", "kinds, attributes and tags");
  sub->add_option("NAME", target_name, "a kind, a tag or a whole target");
  sub->add_option("--tags", targets_tags, "a JSON file of your own target tags");
  sub->add_flag("--json", json, "as JSON");
  sub->callback([&] {
    if (!targets_tags.empty()) {
      const Result<void> loaded = context.registry.catalogue().load_tags_file(targets_tags);
      if (!loaded.ok()) {
        exit_code = fail(loaded.error());
        return;
      }
    }
    exit_code =
        run_targets_command(context.registry.catalogue(),
                            target_name.empty() ? std::nullopt : std::optional(target_name), json);
  });

  sub = app.add_subcommand("boards", "boards and their memories");
  sub->add_option("NAME", board_name, "a board, or the path of a board's folder");
  sub->add_flag("--json", json, "as JSON");
  sub->callback([&] { exit_code = run_boards(context, board_name, json); });

  sub = app.add_subcommand("explain-error", "what a status code of the runtime means");
  sub->add_option("CODE", error_code, "a number or a name")->required();
  sub->add_flag("--json", json, "as JSON");
  sub->callback([&] { exit_code = run_explain_error(error_code, json); });

  if (const std::string problem = unknown_command(app, argc, argv); !problem.empty()) {
    std::fputs(problem.c_str(), stderr);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  return exit_code;
}

}  // namespace
}  // namespace intarsia::cli

int main(int argc, char** argv) {
  intarsia::interrupt::take_over();
  try {
    return intarsia::cli::run_main(argc, argv);
  } catch (const std::exception& error) {  // the standard library's, out of memory say
    std::fprintf(stderr, "intarsia: internal error: %s; please report this\n", error.what());
    return intarsia::cli::kInternalError;
  }
}
