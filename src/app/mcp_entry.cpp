#include "app/mcp_entry.hpp"

#include <utility>
#include <vector>

#include "app/plain_text.hpp"
#include "base/ascii.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

constexpr const char* kServers = "mcpServers";
constexpr std::string_view kBegin = "${", kOtherwise = ":-", kBearer = "bearer ";

std::unexpected<Error> wrong(const std::string& text) { return fail(ErrorCode::kInput, text); }

/// Replaces the variables of a value. Error: one is not set and has no other value.
Result<std::string> expanded(std::string_view text, const Variables& variables) {
  std::string all;
  while (true) {
    const std::size_t at = text.find(kBegin), end = text.find('}', at);
    if (at == text.npos || end == text.npos) return all.append(text);
    all.append(text.substr(0, at));
    const std::string_view inside = text.substr(at + kBegin.size(), end - at - kBegin.size());
    const std::size_t otherwise = inside.find(kOtherwise);
    const std::string name(inside.substr(0, otherwise));
    if (const auto value = variables(name)) {
      all.append(*value);
    } else if (otherwise != inside.npos) {
      all.append(inside.substr(otherwise + kOtherwise.size()));
    } else {
      return wrong("needs the environment variable " + in_quotes(name) + ", which is not set");
    }
    text.remove_prefix(end + 1);
  }
}

/// A text that is used as it is.
Result<std::string> plain(const Json& value, const std::string& key) {
  if (!value.is_string()) return wrong(in_quotes(key) + " must be a text");
  std::string text = to_plain_text(value);
  if (text.contains(kBegin))
    return wrong(in_quotes(key) +
                 " has a variable, which is replaced in \"env\" and \"headers\" only: others can see it");
  return text;
}

Result<std::map<std::string, std::string>> values_of(const Json& object, const std::string& key,
                                                     const Variables& variables) {
  std::map<std::string, std::string> values;
  if (object.is_null()) return values;
  if (!object.is_object()) return wrong(in_quotes(key) + " must be an object of texts");
  for (const auto& [name, value] : object.get_object()) {
    if (!value.is_string()) return wrong(in_quotes(key + "." + std::string(name)) + " must be a text");
    auto text = expanded(to_plain_text(value), variables);
    if (!text) return fail(text.error());
    values[std::string(name)] = *std::move(text);
  }
  return values;
}

Result<McpEntry> program_entry(const Json& server, const Variables& variables) {
  McpEntry entry;
  if (!json_at(server, "cwd").is_null())
    return wrong("\"cwd\" is not read; the key folder of the table says where it runs");
  auto program = plain(json_at(server, "command"), "command");
  if (!program) return fail(program.error());
  if (program->empty()) return wrong("\"command\" must name a program");
  entry.command.push_back(*std::move(program));
  const Json& arguments = json_at(server, "args");
  if (!arguments.is_null() && !arguments.is_array()) return wrong("\"args\" must be a list of texts");
  for (const Json& argument : arguments.is_null() ? JsonArray{} : arguments.get_array()) {
    auto text = plain(argument, "args");
    if (!text) return fail(text.error());
    entry.command.push_back(*std::move(text));
  }
  auto environment = values_of(json_at(server, "env"), "env", variables);
  if (!environment) return fail(environment.error());
  entry.environment = *std::move(environment);
  return entry;
}

Result<McpEntry> address_entry(const Json& server, const Variables& variables) {
  McpEntry entry;
  const std::string type = json_string(server, "type", "http");
  if (type != "http" && type != "streamable-http" && type != "streamableHttp")
    return wrong("is reached by " + in_quotes(type) + "; of addresses only \"http\" is known");
  auto url = plain(json_at(server, "url"), "url");
  if (!url) return fail(url.error());
  entry.url = *std::move(url);
  auto headers = values_of(json_at(server, "headers"), "headers", variables);
  if (!headers) return fail(headers.error());
  for (const auto& [name, value] : *headers) {
    if (lower_case(name) != "authorization" || !lower_case(value).starts_with(kBearer))
      return wrong("has the header " + in_quotes(name) + "; only \"Authorization: Bearer ...\" can be sent");
    entry.token = value.substr(kBearer.size());
  }
  return entry;
}

}  // namespace

Result<McpEntry> read_mcp_entry(std::string_view text, const std::string& name, const Variables& variables) {
  const auto file = parse_json(text);
  if (!file) return wrong("is not JSON: " + file.error().message);
  const auto* servers = json_at(*file, kServers).if_object();
  if (servers == nullptr) return wrong("has no object \"mcpServers\"");
  const auto found = servers->find(name);
  if (found == servers->end()) {
    std::vector<std::string> names;
    for (const auto& [known, server] : *servers) names.push_back(in_quotes(std::string(known)));
    return wrong("has no server " + in_quotes(name) + (names.empty() ? "" : "; it has " + joined(names)));
  }
  const Json& server = found->value();
  const bool runs = !json_at(server, "command").is_null();
  if (runs == !json_at(server, "url").is_null())
    return wrong("must give the server " + in_quotes(name) + " either \"command\" or \"url\"");
  auto entry = runs ? program_entry(server, variables) : address_entry(server, variables);
  if (!entry) return wrong("server " + in_quotes(name) + ": " + entry.error().message);
  return entry;
}

}  // namespace praxis::app
