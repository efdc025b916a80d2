#include "network/payload.h"

namespace intarsia::targets::ethos_n {
namespace {

#define PAYLOAD(name, value) constexpr size_t k##name = value;
#define MAILBOX(name, offset, access)
#define BUFFER_TYPE(name, number)
#include "intarsia/targets/ethos_n/payload.def"
#undef PAYLOAD
#undef MAILBOX
#undef BUFFER_TYPE

void append(std::vector<uint8_t>& bytes, size_t value) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint32_t word_at(std::span<const uint8_t> bytes, size_t index) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(bytes[4 * index + i]) << (8 * i);
  return value;
}

}  // namespace

int64_t most_buffers() {
  return kMostBuffers;
}

std::vector<uint8_t> make_payload(int64_t variant, std::span<const BufferPlace> places,
                                  std::span<const uint8_t> network) {
  size_t network_at = 4 * (kFirstPlaceWord + 2 * places.size());
  while (network_at % kNetworkAlignment != kNetworkPhase) network_at += 4;
  std::vector<uint8_t> bytes;
  for (const size_t value : {kMagic, static_cast<size_t>(variant), places.size(), network_at})
    append(bytes, value);
  for (const BufferPlace& place : places) append(bytes, place.region), append(bytes, place.offset);
  bytes.resize(network_at);
  bytes.insert(bytes.end(), network.begin(), network.end());
  return bytes;
}

bool is_payload(std::span<const uint8_t> bytes) {
  return bytes.size() >= 4 * kFirstPlaceWord && word_at(bytes, 0) == kMagic;
}

Result<PayloadView> read_payload(std::span<const uint8_t> bytes) {
  PayloadView view;
  view.variant = word_at(bytes, kVariantWord);
  const size_t places = word_at(bytes, kPlacesWord), network_at = word_at(bytes, kNetworkWord);
  if (network_at > bytes.size() || places > (bytes.size() - 4 * kFirstPlaceWord) / 8)
    return Diagnostics("Ethos-N payload", "it ends early", "compile the model again");
  for (size_t i = 0; i < places; ++i)
    view.places.push_back(
        {word_at(bytes, kFirstPlaceWord + 2 * i), word_at(bytes, kFirstPlaceWord + 2 * i + 1)});
  view.network = bytes.subspan(network_at);
  return view;
}

}  // namespace intarsia::targets::ethos_n
