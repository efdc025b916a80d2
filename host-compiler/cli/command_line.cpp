#include "command_line.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "common_options.h"
#include "packaging/formats/format.h"
#include "requests/bare_networks.h"
#include "requests/offload_model.h"
#include "terminal.h"
#include "usage_errors.h"

namespace intarsia::cli {
namespace {

using From = ValueKind::From;

constexpr const char *kMake = "Compile", *kCompare = "Run and compare", *kLookInto = "Look into";

ValueKind format_value(const requests::Environment& environment) {
  ValueKind value{"FORMAT", From::Words};
  for (const packaging::Format& format : packaging::formats())
    value.words.emplace_back(format.name);
  value.words.emplace_back(requests::kOffloadFormat);
  value.words.emplace_back(requests::kFiguresFormat);
  for (const std::string& format : requests::network_formats(environment))
    value.words.push_back(format);
  value.words.emplace_back(kExecutorFormat);
  return value;
}

// What --format takes, a line each.
std::string formats_help(const requests::Environment& environment) {
  std::string text = "the build files beside the C:";
  for (const packaging::Format& format : packaging::formats())
    text += fmt::format("\n{}: {}", format.name, format.summary);
  text += fmt::format(
      "\n{}: no folder: the model as one .tflite file whose operators an NPU runs, as Vela "
      "writes it"
      "\n{}: of that file only the row of figures that Vela writes",
      requests::kOffloadFormat, requests::kFiguresFormat);
  for (const std::string& format : requests::network_formats(environment))
    text += fmt::format(
        "\n{0}: no C: each network of the NPU as a bare .{0} file, with networks.json", format);
  text += fmt::format(
      "\n{}: no folder: the model as one package, for firmware that 'intarsia firmware' built",
      kExecutorFormat);
  return text;
}

// Our own line for a command there is not: the parser would only say that one is required.
Diagnostics unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return {};
  const std::string near = nearest_name(argv[1], names);
  return Diagnostics("intarsia", fmt::format("there is no command '{}'", argv[1]),
                     near.empty() ? fmt::format("commands: {}", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", near));
}

}  // namespace

CommandLine::CommandLine(Context& context)
    : context_(context),
      example_(example_target(context.registry.catalogue())),
      app_("Intarsia: ahead-of-time deployment of quantised networks to microcontrollers and NPUs",
           "intarsia") {
  app_.require_subcommand(1);
  app_.get_help_ptr()->description("this text, or that of a command");
  app_.set_version_flag("--version", std::string("intarsia ") + INTARSIA_VERSION,
                        "the version of the program");
  add_compile();
  add_build();
  add_firmware();
  add_check();
  add_sweep();
  add_run();
  add_verify();
  add_explain();
  add_report();
  add_dump();
  add_disasm();
  add_plan();
  add_explain_error();
  add_targets();
  add_boards();
  add_completion();
  add_manual();
}

DescribedCommand& CommandLine::add(const std::string& name, const std::string& group,
                                   const std::string& summary) {
  return commands_.emplace_back(app_, name, group, summary);
}

void CommandLine::add_compile() {
  compile_.common.keeps_flash_budget = true;
  DescribedCommand& command =
      add("compile", kMake, "model to C sources, streams, package and report");
  command.explain(
      "Prints a summary; every figure, operator by operator, is in report.txt and report.json of "
      "the "
      "folder.");
  command.example("intarsia compile kws.tflite --board mps2-an386 -o kws",
                  "C for a board's core, measured with its compiler");
  command.example(fmt::format("intarsia compile kws.tflite --target {} -o kws", example_.composed),
                  "a CPU with an NPU, for a board of your own");
  command.example("intarsia compile kws.tflite --board mps2-an386 --ram-budget 20K -o kws",
                  "by row tiles, where the model needs more RAM at once");
  command.example("intarsia compile kws.tflite --format zephyr -o kws", "a module for Zephyr");
  add_model(command, compile_.common, ModelArgument::File);
  command.group("What is written");
  command
      .option("-o,--output", compile_.output_folder, folder_value(),
              "the folder to write; with --format tflite, csv and executor the file")
      ->required()
      ->check(not_empty);
  command.option("--format", compile_.format, format_value(context_), formats_help(context_))
      ->capture_default_str();
  command
      .option(
          "--summary-csv", compile_.summary_file, file_value(),
          "of --format tflite: memory, traffic and cycles as a row of a table with Vela's columns")
      ->check(not_empty);
  command
      .option("--layers-csv", compile_.layers_file, file_value(),
              "of --format tflite: the NPU's operations, a row each under Vela's columns")
      ->check(not_empty);
  CLI::Option* runtime =
      command.option("--runtime", compile_.runtime_folder, folder_value(),
                     "the runtime as a package of its own, which the models of a program share");
  runtime->check(not_empty);
  command.flag("--single-file", compile_.single_file, "one .c and one .h, for a CPU")
      ->excludes(runtime);
  command.group("Measuring");
  command.flag(
      "--count-cycles", compile_.count_cycles,
      "run it once in the board's emulator: estimated cycles of each operator in the report");
  add_common(command, compile_.common);
  command.app().callback([&] { exit_code_ = run_compile(context_, compile_); });
}

void CommandLine::add_build() {
  DescribedCommand& command =
      add("build", kMake, "compile, and build a program for the board's debug probe");
  command.example("intarsia build kws.tflite --board ./my-board -o kws.elf",
                  "for a board of your own, whose folder holds its board.json");
  add_model(command, build_.common, ModelArgument::FileOrFolder);
  command.group("What is written");
  command
      .option("-o,--output", build_.output_file, file_value(),
              "the program to write (ELF); of boards with Linux, a name ending in .so is a shared "
              "library of the model")
      ->required()
      ->check(not_empty);
  add_common(command, build_.common);
  add_timeout(command, build_.common);
  command.app().callback([&] { exit_code_ = run_build(context_, build_); });
}

void CommandLine::add_check() {
  check_.common.keeps_flash_budget = true;
  DescribedCommand& command =
      add("check", kMake, "exit status 1 when a model needs more than its budgets allow");
  command.example("intarsia check kws.tflite --board mps2-an386 --max-ram 32K --max-flash 100K",
                  "limits on the command line");
  command.example("intarsia check --file budgets.json",
                  "several models, with budgets of their own");
  add_model(command, check_.common, ModelArgument::FileOrNone);
  command.group("Budgets");
  // One value each time: the model may come behind it.
  const auto limit = [&](const char* option, std::vector<std::string>& texts, const char* value,
                         const char* what) {
    command.option(option, texts, any_value(value), what)->allow_extra_args(false);
  };
  limit("--max-ram", check_.max_ram, "[MEMORY=]BYTES",
        "activations and scratch, in all memories or in one: 20000, 20K, 1.5M");
  limit("--max-flash", check_.max_flash, "BYTES",
        "code, constants and command streams (boards with a cross compiler)");
  limit("--max-stack", check_.max_stack, "BYTES",
        "stack below the run function (boards with a cross compiler)");
  limit("--max-cycles", check_.max_cycles, "[DEVICE=]CYCLES",
        "as the compiler estimates them: 500000, 500k, 2M");
  command
      .option("--baseline", check_.baseline, file_value(),
              "a report.json of 'compile', or its folder: what has grown since is an error")
      ->check(not_empty);
  command.option("--max-growth", check_.max_growth, any_value("PERCENT"),
                 "that each figure may exceed the baseline's; default: 0%");
  command
      .option("--file", check_.file, file_value(),
              "a JSON file of models with their budgets and baselines")
      ->check(not_empty);
  add_common(command, check_.common);
  add_timeout(command, check_.common);
  command.app().callback([&] { exit_code_ = run_check(context_, check_); });
}

void CommandLine::add_sweep() {
  sweep_.common.keeps_flash_budget = true;
  DescribedCommand& command = add(
      "sweep", kMake, "models for many targets, boards and budgets: a table, and what to choose");
  command.explain(
      "Compiles every model for every target, board and budget. Rows that no other row of the same "
      "model beats are marked; what cannot be had is a row with the reason. Exit status 0: at "
      "least "
      "one choice can be had. Without --target and --board: every board whose compiler is there, "
      "with "
      "its own core.");
  command.example("intarsia sweep kws.tflite", "which of the boards that there are");
  command.example(fmt::format("intarsia sweep kws.tflite --target c --target {} --ram-budget none "
                              "--ram-budget 20K",
                              example_.composed),
                  "with and without an NPU, by row tiles or not");
  command.example("intarsia sweep *.tflite --board mps2-an386 --board mps3-an547 --csv -o all.csv",
                  "rows for a spreadsheet");
  command.example(
      fmt::format("intarsia sweep kws.tflite --target {} --plot choices.html", example_.composed),
      "a page that shows RAM, flash and time of each choice");
  command.argument(sweep_.models, file_value("MODEL"), "a .tflite, an .onnx or graph text")
      ->required()
      ->check(not_empty);
  command.group("What is tried");
  // One value each time: models may come behind it.
  command
      .option("--target", sweep_.targets, {"TARGET", From::Targets},
              "what runs it: a tag, several with '+' between, target string or JSON ('intarsia "
              "targets'); default: each board's core")
      ->check(not_empty)
      ->allow_extra_args(false);
  command
      .option("--board", sweep_.boards, {"BOARD", From::Boards},
              "the board ('intarsia boards'), or the path of a board's folder; default: this "
              "machine, which knows no flash")
      ->check(not_empty)
      ->allow_extra_args(false);
  command
      .option("--ram-budget", sweep_.ram_budgets, any_value("BYTES"),
              "activations and scratch to stay within: 20000, 20K, 1.5M; none; or auto: what each "
              "board "
              "has, where the model does not fit otherwise")
      ->check(check_budget)
      ->allow_extra_args(false);
  command
      .option("--attribute", sweep_.attributes, any_value("NAME=VALUE,..."),
              "an attribute of devices ('intarsia targets KIND'): targets that have it are taken "
              "with each of the values")
      ->allow_extra_args(false);
  command.group("What is shown");
  command
      .option("--by", sweep_.by, word_value("FIGURE,...", figure_names()),
              fmt::format("figures by which rows are compared: {}; default: ram, flash (constants, "
                          "where flash is not known of all) and microseconds",
                          fmt::join(figure_names(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(figure_names()));
  CLI::Option* json = command.flag("--json", sweep_.common.json, "print the rows as JSON");
  command.flag("--csv", sweep_.csv, "print the rows as CSV")->excludes(json);
  command
      .option("-o,--output", sweep_.output_file, file_value(),
              "write the rows to a .csv or .json too")
      ->check(not_empty);
  command
      .option("--plot", sweep_.plot_file, file_value(),
              "draw the choices: a .svg, or a .html with the table")
      ->check(not_empty);
  command.group("How");
  command
      .option("--jobs", sweep_.jobs, any_value("COUNT"),
              "compilations at a time; 0: as suits the number of cores")
      ->check(whole_number(0, 1024));
  command.flag("--no-measure", sweep_.no_measure,
               "leave flash and stack out, which the boards' compilers measure");
  add_sweep_options(command, sweep_.common);
  add_timeout(command, sweep_.common);
  command.app().callback([&] { exit_code_ = run_sweep(context_, sweep_); });
}

void CommandLine::add_report() {
  DescribedCommand& command =
      add("report", kLookInto, "a page of HTML that shows a report: memory, flash, operators");
  command.example("intarsia report kws --baseline before/report.json -o compared.html",
                  "what has changed since an earlier compilation");
  command
      .argument(report_.report, file_value("REPORT"),
                "a report.json, or the folder that 'compile' wrote")
      ->required()
      ->check(not_empty);
  command.group("What is shown");
  command
      .option("--baseline", report_.baseline, file_value(),
              "another report to compare with: a file or folder")
      ->check(not_empty);
  command
      .option("--trace", report_.trace, file_value(),
              "what simulated devices did: a file of 'run --trace'")
      ->check(not_empty);
  command.option("-o,--output", report_.output_file, file_value(), "the page to write")
      ->required()
      ->check(not_empty);
  command.app().callback([&] { exit_code_ = run_report(report_); });
}

void CommandLine::add_run() {
  DescribedCommand& command =
      add("run", kCompare, "compile and run here, in the board's emulator or on the board");
  command.explain(
      "On this machine a model is executed inside the process, in memory as it is planned; "
      "--native "
      "builds the generated C instead.");
  command.example("intarsia run kws.tflite --input spectrogram.npy --output-dir out",
                  "on this machine");
  command.example("intarsia run kws.tflite --input all.npy --batch --output-dir out",
                  "every sample of a data set, on all cores");
  command.example("intarsia run kws --input in0.bin --output-dir out --count-instructions",
                  "the folder that 'compile' wrote, as firmware in the emulator of its board");
  command.example(
      fmt::format(
          "intarsia run kws.tflite --target {} --input in0.bin --output-dir out --trace t.json",
          example_.device),
      "with a simulated NPU: cycles by operator, and a timeline for ui.perfetto.dev");
  add_model(command, run_.common, ModelArgument::FileOrFolder);
  command.group("Inputs and outputs");
  command.option("--input", run_.inputs, file_value(),
                 "raw little-endian tensor or .npy, once per model input");
  command
      .option("--output-dir", run_.output_folder, folder_value(),
              "where out0.bin, out1.bin, ... are written")
      ->required()
      ->check(not_empty);
  command
      .option("--outputs", run_.intermediates, any_value("NAME,..."),
              "all, or NAME,...: write these operators' results too, each to NAME.bin (with every "
              "channel that the model has; what reads them is compiled for that)")
      ->delimiter(',')
      ->check(not_empty);
  command
      .option("--repeat", run_.repeat, any_value("COUNT"),
              "invocations on one state; inputs may hold one slice for each")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command.flag("--keep-all", run_.keep_all,
               "write the outputs of every invocation, one after another");
  CLI::Option* batch = command.flag("--batch", run_.batch,
                                    "input files hold any number of samples: each is run on a "
                                    "fresh state, on all cores; outN.bin "
                                    "holds the outputs of all, one after another");
  command
      .option("--jobs", run_.jobs, any_value("COUNT"),
              "threads of --batch; 0: as many as there are cores")
      ->needs(batch)
      ->check(whole_number(0, 1024));
  command.flag("--native", run_.native,
               "on this machine, build the generated C and run that program");
  command.group("Firmware that runs packages");
  CLI::Option* firmware =
      command.option("--firmware", run_.firmware, file_value(),
                     "a program of 'intarsia firmware'; the model is then a package of 'compile "
                     "--format executor'");
  firmware->check(not_empty);
  command
      .flag(
          "--in-flash", run_.in_flash,
          "put the package into the board's memory beside the firmware, instead of having it read "
          "the file")
      ->needs(firmware);
  command.group("Measuring");
  command.flag("--count-instructions", run_.count,
               "count instructions of each run (emulated boards)");
  command.flag("--count-cycles", run_.count_cycles,
               "estimate cycles of each run and of its operators (emulated boards)");
  command
      .option("--trace", run_.trace_file, file_value(),
              fmt::format("write what simulated devices did, cycle by cycle, for ui.perfetto.dev "
                          "(boards: {})",
                          fmt::join(boards_that_trace(context_), ", ")))
      ->check(not_empty);
  add_common(command, run_.common);
  add_timeout(command, run_.common);
  command.app().callback([&] { exit_code_ = run_run(context_, run_); });
}

void CommandLine::add_verify() {
  DescribedCommand& command =
      add("verify", kCompare,
          "reference, generated C, firmware in the emulator and this process, compared");
  command.example("intarsia verify kws.tflite --board mps2-an386", "operator by operator");
  command.example("intarsia verify kws --reference kws.tflite --input samples",
                  "a compiled folder against the model that it was made from");
  add_model(command, verify_.common, ModelArgument::FileOrFolder);
  command.group("What is compared");
  command
      .option("--samples", verify_.samples, any_value("COUNT"),
              "zero points, smallest and largest values (floats: -1 and 1), then random inputs; "
              "state goes on from one to the next")
      ->check(whole_number(1, 10000))
      ->capture_default_str();
  command.option("--input", verify_.inputs, file_value(),
                 "inputs instead: raw little-endian tensors or .npy with one sample or several, "
                 "once per model input; or one folder of such files, one per sample and input");
  CLI::Option* layers = command.flag(
      "--layers,!--no-layers", verify_.layers,
      "operator by operator, which needs memory for every result at once (default: where there is "
      "that much)");
  command
      .option("--reference", verify_.reference, file_value(),
              "the model that a compiled folder was made from")
      ->check(not_empty);
  command.group("Measuring");
  command.flag("--count-cycles", verify_.count_cycles,
               "estimate cycles of each operator on the last sample (emulated boards)");
  add_common(command, verify_.common);
  add_timeout(command, verify_.common);
  command.app().callback([this, layers] {
    verify_.layers_are_asked_for = layers->count() > 0 && verify_.layers;
    exit_code_ = run_verify(context_, verify_);
  });
}

void CommandLine::add_explain() {
  DescribedCommand& command =
      add("explain", kLookInto, "who runs each operator, and why not another");
  command.example(fmt::format("intarsia explain kws.tflite --target {}", example_.composed),
                  "what the NPU takes, and why it refuses the rest");
  command.example("intarsia explain detector.tflite --unsupported",
                  "what has to change in a model that does not import");
  add_model(command, explain_.common, ModelArgument::File);
  command.group("What is shown");
  command.flag("--refused", explain_.refused, "only operators that a device cannot take, and why");
  command.flag("--unsupported", explain_.unsupported,
               "what cannot be imported or stays off the NPU: by reason, how often, where first, "
               "what to do");
  add_common(command, explain_.common);
  command.app().callback([&] { exit_code_ = run_explain(context_, explain_); });
}

void CommandLine::add_dump() {
  DescribedCommand& command = add("dump", kLookInto, "the output of one stage");
  command.example("intarsia dump kws.tflite --stage partition", "the graph, cut into regions");
  add_model(command, dump_.common, ModelArgument::File);
  command.group("What is shown");
  command
      .option("--stage", dump_.stage,
              word_value("STAGE", {"import", "eliminate", "partition", "lower", "plan", "emit"}),
              "after which stage")
      ->required()
      // "slim": what "eliminate" was called once.
      ->check(one_of({"import", "eliminate", "partition", "lower", "plan", "emit"}, {"slim"}));
  command
      .option("--constants", dump_.constants, word_value("HOW", {"none", "short", "all"}),
              "the bytes of weights and tables: none, short (the first ones of each) or all; "
              "default: short on a terminal, else all, which can be read again")
      ->check(one_of({"none", "short", "all"}));
  add_common(command, dump_.common);
  command.app().callback([&] { exit_code_ = run_dump(context_, dump_); });
}

void CommandLine::add_disasm() {
  DescribedCommand& command = add("disasm", kLookInto, "a command stream, readable");
  command.example("intarsia disasm kws", "the streams of a compiled folder");
  command
      .argument(stream_, file_value(), "a package or a stream, or a folder that 'compile' wrote")
      ->required();
  command.app().callback([&] { exit_code_ = run_disasm(context_, stream_); });
}

void CommandLine::add_plan() {
  DescribedCommand& command =
      add("plan", kLookInto, "the memory planner alone, on MiniMalloc's format");
  command.example("intarsia plan problem.csv --capacity 1M -o placed.csv", "does it fit?");
  command.argument(plan_.problem_path, file_value("PROBLEM"), "a .csv: id,lower,upper,size")
      ->required();
  command.group("The plan");
  command
      .option("--capacity", plan_.capacity, any_value("BYTES"),
              "what must suffice: 20000, 20K, 1.5M; without it: the least")
      ->transform(bytes_text());
  command.option("-o,--output", plan_.output_path, file_value(), "the .csv to write, with offsets")
      ->required()
      ->check(not_empty);
  add_json(command, plan_.json, "print the figures as JSON");
  command.app().callback([&] { exit_code_ = run_plan_command(plan_); });
}

void CommandLine::add_explain_error() {
  DescribedCommand& command =
      add("explain-error", kLookInto, "what a status code of the runtime means");
  command.example("intarsia explain-error 18", "by number or by name");
  command.argument(error_code_, {"CODE", From::StatusCodes}, "a number or a name")->required();
  add_json(command, json_, "as JSON");
  command.app().callback([&] { exit_code_ = run_explain_error(error_code_, json_); });
}

ProgramPages CommandLine::pages() const {
  ProgramPages pages;
  pages.version = INTARSIA_VERSION;
  pages.summary = "ahead-of-time deployment of quantised networks to microcontrollers and NPUs";
  for (const DescribedCommand& command : commands_) pages.commands.push_back(command.page());
  pages.options = {{{"-h", "--help"}, false, {}, "this text, or that of a command"},
                   {{"--version"}, false, {}, "the version of the program"}};
  pages.examples = {
      {"intarsia compile kws.tflite --board mps2-an386 -o kws", "C sources, runtime and report"},
      {"intarsia run kws --input in0.bin --output-dir out", "build it, and run it in the emulator"},
      {"intarsia verify kws.tflite --board mps2-an386", "is it right? reference, C and firmware"},
      {fmt::format("intarsia explain kws.tflite --target {}", example_.composed),
       "who runs each operator"}};
  pages.environment = {
      {"INTARSIA_BOARDS", "folders of boards of your own, with ':' between them"},
      {"INTARSIA_ROOT", "where boards and the runtime lie, instead of beside the program"},
      {"NO_COLOR", "set: no colours. TERM=dumb has none either, nor have pipes and files"},
      {"CLICOLOR_FORCE", "set: colours also where there is no terminal"},
      {"TMPDIR", "where programs are built"}};
  pages.exit_codes = {{"0", "done"},
                      {"1",
                       "something is wrong with what was given, or 'check' or 'verify' says no, or "
                       "'sweep' finds no "
                       "choice that can be had"},
                      {"2", "the command line is wrong"},
                      {"3", "a fault of the program"}};
  return pages;
}

int CommandLine::help_exit() const {
  const Terminal& terminal = output_terminal();
  const ProgramPages all = pages();
  const std::vector<CLI::App*> asked = app_.get_subcommands();
  if (asked.empty()) {
    fmt::print("{}", program_help(all, terminal.width, terminal.has_colours));
    return kDone;
  }
  for (const CommandPage& command : all.commands)
    if (command.name == asked.front()->get_name())
      fmt::print("{}", command_help(command, terminal.width, terminal.has_colours));
  return kDone;
}

int CommandLine::usage_exit(const CLI::ParseError& error) const {
  const std::vector<CLI::App*> asked = app_.get_subcommands();
  const std::string command = asked.empty() ? "intarsia" : "intarsia " + asked.front()->get_name();
  print_errors(usage_problems(asked.empty() ? app_ : *asked.front(), error));
  fmt::print(stderr, "Run '{} --help' for more information.\n", command);
  return kUsage;
}

int CommandLine::run(int argc, char** argv) {
  if (const Diagnostics problem = unknown_command(app_, argc, argv); !problem.empty()) {
    print_errors(problem);
    return kUsage;
  }
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return help_exit();
  } catch (const CLI::CallForVersion& version) {
    return app_.exit(version);
  } catch (const CLI::ParseError& error) {
    if (argc < 2) {
      print_errors(
          Diagnostics("intarsia", "the command is missing", "'intarsia --help' lists them"));
      return kUsage;
    }
    return usage_exit(error);
  }
  return exit_code_;
}

}  // namespace intarsia::cli
