#include "intarsia/targets/ethos_u85/payload.h"

#include "intarsia/targets/ethos_u/payload.h"

namespace intarsia::simulators::ethos_u85 {

std::optional<std::string> read_payload(std::span<const uint8_t> bytes, Payload& payload) {
  payload = {};
  ethos_u::PayloadActions actions;
  if (auto failure = ethos_u::read_actions(bytes, actions)) return failure;
  if (!actions.has_config) return "the driver payload does not say for which device it is";
  const std::string at = ethos_u::at_action(actions.config_offset);
  payload.made_for = find_configuration(actions.config);
  if (payload.made_for == nullptr) return at + "the stream was made for no Ethos-U85";
  if (const uint32_t version = command_version_of(actions.config); version != command_version())
    return at + "command stream version " + std::to_string(version) + ", only " +
           std::to_string(command_version()) + " is known";
  if (actions.config != payload.made_for->config_word())
    return at + "an " + std::string(payload.made_for->tag) + " has other ports or decoders";
  if (const uint32_t major = actions.id >> 28; major != architecture_major())
    return at + "architecture " + std::to_string(major) + ", only " +
           std::to_string(architecture_major()) + " is known";
  payload.stream = actions.stream;
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u85
