// Reads the fields of one JSON object with types, and collects what is wrong: a missing field, a
// field of another type, a field nobody asked for. The reading code stays a list of fields.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "intarsia/diagnostics.h"

namespace intarsia {

class JsonReader {
 public:
  // `where` is the file and the place in it: "boards/x/board.json: memories[1]". `keys_page`: where its keys are
  // described.
  JsonReader(const nlohmann::json& object, std::string where, Diagnostics& problems,
             std::string keys_page = "boards/README.md");

  const std::string& where() const { return where_; }

  std::string text(const char* key);
  std::string optional_text(const char* key);
  // A non-negative integer, or a string: "0x20000000", "512K", "1.5M", "1G".
  uint64_t amount(const char* key);
  uint64_t optional_amount(const char* key, uint64_t missing);
  std::vector<std::string> texts(const char* key);
  std::vector<std::string> optional_texts(const char* key);
  // One text, or an array of them.
  std::vector<std::string> text_or_texts(const char* key);
  // true or false; false when it is missing.
  bool optional_flag(const char* key);
  // Null when it is missing or not what is asked for; the problem is noted unless optional.
  const nlohmann::json* array(const char* key);
  const nlohmann::json* optional_array(const char* key);
  const nlohmann::json* object(const char* key);
  const nlohmann::json* optional_object(const char* key);

  // Of any type; null when it is missing.
  const nlohmann::json* optional_value(const char* key);

  // After the last field: complains about all others.
  void finish();

 private:
  const nlohmann::json* find(const char* key, bool required);
  void complain_type(const char* key, const char* wanted);

  const nlohmann::json& object_;
  std::string where_;
  Diagnostics& problems_;
  std::string keys_page_;
  std::vector<std::string> asked_;
};

}  // namespace intarsia
