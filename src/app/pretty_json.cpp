#include "app/pretty_json.hpp"

namespace praxis::app {
namespace {

void append_pretty(std::string& out, const Json& value, std::size_t indent) {
  const std::string line_start = '\n' + std::string(indent + 2, ' ');
  const std::string last_line = '\n' + std::string(indent, ' ');
  const char* separator = "";
  if (value.is_object() && !value.get_object().empty()) {
    out += '{';
    for (const auto& [key, member] : value.get_object()) {
      out.append(separator).append(line_start);
      append_json_string(out, key);
      out += ": ";
      append_pretty(out, member, indent + 2);
      separator = ",";
    }
    out.append(last_line).append("}");
  } else if (value.is_array() && !value.get_array().empty()) {
    out += '[';
    for (const Json& element : value.get_array()) {
      out.append(separator).append(line_start);
      append_pretty(out, element, indent + 2);
      separator = ",";
    }
    out.append(last_line).append("]");
  } else {
    append_json(out, value);
  }
}

}  // namespace

std::string pretty_json(const Json& value) {
  std::string out;
  append_pretty(out, value, 0);
  return out + '\n';
}

}  // namespace praxis::app
