// Variations of stream events for the codecs' tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace praxis {

/// Texts as they occur in JSON: plain, escaped, damaged, and similar to the JSON around them.
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

/// The same events with one additional field whose name is different in each, so that no event resembles the
/// previous one.
inline std::vector<std::string> respelled(const std::vector<std::string>& events) {
  std::vector<std::string> out;
  for (const std::string& event : events) {
    const std::string name = "\"n" + std::to_string(out.size()) + "\"";
    out.push_back(event.starts_with('{') ? "{" + name + ":0," + event.substr(1) : event);
  }
  return out;
}

}  // namespace praxis
