// Which kinds of encodings a stream uses: names of isa/confirmed.def.
#pragma once

#include <set>
#include <string>

#include "intarsia/targets/ethos_u/run.h"

namespace intarsia::test::ethos_u {

struct Encodings {
  std::set<std::string> forms;     // ENCODING: "Stride3"
  std::set<std::string> operands;  // OPERANDS: "Add, S8, S32"
};

// Collects them from the runs that it observes.
class EncodingCollector final : public simulators::ethos_u::Observer {
 public:
  explicit EncodingCollector(Encodings& encodings) : encodings_(encodings) {}
  void before(const simulators::ethos_u::Operation& operation,
              const simulators::ethos_u::Memory& memory) override;
  void before(const simulators::ethos_u::DmaTransfer& transfer,
              const simulators::ethos_u::Memory& memory) override;

 private:
  Encodings& encodings_;
};

// Those that the table says Arm's streams confirm, and all that it names.
Encodings confirmed_encodings();
std::set<std::string> named_encodings();

}  // namespace intarsia::test::ethos_u
