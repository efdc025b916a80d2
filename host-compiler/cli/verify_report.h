// What `verify` has seen, and how it is told: a table with a row per operator and a column per program, or JSON.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "intarsia/graph.h"
#include "intarsia/partition.h"
#include "verify_operators.h"

namespace intarsia::cli {

// What one program was seen to do.
struct Column {
  std::string platform;
  std::vector<OperatorCheck::Row> rows;  // by operator; empty: not looked at
  std::string not_looked;                // why
  std::string difference;                // the first, in words; empty: none
  int32_t allowed = 0, largest = 0;      // steps, where devices round in their own way
  bool is_told_by_operators = false;     // outputs differ, and floats decide some of them
  std::string cannot;                    // why this program cannot be executed; empty: it was
  std::vector<RunCycles> cycles;         // by sample, where they were counted
  bool is_object = false;                // the program's operators are an object file, not C
};

struct Verdict {
  std::string model, target, board;
  std::vector<std::string> notes;  // what is not part of the check, and why
  size_t samples = 0;
  std::vector<graph::Node> operators;
  const graph::Function* function = nullptr;  // of the operators
  Explanation explanation;
  std::vector<Column> columns;

  const Column* failed() const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [](const Column& c) { return !c.difference.empty(); });
    return found == columns.end() ? nullptr : &*found;
  }
};

// The first output that differs, in the order of the operators that make them; empty when none does.
std::string first_difference(const graph::Module& module, const std::vector<Values>& expected,
                             const std::vector<Values>& actual);

// Prints the verdict, and when a program differs the first difference with `hint`. Returns the exit code.
int report(const VerifyCommand& command, const Verdict& verdict, const std::string& hint);

}  // namespace intarsia::cli
