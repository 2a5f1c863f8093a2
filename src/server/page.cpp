#include "server/page.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/json/json.hpp"
#include "server/page_pack.hpp"
#include "server/problem.hpp"
#include "server/split.hpp"

namespace praxis::server {
namespace {

constexpr std::array<std::string_view, 2> kEncodings{"br", "gzip"};  // the best one first

/// No script, style, image or connection from elsewhere, nothing inline, no frames, and no HTML from text.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'; trusted-types 'none'";

constexpr std::string_view kWithoutPage =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Praxis</title></head>\n"
    "<body><h1>Praxis is running</h1>\n"
    "<p>This program was built without the page. To get it, install Node.js and npm, and run "
    "<code>make page</code> in the source folder, then start <code>build/run/praxis serve</code>.</p>\n"
    "<p>The API works without it: <a href=\"/api/v1/openapi.json\">its description</a>.</p>\n"
    "</body></html>\n";

/// Whether the value of `Accept-Encoding` names an encoding and does not refuse it with `q=0`.
bool accepts(std::string_view value, std::string_view encoding) {
  bool found = false;
  split(value, ',', [&](std::string_view part) {
    std::string text = lower_case(part);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
    const std::size_t end = std::min(text.find(';'), text.size());
    if (std::string_view(text).substr(0, end) != encoding) return;
    const std::string_view weight = std::string_view(text).substr(end);
    found = !weight.starts_with(";q=0") || weight.find_first_of("123456789") != weight.npos;
  });
  return found;
}

HttpHeaders page_headers(std::string_view type) {
  return {{"Content-Type", std::string(type)},
          {"Content-Security-Policy", std::string(kContentPolicy)},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"}};
}

}  // namespace

Page::Page(std::string_view pack) {
  const std::size_t line = pack.find('\n');
  if (line == pack.npos) return;
  const std::string_view bytes = pack.substr(line + 1);
  const auto index = parse_json(pack.substr(0, line));
  const Json* list = index && index->is_object() ? index->get_object().if_contains("files") : nullptr;
  if (list == nullptr || !list->is_array()) return;
  for (const Json& each : list->get_array()) {
    File file{
        json_string(each, "type"), json_string(each, "etag"), json_string(each, "cache") == "immutable", {}};
    for (const std::string_view encoding : {kEncodings[0], kEncodings[1], std::string_view("identity")}) {
      const Json& part = json_at(json_at(each, "bodies"), encoding);
      const std::int64_t begin = json_int(part, "begin", -1), size = json_int(part, "size", -1);
      if (begin < 0 || size < 0 || static_cast<std::size_t>(begin) > bytes.size() ||
          static_cast<std::size_t>(size) > bytes.size() - static_cast<std::size_t>(begin))
        continue;
      file.bodies.emplace(encoding,
                          bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)));
    }
    if (file.bodies.contains("identity")) files_.emplace(json_string(each, "path"), std::move(file));
  }
}

Result<HttpAnswer> Page::answer(const std::string& path, const HttpHeaders& headers) const {
  const auto found = files_.find(path);
  if (found == files_.end()) {
    if (path != "/") return fail(not_found("file", path));
    return HttpAnswer{200, page_headers("text/html; charset=utf-8"), std::string(kWithoutPage)};
  }
  const File& file = found->second;
  const std::string_view accepted = find_header(headers, "accept-encoding").value_or("");
  const auto* const best = std::ranges::find_if(kEncodings, [&](std::string_view encoding) {
    return file.bodies.contains(encoding) && accepts(accepted, encoding);
  });
  const std::string_view encoding = best == kEncodings.end() ? "identity" : *best;
  const std::string etag = "\"" + file.etag + "-" + std::string(encoding) + "\"";
  HttpAnswer answer{200, page_headers(file.type), ""};
  answer.headers.emplace_back("ETag", etag);
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  answer.headers.emplace_back("Cache-Control",
                              file.is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (find_header(headers, "if-none-match").value_or("").contains(etag)) {
    answer.status = 304;
    return answer;
  }
  if (encoding != "identity") answer.headers.emplace_back("Content-Encoding", std::string(encoding));
  answer.body = file.bodies.find(encoding)->second;
  return answer;
}

std::string_view Page::text(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? std::string_view() : found->second.bodies.find("identity")->second;
}

const Page& built_in_page() {
  static const Page page(page_pack());
  return page;
}

}  // namespace praxis::server
