// Events of streams as the tests of the codecs vary them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace praxis {

/// Texts as they stand in JSON: plain, escaped, broken, and such that look like what stands around them.
inline const std::vector<std::string> kSpelledTexts{"a",
                                                    "",
                                                    "and more",
                                                    " ",
                                                    "\\n",
                                                    "\\\"",
                                                    "\\\\",
                                                    "\\u00e9",
                                                    "\xC3\xA9",
                                                    "\xFF",
                                                    "\\/",
                                                    "\\t\\b",
                                                    "\\u0000",
                                                    "\\ud83d\\ude00",
                                                    "\\f\\r",
                                                    "\\\\\\\"text\\\":\\\"x",
                                                    R"(\"delta\":\"x)",
                                                    "}],"};

/// The same events with a field more, whose name differs from one to the next, so that none resembles the
/// last.
inline std::vector<std::string> respelled(const std::vector<std::string>& events) {
  std::vector<std::string> out;
  for (const std::string& event : events) {
    const std::string name = "\"n" + std::to_string(out.size()) + "\"";
    out.push_back(event.starts_with('{') ? "{" + name + ":0," + event.substr(1) : event);
  }
  return out;
}

}  // namespace praxis
