// From target texts and JSON to drafts: looks up kinds and tags, reads attributes by their type,
// composes. Complains into `diagnostics`, as often as it can go on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "draft.h"
#include "intarsia/target.h"
#include "json_text.h"
#include "scanner.h"

namespace intarsia {

class TargetReader {
 public:
  TargetReader(const TargetCatalogue& catalogue, Diagnostics& diagnostics)
      : catalogue_(catalogue), diagnostics_(diagnostics) {}

  std::optional<Piece> read_text(std::string_view text, const std::string& where);
  std::optional<Piece> expand_tag(const TagSpec& tag, const std::string& where);
  // What stands alone: a CPU or a composite as it is, an accelerator with its ready host, or not.
  std::optional<std::vector<Draft>> stand_alone(const Piece& piece);

 private:
  std::optional<Piece> read_device(const ScannedDevice& device, std::string_view text,
                                   const std::string& where);
  std::optional<Piece> read_word(const std::string& word, const std::string& where);
  std::optional<Piece> compose(const std::vector<ScannedDevice>& devices, std::string_view text,
                               const std::string& where);
  bool add_device(Piece& composite, Piece device);
  void complain_device_first(const std::vector<Piece>& pieces);
  bool set_name(Piece& piece, const std::string& name, const std::string& where);
  bool takes_attributes(const Piece& piece, const std::string& where);
  const AttributeSpec* find_attribute(const KindSpec& kind, const std::string& name,
                                      const std::string& where);
  std::string example_host(const KindSpec& accelerator);

  std::optional<Piece> read_json(const Json& json, const std::string& where);
  std::optional<Piece> read_json_member(const Json& json, const std::string& where);
  std::optional<Piece> read_json_composite(const Json& json, const std::string& where);
  std::optional<Piece> read_json_target(const Json& json, const std::string& where);
  std::optional<std::string> read_json_string(const Json& json, const char* key,
                                              const std::string& where);

  const TargetCatalogue& catalogue_;
  Diagnostics& diagnostics_;
  std::vector<std::string> open_tags_;
};

}  // namespace intarsia
