// Kind `ethosn`: Arm Ethos-N78. It names the variants and takes no operator: what there is of this
// target is the device's tables and its simulator.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/target_kind.h"

namespace intarsia::targets::ethos_n {
namespace {

struct Variant {
  std::string_view tag;
  int64_t ces = 0, banks = 0, sram_kib = 0, tops = 0;  // zero: it has no kernels

  bool has_kernels() const { return ces != 0; }
  // What follows "ethos-n78-".
  std::string word() const { return std::string(tag.substr(tag.find('-', tag.find('-') + 1) + 1)); }
};

constexpr Variant kVariants[] = {
#define VARIANT(name, tag, stack_name, prefix, ces, igs, ogs, emcs, lanes, emc_kib, tops) \
  {tag, ces, (ces) * (emcs), (ces) * (emcs) * (emc_kib), tops},
#define VARIANT_WITHOUT_KERNELS(tag, stack_name) {tag},
#include "ethos_n/variants.def"
#undef VARIANT
#undef VARIANT_WITHOUT_KERNELS
};

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "ethosn";
  spec.summary = "Arm Ethos-N78 NPUs";
  spec.role = Role::Accelerator;
  std::vector<std::string> words, with_kernels;
  for (const Variant& row : kVariants) {
    words.push_back(row.word());
    if (row.has_kernels()) with_kernels.push_back(row.word());
  }
  spec.attributes = {AttributeSpec::word("variant", std::string("4tops-4ple"), words,
                                         "tera-operations a second, and the ratio of PLEs")};
  spec.validate = [with_kernels](const Attributes& attributes) -> Result<void> {
    const std::string& variant = attributes.get_string("variant");
    if (std::find(with_kernels.begin(), with_kernels.end(), variant) != with_kernels.end())
      return {};
    return Diagnostics("",
                       fmt::format("no PLE kernels exist for the Ethos-N78 variant {}", variant),
                       fmt::format("write -variant={}", fmt::join(with_kernels, " or -variant=")));
  };
  for (const Variant& row : kVariants)
    if (row.has_kernels())
      spec.tags.push_back({std::string(row.tag),
                           fmt::format("{} TOPS, {} compute engines, {} KiB of SRAM", row.tops,
                                       row.ces, row.sram_kib),
                           fmt::format("ethosn -variant={}", row.word()), "c"});
  return spec;
}

class EthosNKind final : public TargetKind {
 public:
  const KindSpec& spec() const override { return spec_; }

  // One for every operator, so that each says why it stays on the host.
  std::vector<Pattern> patterns(const Target&) const override {
    std::vector<Pattern> patterns;
    for (const graph::OpKind kind : {
#define OP(name, text, attrs, least, most, outputs) graph::OpKind::name,
#include "intarsia/op_kinds.def"
#undef OP
         }) {
      if (kind == graph::OpKind::Call) continue;
      patterns.push_back({std::string(graph::to_string(kind)),
                          {kind, {}},
                          [](const PatternMatch&) -> std::optional<std::string> {
                            return "there is no code generator for the Ethos-N, only its simulator";
                          }});
    }
    return patterns;
  }

 private:
  KindSpec spec_ = make_spec();
};

}  // namespace

void add_kinds(TargetRegistry& registry) {
  registry.add(std::make_unique<EthosNKind>());
}

}  // namespace intarsia::targets::ethos_n
