// What a file keeps from one inference to the next: its variable tensors, and the resources that its handles name.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tflite_writer/original.h"

namespace intarsia::tflite_writer {

struct State {
  std::string name;
  int32_t tensor = -1;                   // the variable tensor; -1: a resource
  std::set<int32_t> handles, operators;  // that name a resource; that work on it
};

std::vector<State> states_of(const Original& model);

// Whether a node of that kind and name, as importing makes them, reads or assigns the resource.
bool is_access(const State& state, std::string_view kind, std::string_view node);

// A resource's handle that no operator of the first subgraph makes: whose state it is, is not known.
bool has_unknown_handle(const Original& model, const tflite::OperatorInfo& op);

// Empty, or why a variable tensor, which begins as its zero point, cannot be what the resource is. `whole`: the model as it was imported.
std::string refuses_beginning(const State& state, const Result<graph::Module>& whole);

}  // namespace intarsia::tflite_writer
