// Streams of layers (contract/layers.def) as a library's driver reads them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "intarsia/contract/device.h"

namespace intarsia::rt {

#define LAYER_NUMBER(name, value) inline constexpr uint32_t LAYERS_##name = value;
#include "intarsia/contract/layers.def"

enum class LayerKind : uint32_t {
#define LAYER_KIND(name) name,
#include "intarsia/contract/layers.def"
};

enum class LayerFunction : uint32_t {
#define LAYER_FUNCTION(name) name,
#include "intarsia/contract/layers.def"
};

enum class LayerType : uint32_t {
#define LAYER_TYPE(name) name,
#include "intarsia/contract/layers.def"
};

// Where an operand lies.
struct LayerPlace {
  uint32_t region = LAYERS_ABSENT, offset = 0, bytes = 0;
  bool is_there() const { return region != LAYERS_ABSENT; }
};

// The fields of one layer, all of them words.
struct LayerFields {
#define LAYER_FIELD(name) int32_t name = 0;
#include "intarsia/contract/layers.def"

  LayerKind what() const {
    return static_cast<LayerKind>(kind);
  }
  bool is_int8() const {
    return static_cast<LayerType>(type) == LayerType::int8;
  }
  static float number(int32_t word) {
    float value = 0;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
  }
};

struct LayerPlaces {
#define LAYER_OPERAND(name) LayerPlace name;
#include "intarsia/contract/layers.def"
};

struct Layer : LayerFields, LayerPlaces {};

struct LayerHeader {
#define LAYER_HEADER(name) uint32_t name = 0;
#include "intarsia/contract/layers.def"
};

inline constexpr uint32_t kLayerHeaderWords = sizeof(LayerHeader) / 4;
inline constexpr uint32_t kLayerFieldWords = sizeof(LayerFields) / 4;
inline constexpr uint32_t kLayerWords = sizeof(Layer) / 4;

// A stream whose bytes hold what its header says, with no operand outside of its region. Layers are in [0, layers()).
class LayerStream {
 public:
  // False: the stream is not one for `library`, or is damaged.
  bool open(const intarsia_stream& stream, uint32_t library, uint32_t base_count) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "streams are little-endian");
    bytes_ = stream.commands;
    words_ = stream.command_bytes / 4;
    if (words_ < kLayerHeaderWords) return false;
    __builtin_memcpy(&header_, bytes_, sizeof header_);
    if (header_.magic != LAYERS_MAGIC || header_.version != LAYERS_VERSION) return false;
    if (header_.library != library || header_.regions > LAYERS_MAX_REGIONS) return false;
    if (header_.regions > base_count || words_ - kLayerHeaderWords < header_.regions) return false;
    first_ = kLayerHeaderWords + header_.regions;
    if ((words_ - first_) / kLayerWords < header_.layers) return false;
    for (uint32_t i = 0; i < header_.layers; ++i)
      if (!is_inside(layer(i))) return false;
    return true;
  }

  uint32_t layers() const { return header_.layers; }
  Layer layer(uint32_t index) const {
    Layer layer;
    const size_t at = 4 * (first_ + static_cast<size_t>(index) * kLayerWords);
    __builtin_memcpy(static_cast<void*>(&layer), bytes_ + at, sizeof layer);
    return layer;
  }

 private:
  uint32_t region_bytes(uint32_t region) const {
    uint32_t word = 0;
    __builtin_memcpy(&word, bytes_ + 4 * static_cast<size_t>(kLayerHeaderWords + region), 4);
    return word;
  }
  bool is_inside(const LayerPlace& place) const {
    if (!place.is_there()) return true;
    if (place.region >= header_.regions) return false;
    const uint32_t size = region_bytes(place.region);
    return place.offset <= size && place.bytes <= size - place.offset;
  }
  bool is_inside(const Layer& layer) const {
#define LAYER_OPERAND(name) \
  if (!is_inside(layer.name)) return false;
#include "intarsia/contract/layers.def"
    return layer.source.is_there() && layer.result.is_there();
  }

  const uint8_t* bytes_ = nullptr;
  LayerHeader header_;
  uint32_t words_ = 0, first_ = 0;
};

}  // namespace intarsia::rt
