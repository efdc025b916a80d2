// Streams of ours against the table of what Arm's confirm.
#pragma once

#include <string>

#include "compiled.h"
#include "encodings.h"
#include "intarsia/targets/ethos_u/payload.h"

namespace intarsia::test::ethos_u {

// Names of isa/confirmed.def that the model's streams use and that are not confirmed, with line ends.
inline std::string unconfirmed_encodings(const CompiledModel& model) {
  namespace sim = simulators::ethos_u;
  Encodings used;
  std::string text;
  for (const CommandStream& stream : model.program().emitted.streams) {
    sim::Payload payload;
    if (auto failure = sim::read_payload(stream.commands, payload)) return *failure;
    sim::Memory memory(*payload.made_for);
    EncodingCollector collector(used);
    sim::RunOptions options;
    options.execute = false;
    const sim::Outcome outcome =
        sim::run(payload.stream, *payload.made_for, memory, &collector, options);
    if (outcome.fault) return outcome.fault->to_string();
  }
  const Encodings confirmed = confirmed_encodings();
  for (const std::string& form : used.forms)
    if (!confirmed.forms.contains(form)) text += form + "\n";
  for (const std::string& operands : used.operands)
    if (!confirmed.operands.contains(operands)) text += operands + "\n";
  return text;
}

}  // namespace intarsia::test::ethos_u
