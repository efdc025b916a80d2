// State is on one side: of the NPU where one of its regions alone works on it.
#pragma once

#include <map>

#include "tflite_writer/region.h"
#include "tflite_writer/runs.h"

namespace intarsia::tflite_writer {

// `on_cpu` are the operators that the CPU runs so far, and why. More join them here.
class StateSides {
 public:
  StateSides(const Original& model, const Setting& setting)
      : model_(model), setting_(setting), states_(states_of(model)), is_on_cpu_(states_.size()) {}

  const std::vector<State>& states() const { return states_; }

  // What does not depend on who runs which operator.
  void begin(std::map<int32_t, std::string>& on_cpu);
  // Whoever works on what an operator of the CPU works on is on the CPU.
  void settle(std::map<int32_t, std::string>& on_cpu);
  // Handles of what is on the NPU, which are in no run until `place`.
  std::set<int32_t> handles() const;
  // Gives the runs the handles of what they keep. False: something goes to the CPU, so that the runs are others.
  bool place(std::vector<Run>& runs, std::map<int32_t, std::string>& on_cpu);

 private:
  void keep_on_cpu(size_t index, const std::string& reason, std::map<int32_t, std::string>& on_cpu);

  const Original& model_;
  const Setting& setting_;
  std::vector<State> states_;
  std::vector<bool> is_on_cpu_;
};

}  // namespace intarsia::tflite_writer
