#include "mcp/argument_headers.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "mcp/connection.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr const char* kHeaderKey = "x-mcp-header";
constexpr std::size_t kMaxShownHeader = 60;
/// Members of a schema whose values are data or names, not schemas.
constexpr std::array<std::string_view, 4> kDataMembers{"const", "default", "enum", "examples"};

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

bool same_header(std::string_view one, std::string_view other) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

std::unexpected<Error> invalid_header(const std::string& why) {
  return fail(ErrorCode::kTool, ErrorKind::kProtocol, "it wants an argument in a header, but " + why);
}

/// Collects the declarations of a schema. The depth of the schema is bounded where it is read.
class HeaderDeclarations {
 public:
  /// Looks at a schema; `path` leads to its value if that is only one step of `properties` after the other.
  Status look(const Json& schema, const std::vector<std::string>* path) {
    const JsonObject* const object = schema.if_object();
    if (object == nullptr) return {};
    for (const auto& [key, member] : *object) {
      if (key == kHeaderKey) {
        if (auto added = add(*object, member, path); !added) return added;
      } else if (key == "properties") {
        if (auto looked = look_at_properties(member, path); !looked) return looked;
      } else if (std::ranges::find(kDataMembers, std::string_view(key)) == kDataMembers.end()) {
        if (auto looked = look_elsewhere(member); !looked) return looked;
      }
    }
    return {};
  }

  std::vector<McpHeaderArgument> take() { return std::move(found_); }

 private:
  Status look_at_properties(const Json& properties, const std::vector<std::string>* path) {
    const JsonObject* const object = properties.if_object();
    if (object == nullptr) return {};
    for (const auto& [name, schema] : *object) {
      std::vector<std::string> here = path != nullptr ? *path : std::vector<std::string>{};
      here.emplace_back(name);
      if (auto looked = look(schema, path != nullptr ? &here : nullptr); !looked) return looked;
    }
    return {};
  }

  /// Schemas that may or may not apply, in objects and lists of any kind.
  Status look_elsewhere(const Json& value) {
    if (value.is_object()) return look(value, nullptr);
    if (const JsonArray* const array = value.if_array()) {
      for (const Json& item : *array) {
        if (auto looked = look_elsewhere(item); !looked) return looked;
      }
    }
    return {};
  }

  Status add(const JsonObject& schema, const Json& declared, const std::vector<std::string>* path) {
    const auto* const text = declared.if_string();
    const std::string name = text != nullptr ? std::string(*text) : std::string();
    if (!is_header_name(name))
      return invalid_header("the name of the header is not valid: " +
                            mcp_shown(to_json_text(declared), kMaxShownHeader));
    const std::string shown = '"' + mcp_shown(name, kMaxShownHeader) + '"';
    if (path == nullptr || path->empty())
      return invalid_header(shown + " is not declared at a property that each call may have");
    const std::string type = json_string(Json(schema), "type");
    if (type != "string" && type != "integer" && type != "boolean")
      return invalid_header("the argument of " + shown + " is not a string, an integer or a boolean");
    std::string header = "Mcp-Param-" + name;
    const auto same = [&](const McpHeaderArgument& each) { return same_header(each.header, header); };
    if (std::ranges::any_of(found_, same)) return invalid_header(shown + " is declared twice");
    found_.push_back({std::move(header), *path});
    return {};
  }

  std::vector<McpHeaderArgument> found_;
};

}  // namespace

Result<std::vector<McpHeaderArgument>> mcp_header_arguments(const Json& schema) {
  HeaderDeclarations declarations;
  const std::vector<std::string> top;
  if (auto looked = declarations.look(schema, &top); !looked) return fail(std::move(looked.error()));
  return declarations.take();
}

HttpHeaders mcp_argument_headers(const std::vector<McpHeaderArgument>& wanted, const Json& arguments) {
  HttpHeaders headers;
  for (const McpHeaderArgument& each : wanted) {
    const Json* value = &arguments;
    for (const std::string& step : each.path) value = &json_at(*value, step);
    if (value->is_null() || value->is_object() || value->is_array()) continue;
    const auto* const text = value->if_string();
    headers.emplace_back(each.header,
                         mcp_header_value(text != nullptr ? std::string(*text) : to_json_text(*value)));
  }
  return headers;
}

std::string mcp_header_value(const std::string& text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  const bool is_padded = text.starts_with(' ') || text.ends_with(' ');
  if (std::ranges::all_of(text, is_plain) && !is_padded && !text.starts_with("=?base64?")) return text;
  return "=?base64?" + base64_encode(text) + "?=";
}

}  // namespace praxis
