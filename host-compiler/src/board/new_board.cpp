#include "board/new_board.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "board/board_firmware.h"
#include "board/process_board.h"
#include "support/files.h"

namespace intarsia::board {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kWidth = 100;  // of a line of board.json
constexpr const char *kScript = "link.ld", *kSecondCore = "second_core.c", *kDevices = "devices.c";

std::string key_text(const Json& value, const std::string& key) {
  return value.is_object() ? Json(key).dump() + ": " : "";
}

std::string bracketed(const Json& value, const std::string& text) {
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

std::string on_one_line(const Json& value) {
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, item] : value.items())
    text += (text.empty() ? "" : ", ") + key_text(value, key) + on_one_line(item);
  return bracketed(value, text);
}

// What fits on a line behind `taken` columns is on one; else each item has its own.
std::string laid_out(const Json& value, size_t indent, size_t taken) {
  std::string text = on_one_line(value);
  if (!value.is_structured() || value.empty() || taken + text.size() <= kWidth) return text;
  text.clear();
  for (const auto& [key, item] : value.items()) {
    const std::string name = key_text(value, key);
    text += (text.empty() ? "\n" : ",\n") + std::string(indent + 2, ' ') + name +
            laid_out(item, indent + 2, indent + 3 + name.size());
  }
  return bracketed(value, text + "\n" + std::string(indent, ' '));
}

// Behind a key that both have, so that the file reads as those of the repository.
Json with_files(const Json& board, const std::vector<std::string>& startup) {
  Json more;
  for (const auto& [key, value] : board.items()) {
    more[key] = value;
    if (key != "port") continue;
    more["linker_script"] = kScript;
    more["startup"] = startup;
  }
  return more;
}

std::string readme_text(const NewBoard& wanted, const Board& like) {
  std::string text = fmt::format(
      "# {0}\n\nMade like `{1}`. To make it yours, change in `board.json`:\n\n"
      "* `summary`, and `cores`: the core's name (`intarsia targets` has them) and the flags that "
      "the compiler needs\n"
      "* `memories`: base, size and wait states, from the chip's reference manual\n"
      "* `roles`: which memory holds what, the preferred one for activations first\n"
      "* `stack_size`, and `clocks_mhz` for the times that are estimated\n"
      "* `run`: the emulator that stands in for the board, or the debug probe that holds it; "
      "leave it out where there is neither\n\n",
      wanted.name, like.name);
  if (wanted.own_files)
    text += fmt::format(
        "`{}` and the startup code in this folder are used as they are: a memory that changes in "
        "`board.json` "
        "changes there too.\nWithout the keys `linker_script` and `startup` both are made from "
        "`board.json` again.\n\n",
        kScript);
  return text +
         fmt::format(
             "`intarsia boards ./{}` shows what was understood, and what is wrong with it.\n",
             wanted.name);
}

// The script that is made for the board, from then on a file of its own.
std::string script_text(const Board& board) {
  const std::string text = linker_script(board);
  return fmt::format(
             "/* Of board {}. Memories are those of board.json: change them in both places. */",
             board.name) +
         text.substr(text.find("\n\n"));
}

Result<SourceFile> copied(const std::string& path) {
  INTARSIA_TRY(std::string text, read_text_file(path));
  return SourceFile{fs::path(path).filename().string(), std::move(text)};
}

}  // namespace

std::string board_name_problem(const std::string& name) {
  const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (is_plain && std::isalnum(static_cast<unsigned char>(name[0]))) return "";
  return "is not a name of letters, digits, '-', '_' and '.' that begins with a letter or digit";
}

Result<std::vector<SourceFile>> new_board_files(const NewBoard& wanted,
                                                const std::vector<std::string>& folders,
                                                const std::string& root) {
  INTARSIA_TRY(const Board like, find_board(folders, wanted.like));
  if (is_this_machine(like))
    return Diagnostics(
        "--like", fmt::format("board '{}' is this machine, which has no memory map", like.name),
        "name a board whose memories are described; 'intarsia boards' lists them");
  if (like.native() && wanted.own_files)
    return Diagnostics(
        "--own-files",
        fmt::format("a program for '{}' is a process: its system links and starts it", like.name),
        "leave the option out");
  const std::string path = like.folder + "/board.json";
  INTARSIA_TRY(const std::string text, read_text_file(path));
  Json json = Json::parse(text, nullptr, false);
  INTARSIA_CHECK(json.is_object(), "what was loaded as a board is JSON");
  json["name"] = wanted.name;
  json["summary"] = fmt::format("{}, made like {}", wanted.name, like.name);
  json.erase("zephyr");  // the other board's names

  std::vector<SourceFile> files;
  std::vector<std::string> copies;
  if (wanted.own_files && like.linker_script.empty()) {
    std::vector<std::string> names;
    for (const std::string& source : startup_sources(like, root)) {
      copies.push_back(source);
      names.push_back(fs::path(source).filename().string());
    }
    json = with_files(json, names);
    Board renamed = like;
    renamed.name = wanted.name;
    files.push_back({kScript, script_text(renamed)});
  } else {
    if (!like.linker_script.empty()) copies.push_back(like.folder + "/" + like.linker_script);
    for (const std::string& source : like.startup) copies.push_back(like.folder + "/" + source);
  }
  std::error_code error;
  for (const char* name : {kSecondCore, kDevices})
    if (fs::exists(like.folder + "/" + name, error)) copies.push_back(like.folder + "/" + name);
  for (const std::string& source : copies) {
    INTARSIA_TRY(SourceFile file, copied(source));
    files.push_back(std::move(file));
  }
  files.push_back({"board.json", laid_out(json, 0, 0) + "\n"});
  files.push_back({"README.md", readme_text(wanted, like)});
  return files;
}

}  // namespace intarsia::board
