#include "foreign/payload_reader.h"

#include <array>

#include <fmt/format.h>

#include "commands/cop2.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr uint32_t kMagic =
#define MAGIC(value) value
#define ACTION(...)
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
    ;

enum class Action : uint32_t {
#define MAGIC(value)
#define ACTION(name, id, words) name = id,
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
};

struct ActionField {
  uint32_t word, low_bit, bits;
  uint32_t of(std::span<const uint32_t> action) const {
    return (action[word] >> low_bit) & ((uint32_t{1} << bits) - 1);
  }
  uint32_t at(uint32_t value) const { return value << low_bit; }
};
#define MAGIC(value)
#define ACTION(...)
#define ACTION_FIELD(action, name, word, low_bit, bits) \
  [[maybe_unused]] constexpr ActionField k_##action##_##name = {word, low_bit, bits};
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD

constexpr uint32_t kArchitectureBits = 0xFFFF0000;  // of ID: what the fields arch_*_rev take up

struct ProductRow {
  std::string_view text;
  uint32_t number, id_word;
};
constexpr ProductRow kProducts[] = {
#define PRODUCT(name, number, text, address_bits, axi_bits, dma, kernels, id_word) \
  {text, number, id_word},
#define CONFIGURATION(...)
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
};

StreamDevice device_of(std::span<const uint32_t> action) {
  StreamDevice device;
  device.macs = int64_t{1} << k_OPTIMIZER_CONFIG_macs_per_cc.of(action);
  device.shram_kib = k_OPTIMIZER_CONFIG_shram_size.of(action);
  device.product = k_OPTIMIZER_CONFIG_product.of(action);
  device.stream_version = k_OPTIMIZER_CONFIG_cmd_stream_version.of(action);
  device.architecture = {k_OPTIMIZER_CONFIG_arch_major_rev.of(action),
                         k_OPTIMIZER_CONFIG_arch_minor_rev.of(action),
                         k_OPTIMIZER_CONFIG_arch_patch_rev.of(action)};
  device.name =
      device.product == kU85Product
          ? fmt::format("ethos-u85-{}", device.macs)
          : fmt::format("an NPU of product number {} with {} MACs", device.product, device.macs);
  for (const Configuration& row : configurations())
    for (const ProductRow& product : kProducts)
      if (product.number == device.product && product.text == row.product &&
          row.macs == device.macs)
        device.name = row.tag;
  return device;
}

Result<PayloadView> view_of_cop2(std::span<const uint32_t> words) {
  const Result<Cop2Payload> read = read_cop2(words);
  if (!read.ok()) return read.error();
  PayloadView payload;
  payload.device = device_of(std::array{uint32_t{0}, read->config, read->id});
  payload.has_separate_regions = read->has_separate_regions;
  payload.first_word = read->first_word;
  payload.word_count = read->word_count;
  return payload;
}

}  // namespace

Architecture architecture_of(const Configuration& configuration) {
  for (const ProductRow& product : kProducts)
    if (product.text == configuration.product)
      return {product.id_word >> 28, product.id_word >> 20 & 255, product.id_word >> 16 & 15};
  INTARSIA_CHECK(false, "configurations are of a product of the table");
}

std::vector<uint32_t> words_of(std::span<const uint8_t> bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  for (size_t i = 0; i < words.size() * 4; ++i) words[i / 4] |= uint32_t{bytes[i]} << (8 * (i % 4));
  return words;
}

SharedBytes as_cop1(const SharedBytes& payload) {
  const std::vector<uint32_t> words = words_of(payload);
  if (!is_cop2(words)) return payload;
  const Result<Cop2Payload> read = read_cop2(words);
  INTARSIA_CHECK(read.ok(), "who asks has read this payload");
  constexpr uint32_t kRelease = 0x0010;  // of the actions
  std::vector<uint32_t> plain = {kMagic,
                                 static_cast<uint32_t>(Action::OPTIMIZER_CONFIG) | kRelease << 16,
                                 read->config, read->id & kArchitectureBits};
  // The stream begins at a multiple of 16 bytes.
  while (plain.size() % 4 != 3) plain.push_back(static_cast<uint32_t>(Action::NOP));
  const auto length = static_cast<uint32_t>(read->word_count);
  plain.push_back(static_cast<uint32_t>(Action::COMMAND_STREAM) |
                  k_COMMAND_STREAM_length_low.at(length & 0xFFFF) |
                  k_COMMAND_STREAM_length_high.at(length >> 16));
  const auto stream = std::span(words).subspan(read->first_word, read->word_count);
  plain.insert(plain.end(), stream.begin(), stream.end());
  std::vector<uint8_t> bytes;
  bytes.reserve(plain.size() * 4);
  for (const uint32_t word : plain)
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  return bytes;
}

Result<PayloadView> read_payload(std::span<const uint32_t> words) {
  if (is_cop2(words)) return view_of_cop2(words);
  const auto fail = [](std::string what) { return Diagnostics("", std::move(what)); };
  if (words.empty() || words[0] != kMagic)
    return fail("its payload does not begin with the driver's magic number");
  PayloadView payload;
  for (size_t at = 1; at < words.size();) {
    const std::span<const uint32_t> rest = words.subspan(at);
    switch (static_cast<Action>(rest[0] & 0xFF)) {
      case Action::OPTIMIZER_CONFIG:
        if (rest.size() < 3)
          return fail("its payload is cut short: it ends inside the configuration");
        payload.device = device_of(rest);
        at += 3;
        break;
      case Action::COMMAND_STREAM:
        payload.first_word = at + 1;
        payload.word_count = size_t{k_COMMAND_STREAM_length_high.of(rest)} << 16 |
                             k_COMMAND_STREAM_length_low.of(rest);
        if (payload.word_count > rest.size() - 1)
          return fail(fmt::format(
              "its payload is cut short: it announces a stream of {} words and ends after {}",
              payload.word_count, rest.size() - 1));
        return payload;
      case Action::READ_APB:
      case Action::DUMP_SHRAM:
      case Action::NOP:
        ++at;
        break;
      default:
        return fail(fmt::format("word {} of its payload, {:#010x}, is no action of the driver", at,
                                rest[0]));
    }
  }
  return fail("its payload is cut short: it has no command stream");
}

}  // namespace intarsia::targets::ethos_u
