// The files that make up the page, in this folder: page.html, page.css, page.js. The build puts them into the library.
#pragma once

#include <string_view>

namespace intarsia::packaging::page {

std::string_view template_text();
std::string_view style_text();
std::string_view script_text();

}  // namespace intarsia::packaging::page
