// What holds of every file with a compiled network, whoever compiled it.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/import.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::ethos_n {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::ethos_n {

inline Result<graph::Module> imported(const std::vector<uint8_t>& bytes) {
  TargetRegistry registry;
  targets::ethos_n::add_kinds(registry);
  return import_model(bytes, {.file = "network.encn", .foreign = registry.foreign_formats()});
}

// A file that is too long, too short or of another version is refused with the reason.
inline void expect_damaged_is_no_model(std::vector<uint8_t> bytes) {
  const auto problem = [&] {
    const Result<graph::Module> model = imported(bytes);
    return model.ok() ? "" : model.error().to_string();
  };
  bytes.push_back(0);
  EXPECT_THAT(problem(), testing::HasSubstr("1 bytes behind its end"));
  bytes.resize(bytes.size() - 2);
  EXPECT_THAT(problem(), testing::HasSubstr("cut short"));
  bytes[4] = 3;
  EXPECT_THAT(problem(), testing::HasSubstr("of version 3, not 2"));
}

// Its disassembly names the variant `tag` and loads a kernel.
inline void expect_readable(const std::vector<uint8_t>& bytes, const std::string& tag) {
  TargetRegistry registry;
  targets::ethos_n::add_kinds(registry);
  const auto text = registry.kind("ethosn").disassemble(bytes);
  ASSERT_TRUE(text && text->ok());
  EXPECT_THAT(**text, testing::HasSubstr("Ethos-N network for " + tag));
  EXPECT_THAT(**text, testing::HasSubstr("LoadPleCodeIntoPleSram agent="));
}

}  // namespace intarsia::test::ethos_n
