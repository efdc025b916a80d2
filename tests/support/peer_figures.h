// What TFLite Micro with CMSIS-NN needs for the recorded models on emulated cores: the best of its builds for each
// figure, read from the shared table.
#pragma once

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "shared_data.h"

namespace intarsia::test {

struct PeerFigures {
  int64_t instructions = std::numeric_limits<int64_t>::max(),
          code_bytes = std::numeric_limits<int64_t>::max();
};

// Names as in the table: "kws", "m4f". Nothing where the table or its row is absent.
inline std::optional<PeerFigures> peer_figures(const std::string& model, const std::string& core) {
  std::ifstream file(shared_folder() / "reference" / "tflm-baseline.csv");
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  std::optional<PeerFigures> best;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    const auto cell = [&](const char* name) {
      const auto place =
          static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      return place < cells.size() ? cells[place] : "";
    };
    if (cell("model") != model || cell("core") != core || cell("kernels") != "cmsis_nn") continue;
    if (!best) best.emplace();
    best->instructions = std::min<int64_t>(best->instructions, std::stoll(cell("instructions")));
    best->code_bytes = std::min<int64_t>(best->code_bytes, std::stoll(cell("flash_code_bytes")));
  }
  return best;
}

}  // namespace intarsia::test
