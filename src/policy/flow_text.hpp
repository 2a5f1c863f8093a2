// Compares texts to find out where a value comes from. Pure. All functions but `plain_form` take plain forms.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::flow {

/// The form in which texts are compared: lower case, percent-decoded, white space collapsed, typographic
/// quotes and dashes replaced, invisible characters removed.
std::string plain_form(std::string_view text);

/// Whether `text` has `value` as a whole: not as a part of a longer word, number, address or path. A URL is
/// also found without its scheme and its last `/`; a number or IBAN also with other spaces and hyphens.
bool names(std::string_view text, std::string_view value);
/// Whether `value` occurs in `text`, also as a part of a longer word, and with other spaces and hyphens.
bool contains(std::string_view text, std::string_view value);
/// Whether at least half of the sequences of three words in `value` also occur in `text`. False for fewer
/// than six words.
bool resembles(std::string_view text, std::string_view value);

/// What in a text says where something could go: URLs, host names, e-mail addresses and bank accounts.
std::vector<std::string> addresses_in(std::string_view text);

}  // namespace praxis::flow
