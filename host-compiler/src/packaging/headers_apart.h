// Which headers can stand in one C file for all of the sources in it, and which have to stand before each source that
// includes them: those with a name that means something else in another file. A header of the latter kind is a source's
// own, and so are its macros and functions.
#pragma once

#include <map>
#include <set>
#include <string>

#include "packaging/c_text.h"

namespace intarsia::packaging {

// Files by their paths, with the paths of what each includes.
struct ReadFile {
  CText text;
  std::set<std::string> includes;
};
using ReadFiles = std::map<std::string, ReadFile>;

// Names that a file defines for itself and those that include it. Guards, which no other file has, are among them.
std::set<std::string> own_names(const CText& text);

// Of `files`, the headers that have to stand apart. Those never do that declare what a source defines for others, as theirs
// are types of its operands, and those that they or `model` include.
std::set<std::string> headers_apart(const ReadFiles& files, const std::string& model);

}  // namespace intarsia::packaging
