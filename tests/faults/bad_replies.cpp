#include "bad_replies.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "praxis/json/json.hpp"
#include "reply_parts.hpp"

namespace praxis::faults::endpoint {
namespace {

using End = Reply::End;
using std::chrono::microseconds;

std::string joined(const std::vector<std::string>& events) {
  std::string body;
  for (const std::string& event : events) body += event;
  return body;
}

// ---- harmless

/// The good reply in many small writes.
Reply drip(const Scene& scene, Random& random) {
  Reply reply = good_reply(scene, random);
  const std::string bytes = std::exchange(reply.pieces, {}).front();
  const std::size_t most = random.once_in(4) ? 1 : 1 + random.below(64);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = at > 1200 ? bytes.size() - at : 1 + random.below(most);
    reply.pieces.push_back(bytes.substr(at, size));
    at += reply.pieces.back().size();
  }
  if (random.once_in(10)) reply.pause = microseconds(20);
  return reply;
}

std::string unknown_event(std::string_view protocol, Random& random) {
  const bool lines = protocol == "ollama";
  switch (random.below(lines ? 1 : 5)) {
    case 0:
      return "\n";
    case 1:
      return ": keep-alive\n\n";
    case 2:
      return "retry: 1000\nid: 7\n\n";
    case 3:
      return "event: shiny\ndata: {\"type\":\"shiny\",\"shiny\":{\"deep\":[1,null]}}\n\n";
    default:
      return "event: ping\ndata: {\"type\":\"ping\"}\n\n";
  }
}

Reply noise(const Scene& scene, Random& random) {
  std::string body;
  if (!scene.stream) return good_reply(scene, random);
  for (const std::string& event : scene.good.events) {
    while (random.once_in(2)) body += unknown_event(scene.protocol, random);
    body += event;
  }
  return whole_reply(body, scene.good.content_type, random);
}

Reply other_line_ends(const Scene& scene, Random& random) {
  std::string body = random.once_in(2) ? "\xEF\xBB\xBF" : "";
  for (const char c : scene.good.body()) body += c == '\n' ? "\r\n" : std::string(1, c);
  return whole_reply(body, scene.good.content_type, random);
}

Reply wrong_type(const Scene& scene, Random& random) {
  static const std::string kTypes[] = {
      "text/html", "application/json", "text/event-stream; charset=utf-16", "image/png",
      "",          "nonsense",         "application/octet-stream"};
  return whole_reply(scene.good.body(), one_of(kTypes, random), random);
}

Reply other_shape(const Scene& scene, Random& random) {
  return whole_reply(scene.other_shape.body(), scene.other_shape.content_type, random);
}

Reply early_hints(const Scene& scene, Random& random) {
  Reply reply = good_reply(scene, random);
  static const std::string kBefore[] = {"HTTP/1.1 100 Continue\r\n\r\n",
                                        "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n",
                                        "HTTP/1.1 102 Processing\r\n\r\n"};
  for (std::uint64_t n = random.below(4); n > 0; --n) reply.pieces.front().insert(0, one_of(kBefore, random));
  return reply;
}

// ---- cut off

Reply broken(Reply reply, Random& random) {
  static const End kEnds[] = {End::kClose, End::kReset};
  reply.end = one_of(kEnds, random);
  return reply;
}

Reply cut_head(const Scene& scene, Random& random) {
  const std::string head = head_of(any_framing(random), 100, scene.good.content_type);
  return broken(ends_badly({.pieces = {head.substr(0, random.below(head.size() - 1))}}, {"network"}), random);
}

/// The head and the first bytes of the body.
Reply beginning(const Scene& scene, Framing framing, std::size_t size, Random& random) {
  const std::string body = scene.good.body();
  Reply reply{.pieces = {head_of(framing, body.size(), scene.good.content_type) +
                         framed(framing, std::string_view(body).substr(0, size), random)}};
  reply.hope = scene.stream && size >= scene.good.complete_at() ? Hope::kEither : Hope::kBadly;
  return reply;
}

/// Returns a length shorter than the body: half of the time between two events, where a cut is hardest to
/// notice.
std::size_t cut_at(const Scene& scene, Random& random) {
  if (random.once_in(2)) return random.below(scene.good.body().size());
  std::size_t size = 0;
  for (std::uint64_t events = random.below(scene.good.events.size()); events > 0; --events) {
    size += scene.good.events[events - 1].size();
  }
  return size - std::min<std::size_t>(size, random.below(3));
}

Reply cut_body(const Scene& scene, Random& random) {
  const Framing framing = any_framing(random);
  Reply reply = broken(beginning(scene, framing, cut_at(scene, random), random), random);
  reply.kinds = {"truncated_stream"};
  // JSON that ends in order but too early may also count as a protocol error.
  if (framing == Framing::kUntilClose) reply.kinds.emplace_back("protocol");
  return reply;
}

Reply silent_body(const Scene& scene, Random& random) {
  Reply reply = beginning(scene, any_framing(random), cut_at(scene, random), random);
  reply.end = End::kSilence;
  reply.kinds = {"timeout"};
  return reply;
}

Reply silent_head(const Scene& scene, Random& random) {
  const std::string head = head_of(any_framing(random), 100, scene.good.content_type);
  return ends_badly({.pieces = {head.substr(0, random.below(head.size() - 1))}, .end = End::kSilence},
                    {"timeout"});
}

Reply refused(const Scene&, Random&) { return ends_badly({}, {"network"}); }

// ---- not HTTP

Reply too_long(const Scene& scene, Random& random) {
  const std::string body = scene.good.body();
  Reply reply{
      .pieces = {head_of(Framing::kLength, body.size() + 1 + random.below(1000), scene.good.content_type) +
                 body}};
  reply.hope = scene.stream ? Hope::kEither : Hope::kBadly;
  reply.kinds = {"truncated_stream"};
  return broken(std::move(reply), random);
}

/// Sends the rest of the body where the next response should be.
Reply too_short(const Scene& scene, Random& random) {
  const std::string body = scene.good.body();
  const std::size_t size = cut_at(scene, random);
  Reply reply{.pieces = {head_of(Framing::kLength, size, scene.good.content_type) + body}};
  reply.hope = scene.stream && size >= scene.good.complete_at() ? Hope::kEither : Hope::kBadly;
  reply.kinds = {"truncated_stream", "protocol"};
  return reply;
}

/// A good answer followed by another that answers no request.
Reply second_answer(const Scene& scene, Random& random) {
  Reply reply{.pieces = {head_of(Framing::kLength, scene.good.body().size(), scene.good.content_type) +
                         scene.good.body()}};
  if (random.once_in(2)) {
    reply.pieces.front() += scene.poison;
  } else {
    reply.pieces.push_back(scene.poison);  // possibly when the connection is idle already
  }
  return reply;
}

Reply bad_chunks(const Scene& scene, Random& random) {
  static const std::string kNonsense[] = {
      "xyz\r\nabc\r\n",           "-5\r\nhello\r\n",
      "FFFFFFFFFFFFFFFFF\r\nabc", "5hello\r\n",
      "3\r\nabcdefgh\r\n",        "\r\n\r\n",
      "7FFFFFFFFFFFFFFF\r\nabc",  "5;" + std::string(70'000, 'x') + "\r\n"};
  const std::string body = scene.good.body();
  const std::size_t size = cut_at(scene, random);
  Reply reply = beginning(scene, Framing::kChunked, size, random);
  reply.pieces.front() += one_of(kNonsense, random);
  reply.kinds = {"protocol", "truncated_stream"};
  reply.end = End::kClose;
  return reply;
}

Reply bad_head(const Scene& scene, Random& random) {
  static const std::string kHeads[] = {
      "HTTP/1.1 abc OK\r\n\r\n",
      "HTTP/9.9 200 OK\r\n\r\n",
      "HTTP/1.1\r\n\r\n",
      "ICY 200 OK\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      std::string("\x15\x03\x03\x00\x02\x02\x46", 7),
      "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
      "HTTP/1.1 200 OK\r\nbad name : x\r\n\r\n",
      std::string("HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n", 28),
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
      "HTTP/1.1 99 Low\r\n\r\n",
      "HTTP/1.1 1000 High\r\n\r\n"};
  return ends_badly({.pieces = {one_of(kHeads, random) + scene.good.body()}, .end = End::kClose},
                    {"protocol", "network", "truncated_stream"});
}

Reply endless_head(const Scene&, Random& random) {
  static const std::string kAgain[] = {std::string(1024, 'h'),
                                       "x-" + std::string(500, 'h') + ": " + std::string(500, 'v') + "\r\n",
                                       "a: b\r\n", "HTTP/1.1 100 Continue\r\n\r\n"};
  const std::size_t which = random.below(4);
  return ends_badly({.pieces = {which == 3 ? "" : "HTTP/1.1 200 OK\r\nx-first: "},
                     .end = End::kEndless,
                     .again = kAgain[which]},
                    {"protocol"});
}

// ---- statuses

constexpr int kStatuses[] = {300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408,
                             409, 413, 418, 422, 425, 429, 429, 429, 429, 429, 451, 499, 500,
                             501, 502, 503, 503, 504, 520, 529, 599, 600, 799, 999};

std::string_view kind_of(int status) {
  constexpr std::pair<int, std::string_view> kKinds[] = {{401, "auth"},
                                                         {402, "billing"},
                                                         {403, "auth"},
                                                         {404, "not_found"},
                                                         {408, "timeout"},
                                                         {409, "server"},
                                                         {413, "context_overflow"},
                                                         {429, "rate_limit"},
                                                         {503, "overloaded"},
                                                         {529, "overloaded"}};
  for (const auto& [number, kind] : kKinds) {
    if (number == status) return kind;
  }
  return status >= 500 ? "server" : status >= 400 ? "invalid_request" : "protocol";
}

std::string retry_headers(Random& random) {
  static const std::string kHeaders[] = {
      "retry-after: 0",
      "retry-after: 1",
      "Retry-After: 0.02",
      "retry-after: 59",
      "retry-after: 60",
      "retry-after: 61",
      "retry-after: 86400",
      "retry-after: -1",
      "retry-after: nan",
      "retry-after: -inf",
      "retry-after: inf",
      "retry-after: 1e300",
      "retry-after: 9223372036854775808",
      "retry-after: soon",
      "retry-after: ",
      "retry-after:  2 ",
      "retry-after-ms: 5",
      "retry-after-ms: 1e18",
      "retry-after-ms: nan",
      "retry-after: Sun, 06 Nov 1994 08:49:37 GMT",
      "date: Sun, 06 Nov 1994 08:49:30 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT",
      "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:30 GMT",
      "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 9994 08:49:30 GMT",
      "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1s",
      "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: nan",
      "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1e300",
      "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: -1e300",
      "x-should-retry: true",
      "x-should-retry: false",
      "x-should-retry: maybe"};
  std::string headers;
  for (std::uint64_t n = random.below(3); n > 0; --n) headers += one_of(kHeaders, random) + "\r\n";
  return headers;
}

/// The body of an error; its text must not change the kind of error.
std::string error_body(const Scene& scene, Random& random) {
  // Texts are kept up to 200, 2000, 4000 and 65536 bytes: also place the key across such a bound.
  constexpr std::size_t kBounds[] = {0, 200, 2000, 4000, 65'536};
  const std::size_t bound = one_of(kBounds, random);
  const std::string before(bound - std::min<std::size_t>(bound, random.below(scene.key.size() + 40)), 'w');
  const std::string said = before + scene.key + " is what you sent";
  switch (random.below(6)) {
    case 0:
      return {};
    case 1:
      return "<html>" + said + "</html>";
    case 2:
      return to_json_text(
          JsonObject{{"error", JsonObject{{"message", said}, {"type", said}, {"code", said}}}});
    case 3:
      return to_json_text(JsonObject{{"message", said}, {"detail", JsonArray{JsonObject{{"msg", said}}}}});
    case 4:
      return to_json_text(JsonObject{{"error", JsonObject{{"message", "no"}, {"code", JsonArray{said}}}}});
    default:
      return "{\"error\": {\"message\": \"" + said;
  }
}

Reply status(const Scene& scene, Random& random) {
  const int code = one_of(kStatuses, random);
  const std::string body = error_body(scene, random);
  std::string bytes = "HTTP/1.1 " + std::to_string(code) + " Reply\r\n" + retry_headers(random);
  if (random.once_in(4)) bytes += "x-request-id: " + scene.key + "\r\n";
  if (code / 100 == 3) bytes += "Location: /elsewhere\r\n";
  bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  if (code != 304) bytes += body;  // 304 has no body, regardless of its headers
  return ends_badly({.pieces = {std::move(bytes)}}, {kind_of(code)});
}

/// An error after the beginning of a good answer, if that is streamed.
Reply late_error(const Scene& scene, Random& random) {
  static const std::pair<std::string, std::string_view> kErrors[] = {
      {"overloaded_error", "overloaded"}, {"rate_limit_exceeded", "rate_limit"}, {"server_error", "server"}};
  const auto& [type, kind] = one_of(kErrors, random);
  const Json error =
      JsonObject{{"type", "error"}, {"error", JsonObject{{"type", type}, {"message", "sorry " + scene.key}}}};
  std::string body;
  if (scene.stream) {
    const std::size_t events = random.below(scene.good.last + 1);
    for (std::size_t i = 0; i < events; ++i) body += scene.good.events[i];
    if (scene.protocol != "ollama") body += "event: error\ndata: ";
  }
  body += to_json_text(error) + (scene.stream ? "\n\n" : "");
  return ends_badly(whole_reply(body, scene.good.content_type, random), {kind});
}

// ---- nonsense

Reply nonsense(const Scene& scene, Random& random) {
  static const std::string kBodies[] = {
      "",
      "null",
      "[]",
      "[[[[[[",
      "{}",
      "{\"a\":",
      "42",
      "\"text\"",
      "just words",
      "<!doctype html><title>Sign in</title>",
      "data: nonsense\n\n",
      "data: [1,2,\n\ndata: {\"x\":1}\n\n",
      "data: [DONE]\n\n",
      "event: nothing\n\n",
      "\xFF\xFE\x00\x01",
      std::string("\0\0\0\0", 4),
      "{\"choices\":[],\"candidates\":[],\"content\":[],\"output\":[],\"message\":null}",
      "{\"choices\":[null],\"candidates\":[7],\"content\":\"x\",\"output\":{},\"message\":[]}",
      std::string(5000, '['),
      std::string(5000, '{'),
      "\x1F\x8B\x08" + std::string(200, '\xA7')};
  const std::string& body = one_of(kBodies, random);
  return ends_badly(whole_reply(body, scene.good.content_type, random,
                                body.starts_with('\x1F') ? "Content-Encoding: gzip\r\n" : ""),
                    {"protocol", "truncated_stream", "server"});
}

Reply foreign(const Scene& scene, Random& random) {
  return ends_badly(whole_reply(scene.foreign.body(), scene.foreign.content_type, random),
                    {"protocol", "truncated_stream", "server"});
}

/// A line or a body that never ends, sent as fast as the client reads.
Reply endless_body(const Scene& scene, Random& random) {
  const bool line = random.once_in(2);
  std::string first = head_of(Framing::kUntilClose, 0, scene.good.content_type);
  if (line) first += scene.stream && scene.protocol != "ollama" ? "data: {\"" : "{\"";
  return ends_badly({.pieces = {std::move(first)},
                     .end = End::kEndless,
                     .again = line ? std::string(64 * 1024, 'x') : std::string(32 * 1024, '\n')},
                    {"protocol"});
}

/// Keep-alive messages and nothing else.
Reply only_pings(const Scene& scene, Random&) {
  return {.pieces = {head_of(Framing::kUntilClose, 0, scene.good.content_type)},
          .end = End::kEndless,
          .again = scene.stream && scene.protocol != "ollama" ? ": ping\n\n" : "\n",
          .pause = microseconds(500),
          .hope = Hope::kBadly};
}

// ---- damaged events

/// Events lost, duplicated, swapped, or with a changed byte.
Reply damaged(const Scene& scene, Random& random) {
  std::vector<std::string> events = scene.good.events;
  const std::size_t at = random.below(events.size()), other = random.below(events.size());
  switch (random.below(6)) {
    case 0:
      events.erase(events.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), events[at]);
      break;
    case 2:
      std::swap(events[at], events[other]);
      break;
    case 3:
      events[at][random.below(events[at].size())] = static_cast<char>(random.below(256));
      break;
    case 4:
      events[at].insert(random.below(events[at].size()), random.once_in(2) ? "\xC3" : "\xED\xA0\x80");
      break;
    default:
      events[at].erase(random.below(events[at].size()));
  }
  Reply reply = whole_reply(joined(events), scene.good.content_type, random);
  reply.hope = Hope::kAnything;
  return reply;
}

}  // namespace

Reply good_reply(const Scene& scene, Random& random) {
  return whole_reply(scene.good.body(), scene.good.content_type, random);
}

const std::vector<Misdeed>& misdeeds() {
  static const std::vector<Misdeed> kAll{
      {"drip", 12, drip},
      {"noise", 30, noise},
      {"other_line_ends", 15, other_line_ends},
      {"wrong_type", 15, wrong_type},
      {"other_shape", 15, other_shape},
      {"early_hints", 15, early_hints},
      {"cut_head", 60, cut_head},
      {"cut_body", 250, cut_body},
      {"silent_head", 8, silent_head, true},
      {"silent_body", 12, silent_body, true},
      {"refused", 30, refused, false, true},
      {"too_long", 40, too_long},
      {"too_short", 60, too_short},
      {"second_answer", 30, second_answer, false, false, true},
      {"bad_chunks", 50, bad_chunks},
      {"bad_head", 60, bad_head},
      {"endless_head", 15, endless_head},
      {"status", 250, status},
      {"late_error", 60, late_error},
      {"nonsense", 80, nonsense},
      {"foreign", 30, foreign},
      {"endless_body", 1, endless_body},
      {"only_pings", 2, only_pings, false, false, false, true},
      {"damaged", 150, damaged},
  };
  return kAll;
}

const Misdeed& any_misdeed(Random& random) {
  static const std::uint64_t kTotal = [] {
    std::uint64_t total = 0;
    for (const Misdeed& misdeed : misdeeds()) total += misdeed.weight;
    return total;
  }();
  std::uint64_t draw = random.below(kTotal);
  for (const Misdeed& misdeed : misdeeds()) {
    if (draw < misdeed.weight) return misdeed;
    draw -= misdeed.weight;
  }
  return misdeeds().back();
}

}  // namespace praxis::faults::endpoint
