// MiniMalloc's text format for placement problems and their solutions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <unordered_map>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {

namespace {

enum Column { kId, kLower, kUpper, kSize, kAlignment, kOffset, kColumnCount };
const std::array<std::string, kColumnCount> kColumnNames = {"id",   "lower",     "upper",
                                                            "size", "alignment", "offset"};
constexpr const char* kHeaderHint = "the header is id,lower,upper,size[,alignment][,offset]";

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const auto comma = line.find(',');
    cells.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

// Arbitrary bytes may stand in a file that is no CSV; what is quoted in a message is short and
// clean.
std::string shown(std::string_view cell) {
  std::string text(cell.substr(0, 40));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  return cell.size() > 40 ? text + "..." : text;
}

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) { place_.fill(-1); }

  void read_line(std::string_view line) {
    ++line_;
    if (line_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (trim(line).empty()) return;
    if (header_width_ == 0) return read_header(split(line));
    if (header_good_) read_buffer(split(line));
  }

  Result<PlacementProblem> finish() {
    if (header_width_ == 0) problems_.add(source_, "there is no header", kHeaderHint);
    if (!problems_.empty()) return std::move(problems_);
    return std::move(problem_);
  }

 private:
  void complain(std::string what, std::string hint = {}) {
    // A file of another kind has thousands of wrong lines; the first few tell as much as all.
    if (problems_.items().size() < kMostProblems)
      problems_.add(fmt::format("{}:{}", source_, line_), std::move(what), std::move(hint));
  }

  void read_header(const std::vector<std::string_view>& cells) {
    header_width_ = cells.size();
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto name = std::find(kColumnNames.begin(), kColumnNames.end(), cells[i]);
      const auto column = static_cast<size_t>(name - kColumnNames.begin());
      if (column == kColumnCount) {
        complain(fmt::format("unknown column '{}'", shown(cells[i])), kHeaderHint);
      } else if (place_[column] >= 0) {
        complain(fmt::format("column '{}' appears twice", *name), kHeaderHint);
      } else {
        place_[column] = static_cast<int>(i);
      }
    }
    for (const Column column : {kId, kLower, kUpper, kSize})
      if (place_[column] < 0)
        complain(fmt::format("column '{}' is missing", kColumnNames[column]), kHeaderHint);
    header_good_ = problems_.empty();
  }

  void read_buffer(const std::vector<std::string_view>& cells) {
    if (cells.size() != header_width_)
      return complain(
          fmt::format("{} values where the header has {} columns", cells.size(), header_width_));
    PlacementProblem::Buffer buffer;
    buffer.name = std::string(cells[place_[kId]]);
    if (buffer.name.empty()) return complain("the id is empty");
    const auto [known, fresh] = lines_.emplace(buffer.name, line_);
    if (!fresh)
      return complain(fmt::format("id '{}' was used on line {}", shown(buffer.name), known->second),
                      "ids are unique");
    if (!number(cells, kLower, buffer.lower) || !number(cells, kUpper, buffer.upper) ||
        !number(cells, kSize, buffer.size))
      return;
    if (buffer.upper <= buffer.lower)
      return complain(fmt::format("upper {} is not above lower {}", buffer.upper, buffer.lower),
                      "a buffer is alive in the steps [lower, upper)");
    if (has(cells, kAlignment)) {
      if (!number(cells, kAlignment, buffer.alignment)) return;
      if (buffer.alignment == 0) return complain("alignment is 0", "an alignment is at least 1");
    }
    if (has(cells, kOffset)) {
      int64_t offset = 0;
      if (!number(cells, kOffset, offset)) return;
      buffer.fixed_offset = offset;
    }
    problem_.buffers.push_back(std::move(buffer));
  }

  bool has(const std::vector<std::string_view>& cells, Column column) const {
    return place_[column] >= 0 && !cells[place_[column]].empty();
  }

  bool number(const std::vector<std::string_view>& cells, Column column, int64_t& value) {
    const std::string_view cell = cells[place_[column]];
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    const std::string quoted = fmt::format("{} '{}'", kColumnNames[column], shown(cell));
    if (error == std::errc::result_out_of_range) {
      complain(quoted + " does not fit in 64 bits");
    } else if (error != std::errc() || end != cell.data() + cell.size()) {
      complain(quoted + " is not a whole number");
    } else if (value < 0) {
      complain(quoted + " is negative");
    } else {
      return true;
    }
    return false;
  }

  static constexpr size_t kMostProblems = 20;

  const std::string& source_;
  int line_ = 0;
  size_t header_width_ = 0;
  bool header_good_ = false;
  std::array<int, kColumnCount> place_;
  std::unordered_map<std::string, int> lines_;
  PlacementProblem problem_;
  Diagnostics problems_;
};

}  // namespace

Result<PlacementProblem> read_problem_csv(std::string_view text, const std::string& source) {
  Reader reader(source);
  while (!text.empty()) {
    const auto newline = text.find('\n');
    reader.read_line(text.substr(0, newline));
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
  }
  return reader.finish();
}

std::string write_solution_csv(const PlacementProblem& problem, const PlacementSolution& solution) {
  const bool aligned = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                                   [](const auto& buffer) { return buffer.alignment != 1; });
  std::string text =
      aligned ? "id,lower,upper,size,alignment,offset\n" : "id,lower,upper,size,offset\n";
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const auto& buffer = problem.buffers[i];
    fmt::format_to(out, "{},{},{},{},", buffer.name, buffer.lower, buffer.upper, buffer.size);
    if (aligned) fmt::format_to(out, "{},", buffer.alignment);
    fmt::format_to(out, "{}\n", solution.offsets[i]);
  }
  return text;
}

}  // namespace intarsia::plan
