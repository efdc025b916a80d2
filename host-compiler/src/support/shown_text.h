// Text out of a model, which may hold anything, as it is shown to people and written into what is generated. There is no
// other way: whoever prints a name, and every language that is generated, begins with this and then escapes what
// is special there.
#pragma once

#include <string>
#include <string_view>

namespace intarsia {

// `text` with '?' for whatever would act instead of being read: control characters (ends of lines and escapes of
// terminals among them), marks that turn the direction of the text, and bytes that are no UTF-8.
std::string shown_text(std::string_view text);

// The same of text in several lines: their ends stay, and tabs.
std::string shown_lines(std::string_view text);

// For the inside of comments and of string literals, in C and what is read like it: whatever could end one or begin
// another is '_', and what is not ASCII too.
std::string code_text(std::string_view text);

// The same for the inside of string literals alone, where the marks of comments are text.
std::string literal_text(std::string_view text);

}  // namespace intarsia
