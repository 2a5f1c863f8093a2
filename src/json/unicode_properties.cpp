#include "json/unicode_properties.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace praxis {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

/// General categories by their long names (PropertyValueAliases of the Unicode character database).
constexpr std::array kCategories{Name{"Close_Punctuation", "Pe"},
                                 Name{"Connector_Punctuation", "Pc"},
                                 Name{"Control", "Cc"},
                                 Name{"Currency_Symbol", "Sc"},
                                 Name{"Dash_Punctuation", "Pd"},
                                 Name{"Decimal_Number", "Nd"},
                                 Name{"Enclosing_Mark", "Me"},
                                 Name{"Final_Punctuation", "Pf"},
                                 Name{"Format", "Cf"},
                                 Name{"Initial_Punctuation", "Pi"},
                                 Name{"Letter", "L"},
                                 Name{"Letter_Number", "Nl"},
                                 Name{"Line_Separator", "Zl"},
                                 Name{"Lowercase_Letter", "Ll"},
                                 Name{"Mark", "M"},
                                 Name{"Math_Symbol", "Sm"},
                                 Name{"Modifier_Letter", "Lm"},
                                 Name{"Modifier_Symbol", "Sk"},
                                 Name{"Nonspacing_Mark", "Mn"},
                                 Name{"Number", "N"},
                                 Name{"Open_Punctuation", "Ps"},
                                 Name{"Other_Letter", "Lo"},
                                 Name{"Other_Number", "No"},
                                 Name{"Other_Punctuation", "Po"},
                                 Name{"Other_Symbol", "So"},
                                 Name{"Paragraph_Separator", "Zp"},
                                 Name{"Private_Use", "Co"},
                                 Name{"Punctuation", "P"},
                                 Name{"Separator", "Z"},
                                 Name{"Space_Separator", "Zs"},
                                 Name{"Spacing_Mark", "Mc"},
                                 Name{"Symbol", "S"},
                                 Name{"Titlecase_Letter", "Lt"},
                                 Name{"Uppercase_Letter", "Lu"},
                                 Name{"digit", "Nd"},
                                 Name{"punct", "P"},
                                 Name{"cntrl", "Cc"},
                                 Name{"Combining_Mark", "M"}};

std::string_view short_name(std::string_view name) {
  for (const std::string_view prefix : {"General_Category=", "gc=", "Script=", "sc="}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  const auto* const found = std::ranges::find(kCategories, name, &Name::first);
  return found == kCategories.end() ? name : found->second;
}

}  // namespace

std::string with_short_properties(const std::string& pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view rest = std::string_view(pattern).substr(at);
    const bool is_property = rest.starts_with("\\p{") || rest.starts_with("\\P{");
    const std::size_t end = is_property ? rest.find('}') : rest.npos;
    if (end != rest.npos) {
      constexpr std::size_t kOpening = 3;
      out += rest.substr(0, kOpening);
      out += short_name(rest.substr(kOpening, end - kOpening));
      out += '}';
      at += end + 1;
      continue;
    }
    const std::size_t taken = rest.front() == '\\' ? std::min<std::size_t>(2, rest.size()) : 1;
    out += rest.substr(0, taken);
    at += taken;
  }
  return out;
}

}  // namespace praxis
