// Target texts: whatever the bytes, parse_target answers; what it accepts it prints and reads back
// to the same value, in every spelling. Bytes after a line "%%" are first loaded as a tags file.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "aborting_checks.h"
#include "intarsia/target.h"

using namespace intarsia;

namespace {

TargetCatalogue make_catalogue() {
  KindSpec cpu;
  cpu.name = "c";
  cpu.attributes = {AttributeSpec::word("mcpu", "m0", {"m0", "m4", "m7"}, ""),
                    AttributeSpec::word("mfpu", "none", {"none", "sp", "dp"}, ""),
                    AttributeSpec::integer("unroll", 1, 1, 16, ""),
                    AttributeSpec::boolean("fast", false, ""),
                    AttributeSpec::list("libs", {}, ""),
                    AttributeSpec::text("section", std::nullopt, "")};
  cpu.resolve = [](Attributes& attributes) -> Result<void> {
    if (attributes.get_string("mcpu") == "m4") attributes.derive("mfpu", "sp");
    if (attributes.get_string("mcpu") == "m7") attributes.derive("mfpu", "dp");
    return {};
  };
  cpu.tags = {{"m7", "", "c -mcpu=m7"}, {"m4", "", R"({"kind":"c","mcpu":"m4"})"}};
  KindSpec npu;
  npu.name = "npu";
  npu.role = Role::Accelerator;
  npu.attributes = {AttributeSpec::one_of("macs", 128, {32, 64, 128}, "")};
  npu.tags = {{"npu-64", "", "npu -macs=64", "m7"}};
  KindSpec opencl;
  opencl.name = "opencl";
  opencl.role = Role::Device;
  TargetCatalogue catalogue;
  for (const KindSpec& kind : {cpu, npu, opencl}) {
    if (!catalogue.add_kind(kind)) std::abort();
  }
  if (!catalogue.add_tag({"board", "", "m4 + npu-64"})) std::abort();
  return catalogue;
}

void expect_same(const TargetCatalogue& catalogue, const TargetSpec& target,
                 const std::string& spelling) {
  const Result<TargetSpec> again = parse_target(catalogue, spelling);
  if (again && *again == target && to_string(*again) == to_string(target)) return;
  std::fprintf(stderr, "not read back: %s\n%s\n", spelling.c_str(),
               again ? to_string(*again).c_str() : again.error().to_string().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TargetCatalogue built_in = make_catalogue();
  std::string text(reinterpret_cast<const char*>(data), size);
  TargetCatalogue with_tags;
  const TargetCatalogue* catalogue = &built_in;
  if (const size_t cut = text.find("\n%%\n"); cut != text.npos) {
    with_tags = built_in;
    const Result<void> loaded = with_tags.load_tags(text.substr(cut + 4), "tags.json");
    if (loaded && !with_tags.check_tags()) std::abort();
    catalogue = &with_tags;
    text.resize(cut);
  }
  const Result<TargetSpec> target = parse_target(*catalogue, text);
  if (!target) return 0;
  expect_same(*catalogue, *target, to_string(*target));
  expect_same(*catalogue, *target, to_json(*target));
  if (const auto tag = to_tag(*catalogue, *target)) expect_same(*catalogue, *target, *tag);
  return 0;
}
