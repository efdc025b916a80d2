#include "tflite_writer/copy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

namespace intarsia::tflite_writer {

namespace {

using Kind = FieldShape::Kind;

constexpr int kDeepestTables = 8;

constexpr FieldShape kCustomDetails[] = {{0, Kind::Vector, 1}};
constexpr TableShape kCustomDetailsShape = {"details of a quantisation", kCustomDetails};
// Tensors by their numbers, which are others in the written file.
constexpr FieldShape kBlockDetails[] = {
    {0, Kind::Refused, 1, nullptr, "a constant with scales by blocks"}};
constexpr TableShape kBlockDetailsShape = {"details of a quantisation", kBlockDetails};
constexpr FieldShape kQuantization[] = {{0, Kind::Vector, 4},
                                        {1, Kind::Vector, 4},
                                        {2, Kind::Vector, 4},
                                        {3, Kind::Vector, 8},
                                        {5, Kind::Details}};
constexpr TableShape kQuantizationShape = {"quantisation", kQuantization};
constexpr FieldShape kTensor[] = {
    {0, Kind::Vector, 4},
    {3, Kind::String},
    {4, Kind::Table, 1, &kQuantizationShape},
    {6, Kind::Refused, 1, nullptr, "the extents of a sparse constant"},
    {7, Kind::Vector, 4},
    {9, Kind::Refused, 1, nullptr, "types of a variant"}};
constexpr FieldShape kOperator[] = {
    {1, Kind::Vector, 4},
    {2, Kind::Vector, 4},
    {4, Kind::Options},
    {5, Kind::Vector, 1},
    {7, Kind::Vector, 1},
    {8, Kind::Vector, 4},
    {9, Kind::Refused, 1, nullptr, "options behind the end of the file"},
    {12, Kind::Refused, 1, nullptr, "options of an operator of StableHLO"}};
constexpr FieldShape kOperatorCode[] = {{1, Kind::String}};
constexpr FieldShape kTensorMap[] = {{0, Kind::String}};
constexpr FieldShape kSignature[] = {
    {0, Kind::Refused}, {1, Kind::Refused}, {2, Kind::String}, {3, Kind::String}};

// Options of operators that hold more than numbers, by their number in the union.
constexpr FieldShape kFirstWords[] = {{0, Kind::Vector, 4}};
constexpr FieldShape kEmbeddingWords[] = {{1, Kind::Vector, 4}, {2, Kind::Vector, 4}};
constexpr FieldShape kTwoStrings[] = {{0, Kind::String}, {1, Kind::String}};
constexpr TableShape kNumbersShape = {"options", {}};
constexpr TableShape kFirstWordsShape = {"options", kFirstWords};
constexpr TableShape kEmbeddingShape = {"options", kEmbeddingWords};
constexpr TableShape kTwoStringsShape = {"options", kTwoStrings};
constexpr uint8_t kConcatEmbeddings = 3, kReshape = 17, kSqueeze = 30, kVarHandle = 111,
                  kBucketize = 115, kLastOptions = 126;

const TableShape* options_shape(uint8_t type) {
  switch (type) {
    case kReshape:
    case kSqueeze:
    case kBucketize:
      return &kFirstWordsShape;
    case kConcatEmbeddings:
      return &kEmbeddingShape;
    case kVarHandle:
      return &kTwoStringsShape;
    default:
      return type <= kLastOptions ? &kNumbersShape : nullptr;
  }
}

const TableShape* details_shape(uint8_t type) {
  constexpr uint8_t kCustom = 1, kBlockwise = 2;
  if (type == kCustom) return &kCustomDetailsShape;
  return type == kBlockwise ? &kBlockDetailsShape : nullptr;
}

}  // namespace

const TableShape kTensorShape = {"tensor", kTensor};
const TableShape kOperatorShape = {"operator", kOperator};
const TableShape kOperatorCodeShape = {"operator code", kOperatorCode};
const TableShape kTensorMapShape = {"tensor of a signature", kTensorMap};
const TableShape kSignatureShape = {"signature", kSignature};

uint64_t TableCopier::number(size_t place, size_t bytes) {
  if (place > file_.size() || bytes > file_.size() - place) {
    fail("an offset inside the file does not lead to what it should");
    return 0;
  }
  uint64_t value = 0;
  std::memcpy(&value, file_.data() + place, bytes);
  return value;
}

size_t TableCopier::follow(size_t place) {
  return place + number(place, 4);
}

std::vector<TableCopier::Field> TableCopier::fields_of(size_t table) {
  const auto back = static_cast<int32_t>(number(table, 4));
  const auto names = static_cast<size_t>(static_cast<int64_t>(table) - back);
  const size_t names_bytes = number(names, 2), bytes = number(names + 2, 2);
  number(names, names_bytes > 0 && names + names_bytes <= file_.size() ? 1 : 8);
  if (names > file_.size() || names_bytes > file_.size() - names || table > file_.size() ||
      bytes > file_.size() - table)
    fail("a table does not lie within the file");
  if (!problem_.empty()) return {};
  std::vector<Field> fields;
  std::vector<size_t> ends = {bytes};
  for (size_t at = 4; at + 2 <= names_bytes; at += 2) {
    const size_t offset = number(names + at, 2);
    if (offset == 0) continue;
    if (offset < 4 || offset >= bytes) {
      fail("a field does not lie within its table");
      return {};
    }
    fields.push_back({static_cast<uint16_t>((at - 4) / 2), offset, 0});
    ends.push_back(offset);
  }
  // A number is at most as long as the way to what follows it: what is between is padding.
  std::ranges::sort(ends);
  for (Field& field : fields) {
    const size_t room = *std::ranges::upper_bound(ends, field.at) - field.at;
    field.bytes = std::bit_floor(std::min<size_t>(room, 8));
    field.at += table;
  }
  return fields;
}

flatbuffers::uoffset_t TableCopier::copy_vector(size_t vector, uint32_t element_bytes) {
  const uint64_t count = number(vector, 4);
  if (!problem_.empty() || count * element_bytes > file_.size() - vector - 4) {
    fail("a vector does not lie within the file");
    return 0;
  }
  builder_.StartVector(count, element_bytes);
  builder_.PushBytes(file_.data() + vector + 4, count * element_bytes);
  return builder_.EndVector(count);
}

flatbuffers::uoffset_t TableCopier::copy_child(const TableShape& shape, const FieldShape& field,
                                               size_t place, uint8_t type, int depth) {
  const size_t child = follow(place);
  switch (field.kind) {
    case Kind::Vector:
      return copy_vector(child, field.element_bytes);
    case Kind::String: {
      const uint64_t length = number(child, 4);
      if (!problem_.empty() || length > file_.size() - child - 4) {
        fail("a text does not lie within the file");
        return 0;
      }
      return builder_.CreateString(reinterpret_cast<const char*>(file_.data()) + child + 4, length)
          .o;
    }
    case Kind::Table:
      return copy_table(child, *field.table, {}, depth + 1);
    case Kind::Tables: {
      std::vector<flatbuffers::Offset<void>> copies;
      for (const void* table : tables_at(child))
        copies.emplace_back(
            copy_table(static_cast<size_t>(static_cast<const uint8_t*>(table) - file_.data()),
                       *field.table, {}, depth + 1));
      if (!problem_.empty()) return 0;
      return builder_.CreateVector(copies).o;
    }
    case Kind::Options:
    case Kind::Details: {
      const TableShape* inner =
          field.kind == Kind::Options ? options_shape(type) : details_shape(type);
      if (inner != nullptr) return copy_table(child, *inner, {}, depth + 1);
      fail(fmt::format("its {} has options of a kind {} that is not known", shape.name, type));
      return 0;
    }
    case Kind::Refused:
      break;
  }
  fail(field.holds != nullptr
           ? fmt::format("its {} has {}, which is not copied", shape.name, field.holds)
           : fmt::format("its {} has a field {} that is not known", shape.name, field.id));
  return 0;
}

flatbuffers::uoffset_t TableCopier::copy_table(size_t table, const TableShape& shape,
                                               std::span<const FieldValue> other, int depth) {
  if (depth > kDeepestTables) fail("tables lie in each other without an end");
  std::vector<Field> fields = fields_of(table);
  if (!problem_.empty()) return 0;
  std::map<uint16_t, FieldValue> values;  // those that are built, or replaced
  for (const FieldValue& value : other) values[value.id] = value;
  const auto type_before = [&](uint16_t id) -> uint8_t {
    for (const Field& field : fields)
      if (field.id + 1 == id) return static_cast<uint8_t>(number(field.at, 1));
    return 0;
  };
  for (const FieldShape& known : shape.fields) {
    const auto field = std::ranges::find(fields, known.id, &Field::id);
    if (field == fields.end() || values.contains(known.id)) continue;
    values[known.id] = {known.id, copy_child(shape, known, field->at, type_before(known.id), depth),
                        true};
    if (!problem_.empty()) return 0;
  }
  const flatbuffers::uoffset_t start = builder_.StartTable();
  const auto name_of = [](uint16_t id) { return static_cast<flatbuffers::voffset_t>(4 + 2 * id); };
  for (const Field& field : fields) {
    if (values.contains(field.id)) continue;
    const uint64_t value = number(field.at, field.bytes);
    switch (field.bytes) {
      case 1:
        builder_.AddElement(name_of(field.id), static_cast<uint8_t>(value));
        break;
      case 2:
        builder_.AddElement(name_of(field.id), static_cast<uint16_t>(value));
        break;
      case 4:
        builder_.AddElement(name_of(field.id), static_cast<uint32_t>(value));
        break;
      default:
        builder_.AddElement(name_of(field.id), value);
    }
  }
  for (const auto& [id, value] : values) {
    if (value.is_offset)
      builder_.AddOffset(name_of(id), flatbuffers::Offset<void>(value.value));
    else
      builder_.AddElement(name_of(id), value.value);
  }
  return builder_.EndTable(start);
}

flatbuffers::uoffset_t TableCopier::copy(const void* table, const TableShape& shape,
                                         std::span<const FieldValue> other) {
  const flatbuffers::uoffset_t copied = copy_table(
      static_cast<size_t>(static_cast<const uint8_t*>(table) - file_.data()), shape, other, 0);
  if (problem_.empty()) return copied;
  // Whoever asked goes on to the end, where problems are looked at: an empty table may stand anywhere.
  return builder_.EndTable(builder_.StartTable());
}

size_t TableCopier::referred(const void* table, uint16_t field) {
  for (const Field& each :
       fields_of(static_cast<size_t>(static_cast<const uint8_t*>(table) - file_.data())))
    if (each.id == field) return follow(each.at);
  return 0;
}

uint32_t TableCopier::number_of(const void* table, uint16_t field) {
  for (const Field& each :
       fields_of(static_cast<size_t>(static_cast<const uint8_t*>(table) - file_.data())))
    if (each.id == field) return static_cast<uint32_t>(number(each.at, each.bytes));
  return 0;
}

std::vector<int32_t> TableCopier::numbers_at(size_t vector) {
  if (vector == 0) return {};
  const uint64_t count = number(vector, 4);
  if (!problem_.empty() || count * 4 > file_.size() - vector - 4) {
    fail("a vector does not lie within the file");
    return {};
  }
  std::vector<int32_t> numbers(count);
  std::memcpy(numbers.data(), file_.data() + vector + 4, 4 * count);
  return numbers;
}

std::vector<const void*> TableCopier::tables_at(size_t vector) {
  if (vector == 0) return {};
  const uint64_t count = number(vector, 4);
  if (!problem_.empty() || count * 4 > file_.size() - vector - 4) {
    fail("a vector does not lie within the file");
    return {};
  }
  std::vector<const void*> tables;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t place = follow(vector + 4 + 4 * i);
    number(place, 4);
    if (!problem_.empty()) return {};
    tables.push_back(file_.data() + place);
  }
  return tables;
}

}  // namespace intarsia::tflite_writer
