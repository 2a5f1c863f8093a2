// Payloads of runs, by their digest.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "praxis/base/utf8.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

/// What the bytes are, for types that cannot run code where they are shown.
std::string_view media_type_of(std::string_view bytes) {
  struct Mark {
    std::string_view type, start;
    std::size_t at = 0;
  };
  static constexpr std::array kMarks{Mark{"image/png", "\x89PNG\r\n\x1a\n"},
                                     Mark{"image/jpeg", "\xff\xd8\xff"}, Mark{"image/gif", "GIF8"},
                                     Mark{"image/webp", "WEBPVP8", 8}, Mark{"application/pdf", "%PDF-"}};
  for (const Mark& mark : kMarks) {
    if (bytes.size() > mark.at && bytes.substr(mark.at).starts_with(mark.start)) return mark.type;
  }
  return is_valid_utf8(bytes) && !bytes.contains('\0') ? "text/plain; charset=utf-8"
                                                       : "application/octet-stream";
}

/// A run that the principal may see and that names the blob; empty: no such run.
Result<SessionId> named_by(Service& service, const Principal& principal, const Digest& digest) {
  auto rows = service.journal->sessions();
  if (!rows) return fail(rows.error());
  std::ranges::sort(*rows, std::ranges::greater{}, &SessionRow::updated);
  for (const SessionRow& row : *rows) {
    if (row.entries == 0 || !service.runs->may_see(principal, service.runs->lineages().root_of(row.id)))
      continue;
    const auto named = service.references->names(row.id, digest);
    if (named && *named) return row.id;  // a damaged log names nothing
  }
  return SessionId();
}

/// A part of a payload.
struct ByteRange {
  std::size_t first = 0, size = 0;
};

/// What a client wants of a payload.
struct WantedBytes {
  std::optional<ByteRange> part = {};  ///< nothing: all of it, also for several ranges (RFC 9110, 14.2)
  bool is_unsatisfiable = false;       ///< there are no such bytes
};
WantedBytes wanted_part(const Call& call, const std::string& tag, std::size_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const std::string_view range = find_header(call.headers, "range").value_or("");
  const std::string_view condition = find_header(call.headers, "if-range").value_or(tag);
  if (!range.starts_with(kUnit) || condition != tag) return {};
  const std::string_view text = range.substr(kUnit.size());
  const std::size_t dash = text.find('-');
  if (dash == text.npos || text.contains(',')) return {};
  const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto first = number(text.substr(0, dash)), last = number(text.substr(dash + 1));
  if (dash == 0 && last) {
    const std::size_t wanted = std::min(*last, size);
    return {ByteRange{size - wanted, wanted}, wanted == 0};
  }
  const bool is_open = dash + 1 == text.size();
  if (!first || (!is_open && !last) || (last && *last < *first)) return {};
  if (*first >= size) return {std::nullopt, true};
  return {ByteRange{*first, std::min(last.value_or(size - 1), size - 1) - *first + 1}, false};
}

bool has_tag(const Call& call, const std::string& tag) {
  const std::string_view known = find_header(call.headers, "if-none-match").value_or("");
  return known == "*" || known.contains(tag);
}

}  // namespace

Result<HttpAnswer> show_blob(Service& service, const Call& call) {
  const std::string& name = call.name("digest");
  const auto digest = Digest::from_hex(name);
  if (!digest || digest->hex() != name) return fail(not_found("blob", name));
  auto bytes = service.journal->blob(*digest);  // first: no log is read for a digest that no run names
  if (!bytes && bytes.error().kind() == ErrorKind::kNotFound) return fail(not_found("blob", name));
  const auto run = named_by(service, call.principal, *digest);
  if (!run) return fail(run.error());
  if (run->empty()) return fail(not_found("blob", name));
  if (!bytes) return fail(bytes.error());
  if (is_valid_utf8(*bytes)) bytes = filters_of_shown(service, *run).text(*std::move(bytes));
  const std::string tag = "\"" + digest_of(*bytes).hex() + "\"";
  HttpAnswer answer{200,
                    {{"Content-Type", std::string(media_type_of(*bytes))},
                     {"Content-Disposition", "attachment; filename=\"" + name + "\""},
                     {"Content-Security-Policy", "sandbox; default-src 'none'"},
                     {"Cross-Origin-Resource-Policy", "same-origin"},
                     {"Cache-Control", "private, max-age=31536000, immutable"},
                     {"Accept-Ranges", "bytes"},
                     {"ETag", tag}},
                    ""};
  if (has_tag(call, tag)) {
    answer.status = 304;
    return answer;
  }
  const std::string size = std::to_string(bytes->size());
  const auto [part, is_unsatisfiable] = wanted_part(call, tag, bytes->size());
  if (is_unsatisfiable) {
    answer = problem(416, field_error("Range", "must lie within " + size + " bytes"));
    answer.headers.emplace_back("Content-Range", "bytes */" + size);
  } else if (part) {
    answer.status = 206;
    answer.headers.emplace_back("Content-Range", "bytes " + std::to_string(part->first) + "-" +
                                                     std::to_string(part->first + part->size - 1) + "/" +
                                                     size);
    answer.body = bytes->substr(part->first, part->size);
  } else {
    answer.body = *std::move(bytes);
  }
  return answer;
}

}  // namespace praxis::server
