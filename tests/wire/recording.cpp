#include "wire/recording.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace praxis::wire {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits kLimits{.max_depth = 256, .max_bytes = std::size_t{256} * 1024 * 1024};

std::string text_or_json(const Json& value) {
  if (value.is_null()) return {};
  const auto* text = value.if_string();
  return text != nullptr ? std::string(*text) : to_json_text(value);
}

HttpHeaders headers_of(const Json& json) {
  HttpHeaders headers;
  const JsonObject* members = json.if_object();
  if (members == nullptr) return headers;
  for (const auto& [name, value] : *members) {
    const JsonArray* several = value.if_array();
    headers.emplace_back(name,
                         text_or_json(several == nullptr || several->empty() ? value : several->front()));
  }
  return headers;
}

std::string kind_of(const Json& response, const RecordedResponse& read) {
  if (std::string kind = json_string(response, "kind"); !kind.empty()) return kind;
  const auto type = find_header(read.head.headers, "content-type").value_or("");
  if (type.contains("event-stream") || read.body.starts_with("data:") || read.body.starts_with("event:"))
    return "sse";
  return type.contains("ndjson") ? "ndjson" : "json";
}

Exchange exchange_of(const Json& json, std::int64_t number) {
  Exchange out;
  out.i = json_int(json, "i", number);
  const Json& request = json_at(json, "request");
  out.request.url = json_string(request, "url");
  out.request.body = json_at(request, "body");
  const Json& response = json_at(json, "response");
  out.response.head.status =
      static_cast<int>(std::clamp<std::int64_t>(json_int(response, "status", 200), 0, 999));
  out.response.head.headers = headers_of(json_at(response, "headers"));
  out.response.body = text_or_json(json_at(response, "body"));
  out.response.kind = kind_of(response, out.response);
  return out;
}

}  // namespace

fs::path absolute_path(const fs::path& folder) {
  const fs::path normal = fs::absolute(folder).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::vector<fs::path> find_cases(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  if (fs::exists(folder / "exchanges.jsonl", error)) found.push_back(folder);
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().filename() == "exchanges.jsonl" && it.depth() > 0)
      found.push_back(it->path().parent_path());
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<Json>> read_json_lines(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return fail(ErrorCode::kInput, "cannot read " + file.string());
  std::vector<Json> lines;
  std::size_t number = 1;
  for (std::string_view rest = text; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto json = parse_json(line, kLimits);
    if (!json || !json->is_object()) {
      return fail(ErrorCode::kInput, file.string() + ", line " + std::to_string(number) + ": " +
                                         (json ? "no object" : json.error().message));
    }
    lines.push_back(*std::move(json));
  }
  return lines;
}

Result<Case> read_case(const fs::path& folder) {
  const auto lines = read_json_lines(folder / "exchanges.jsonl");
  if (!lines) return fail(lines.error());
  Case out{absolute_path(folder), {}};
  for (const Json& line : *lines) {
    out.exchanges.push_back(exchange_of(line, static_cast<std::int64_t>(out.exchanges.size())));
  }
  return out;
}

}  // namespace praxis::wire
