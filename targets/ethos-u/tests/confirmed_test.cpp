// The table of confirmed encodings says what the recorded streams of Arm's compiler say.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "encodings.h"
#include "intarsia/targets/ethos_u/payload.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

void collect(Encodings& encodings, int& streams) {
  for (const VelaFile& file : read_vela_files())
    for (const VelaOperator& npu : file.operators) {
      sim::Payload payload;
      ASSERT_EQ(sim::read_payload(npu.payload, payload), std::nullopt) << file.name;
      sim::Memory memory(*payload.made_for);
      EncodingCollector collector(encodings);
      sim::RunOptions options;
      options.execute = false;
      EXPECT_FALSE(sim::run(payload.stream, *payload.made_for, memory, &collector, options).fault);
      ++streams;
    }
}

// The table as it should be, without its head.
std::string table_of(const Encodings& encodings) {
  std::string text;
#define ENCODING(name, confirmed, what)                                                            \
  text += std::string("ENCODING(" #name ", ") + (encodings.forms.contains(#name) ? "Yes" : "No") + \
          ", \"" + what + "\")\n";
#define OPERANDS(...)
#include "intarsia/targets/ethos_u/confirmed.def"
#undef ENCODING
#undef OPERANDS
  for (const std::string& operands : encodings.operands) text += "OPERANDS(" + operands + ")\n";
  return text;
}

TEST(Confirmed, TheTableNamesWhatTheCollectorFinds) {
  const Encodings confirmed = confirmed_encodings();
  for (const std::string& form : confirmed.forms) EXPECT_TRUE(named_encodings().contains(form));
  EXPECT_FALSE(confirmed.forms.empty());
  EXPECT_FALSE(confirmed.operands.empty());
}

// Streams lie in the repository and beside it.
TEST(Confirmed, TheTableIsWhatArmsStreamsShow) {
  Encodings found;
  int streams = 0;
  collect(found, streams);
  EXPECT_GE(streams, 23);
  for (const std::string& form : found.forms)
    EXPECT_TRUE(named_encodings().contains(form)) << form << " has no row";
  const Encodings said = confirmed_encodings();
  // The streams of a clone alone show less than the table says, and nothing else.
  const bool all = streams >= 99;
  const auto within = [](const std::set<std::string>& part, const std::set<std::string>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
  };
  if (within(found.forms, said.forms) && within(found.operands, said.operands) &&
      (!all || (said.forms == found.forms && said.operands == found.operands)))
    return;
  const auto path = std::filesystem::current_path() / "confirmed.def";
  std::ofstream(path) << table_of(found);
  ADD_FAILURE() << "targets/ethos-u/isa/confirmed.def should hold what " << path << " does";
}

}  // namespace
}  // namespace intarsia::test::ethos_u
