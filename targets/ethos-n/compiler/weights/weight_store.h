// The coded weights of a program's layers, made when they are first asked for: whoever plans wants their
// sizes, whoever writes their bytes.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "program/program.h"
#include "weights/weight_layout.h"

namespace intarsia::targets::ethos_n {

class WeightStore {
 public:
  WeightStore(const Variant& variant, const Program& program)
      : variant_(variant), program_(program) {}

  // Of a layer with an MCE: stripes of `depth` OFMs each, the last of what remains.
  const std::vector<WeightStripe>& stripes(size_t layer, int64_t depth);
  const WeightStripe& whole(size_t layer) {
    return stripes(layer, program_.layers[layer].mce->depth).front();
  }

 private:
  const Variant& variant_;
  const Program& program_;
  std::map<size_t, WeightLayout> layouts_;
  std::map<std::pair<size_t, int64_t>, std::vector<WeightStripe>> stripes_;
};

}  // namespace intarsia::targets::ethos_n
