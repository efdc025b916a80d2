// The sub-commands with their options: what the parser takes, what they do, and what is said about them.
#pragma once

#include <list>
#include <string>

#include <CLI/CLI.hpp>

#include "command_page.h"
#include "commands.h"
#include "described_command.h"
#include "manual_command.h"
#include "plan_command.h"
#include "sweep_command.h"
#include "targets_command.h"

namespace intarsia::cli {

class CommandLine {
 public:
  explicit CommandLine(Context& context);

  // The exit code.
  int run(int argc, char** argv);

  ProgramPages pages() const;

 private:
  DescribedCommand& add(const std::string& name, const std::string& group,
                        const std::string& summary);
  void add_compile();
  void add_build();
  void add_firmware();
  void add_check();
  void add_sweep();
  void add_run();
  void add_verify();
  void add_explain();
  void add_report();
  void add_dump();
  void add_disasm();
  void add_plan();
  void add_targets();
  void add_boards();
  void add_explain_error();
  void add_completion();
  void add_manual();

  int help_exit() const;
  int usage_exit(const CLI::ParseError& error) const;

  Context& context_;
  const ExampleTarget example_;
  CLI::App app_;
  std::list<DescribedCommand> commands_;
  int exit_code_ = kDone;

  CompileCommand compile_;
  BuildCommand build_;
  FirmwareCommand firmware_;
  CheckCommand check_;
  SweepCommand sweep_;
  BoardsCommand boards_;
  RunCommand run_;
  VerifyCommand verify_;
  ExplainCommand explain_;
  ReportCommand report_;
  DumpCommand dump_;
  PlanCommandOptions plan_;
  CompletionCommand completion_;
  ManualCommand manual_;
  std::string stream_, target_name_, tags_file_, error_code_;
  bool json_ = false;
};

}  // namespace intarsia::cli
