#include "cli/parse_words.hpp"

#include <fmt/format.h>

#include <string_view>

namespace praxis::cli {

std::vector<std::string> without_shortcuts(std::span<const std::string> arguments) {
  std::vector<std::string> out(arguments.begin(), arguments.end());
  if (out.empty()) return out;
  if (out[0] == "version" || out[0] == "-V") return {"--version"};
  if (out[0] != "help") return out;
  out.erase(out.begin());
  if (out.size() > 1) out.resize(1);
  out.emplace_back("--help");
  return out;
}

std::string plain_message(const std::string& message) {
  constexpr std::string_view kOneRequired = "1 required ", kMissing = " missing", kValue = "Value ",
                             kNotInRange = " not in range ", kConvert = "Could not convert";
  const auto colon = message.find(": ");
  if (colon == std::string::npos) return message;
  const std::string name = message.substr(0, colon), rest = message.substr(colon + 2);
  if (rest.starts_with(kOneRequired) && rest.ends_with(kMissing)) {
    const auto type = rest.substr(kOneRequired.size(), rest.size() - kOneRequired.size() - kMissing.size());
    return fmt::format("{0} needs a value: {0} {1}", name, type);
  }
  const auto range = rest.find(kNotInRange);
  if (rest.starts_with(kValue) && range != std::string::npos) {
    return fmt::format("{}: \"{}\" is not a number from {}", name,
                       rest.substr(kValue.size(), range - kValue.size()),
                       rest.substr(range + kNotInRange.size()));
  }
  const auto equals = rest.find(" = ");
  if (name == kConvert && equals != std::string::npos)
    return fmt::format("{}: \"{}\" is not a number", rest.substr(0, equals), rest.substr(equals + 3));
  return message;
}

}  // namespace praxis::cli
