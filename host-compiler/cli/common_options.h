// The options that several commands have.
#pragma once

#include <string>

#include "context.h"
#include "described_command.h"

namespace intarsia::cli {

// What may be named as the model.
enum class ModelArgument : uint8_t { File, FileOrFolder, FileOrNone };

ValueKind any_value(const std::string& name);
ValueKind file_value(const std::string& name = "FILE");
ValueKind folder_value();
ValueKind word_value(const std::string& name, const std::vector<std::string>& words);

// MODEL, before all options: what is missing is told in the order in which it was added.
void add_model(DescribedCommand& command, CommonOptions& options, ModelArgument model);
// Who runs it, in which memories, and what else decides how it is compiled; the groups' order on a page.
void add_common(DescribedCommand& command, CommonOptions& options);
// Those of the same kind that a command has which names several models, targets, boards and RAM budgets by itself.
void add_sweep_options(DescribedCommand& command, CommonOptions& options);
// What --ram-budget says: a size, or kAutoBudget.
void set_ram_budget(CommonOptions& options, const std::string& text);
void add_timeout(DescribedCommand& command, CommonOptions& options);
void add_json(DescribedCommand& command, bool& json, const std::string& text);

}  // namespace intarsia::cli
