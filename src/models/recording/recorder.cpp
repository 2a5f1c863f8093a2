#include "models/recording/recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <span>
#include <utility>

#include "base/ascii.hpp"
#include "base/file_descriptor.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"
#include "models/recording/split_secrets.hpp"
#include "praxis/json/json.hpp"
#include "redact/redaction.hpp"

namespace praxis {
namespace {

// ---- redaction -----------------------------------------------------------------------------------------

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether the name of a header or parameter says that its value is a secret or identifies the sender.
/// Compares whole words, so that `x-ratelimit-remaining-tokens` does not count as a token.
bool is_private_name(const std::string& lower_case_name) {
  static constexpr std::array<std::string_view, 27> kWords{
      "account", "apikey",  "assertion", "auth",       "authorization", "authentication",
      "bearer",  "cookie",  "cookie2",   "credential", "credentials",   "csrf",
      "jwt",     "key",     "password",  "passwd",     "project",       "organization",
      "secret",  "session", "sig",       "sign",       "signature",     "token",
      "user",    "vault",   "xsrf"};
  static constexpr std::array<std::string_view, 6> kParts{"authorization", "api-key", "apikey",
                                                          "cookie",        "secret",  "password"};
  if (lower_case_name == "user-agent") return false;
  if (std::ranges::any_of(kParts, [&](std::string_view part) { return lower_case_name.contains(part); }))
    return true;
  for (std::string_view rest = lower_case_name; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of("-_."), rest.size());
    if (is_one_of(kWords, rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool is_of_connection(std::string_view header) {
  static constexpr std::array<std::string_view, 6> kOfConnections{
      "connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "host"};
  return is_one_of(kOfConnections, header);
}

/// The name of a parameter without its percent-encoding.
std::string plain_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = name.data() + i + 1;
    const bool encoded = name[i] == '%' && i + 2 < name.size() &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    out += encoded ? static_cast<char>(byte) : name[i];
    if (encoded) i += 2;
  }
  return lower_case(out);
}

/// Masks the values of key parameters in a URL's query.
std::string without_keys(const std::string& url) {
  const std::size_t query = url.find('?');
  if (query == std::string::npos) return url;
  std::string out = url.substr(0, query + 1);
  for (std::size_t at = query + 1; at <= url.size();) {
    const std::size_t end = std::min(url.find_first_of("&;", at), url.size());
    const std::string parameter = url.substr(at, end - at), name = parameter.substr(0, parameter.find('='));
    out += is_private_name(plain_name(name)) ? name + "=[key]" : parameter;
    if (end < url.size()) out += url[end];
    at = end + 1;
  }
  return out;
}

/// Masks `org-` followed by an id, as found in error messages.
std::string without_organisations(std::string text) {
  constexpr std::string_view kPrefix = "org-", kMask = "org-[id]";
  constexpr std::size_t kLeast = 16;
  const auto is_id = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = 0; (at = text.find(kPrefix, at)) != std::string::npos;) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at + kPrefix.size());
    const auto length = static_cast<std::size_t>(std::find_if_not(begin, text.end(), is_id) - begin);
    if (length < kLeast) {
      at += kPrefix.size();
    } else {
      text.replace(at, kPrefix.size() + length, kMask);
      at += kMask.size();
    }
  }
  return text;
}

// ---- the file ------------------------------------------------------------------------------------------

struct RecordedRequest {
  std::string method, url;
  HttpHeaders headers;
  std::shared_ptr<const std::string> body;
};

/// The kind of body, as one word.
std::string_view kind_of(const HttpResponseHead& head, std::string_view body) {
  if (head.status == 0) return "none";
  const std::string type = lower_case(find_header(head.headers, "content-type").value_or(""));
  if (type.contains("event-stream")) return "sse";
  if (type.contains("ndjson")) return "ndjson";
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return first != body.npos && (body[first] == '{' || body[first] == '[') ? "json" : "text";
}

/// A cassette being written. Thread-safe.
class Cassette {
 public:
  Cassette(FileDescriptor descriptor, std::string file, RecordingPrivacy privacy)
      : descriptor_(std::move(descriptor)),
        fd_(descriptor_.get()),
        file_(std::move(file)),
        keys_(std::make_shared<const Redactor>(privacy.secrets)),
        // Without a key: the recording of a request that is sent again is the same.
        redaction_(redact::redaction(RedactLevel::kBalanced, false, keys_, {})),
        private_headers_(std::move(privacy.headers)) {
    for (std::string& name : private_headers_) name = lower_case(name);
  }

  Status append(const RecordedRequest& request, const HttpResponseHead& head, std::string_view body) {
    const std::string_view kind = kind_of(head, body);
    Json sent = nullptr;
    if (request.body) {
      const std::string text = without_organisations(keys_->without_cut_secrets(*request.body));
      auto json = parse_json(text);
      sent = json ? *std::move(json) : Json(text);
      redaction_.redact(sent);
    }
    JsonObject exchange{{"i", nullptr},
                        {"request", JsonObject{{"method", request.method},
                                               {"url", masked(without_keys(request.url))},
                                               {"headers", headers(request.headers)},
                                               {"body", std::move(sent)}}},
                        {"response", JsonObject{{"status", head.status},
                                                {"headers", headers(head.headers)},
                                                {"kind", kind},
                                                {"body", body_of(body, kind)}}}};
    const std::lock_guard lock(mutex_);
    exchange["i"] = count_lines();
    return write_line(to_json_text(exchange) + '\n');
  }

 private:
  std::string masked(std::string text) const {
    return without_organisations(redaction_.text(std::move(text)));
  }

  /// The body of a response. A stream brings secrets in pieces.
  std::string body_of(std::string_view body, std::string_view kind) const {
    std::string text(body);
    if (kind == "sse" || kind == "ndjson") {
      text = keys_->without_cut_secrets(without_secrets_across_lines(text, redaction_));
    } else {
      text = kind == "json" ? redaction_.json_text(keys_->without_cut_secrets(std::move(text)))
                            : redaction_.text(std::move(text));
    }
    return without_organisations(std::move(text));
  }

  JsonObject headers(const HttpHeaders& headers) const {
    JsonObject out;
    for (const auto& [name, value] : headers) {
      const std::string key = lower_case(name);
      if (is_of_connection(key) || is_private_name(key) ||
          std::ranges::find(private_headers_, key) != private_headers_.end())
        continue;
      out.emplace(key, masked(value));
    }
    return out;
  }

  off_t size() const {
    struct stat info{};
    return fstat(fd_, &info) == 0 ? info.st_size : 0;
  }

  /// Recounts the lines, because another process may have appended some.
  std::int64_t count_lines() {
    const off_t end = size();
    std::array<char, 64 * 1024> block;
    while (counted_ < end) {
      const ssize_t got = pread(fd_, block.data(), block.size(), counted_);
      if (got <= 0) break;
      lines_ += std::count(block.begin(), block.begin() + got, '\n');
      counted_ += got;
    }
    return lines_;
  }

  /// Writes the whole line or, as far as the file system permits, nothing.
  Status write_line(std::string_view line) {
    const off_t before = size();
    const int error = write_all(fd_, line);
    if (error == 0) return {};
    const bool undone = ftruncate(fd_, before) == 0;
    return fail(ErrorCode::kJournal, "cannot record to \"" + file_ + "\": " + std::strerror(error) +
                                         (undone ? "" : "; the last line of the file is incomplete"));
  }

  const FileDescriptor descriptor_;
  const int fd_;
  const std::string file_;
  const std::shared_ptr<const Redactor> keys_;
  const redact::Redaction redaction_;
  std::vector<std::string> private_headers_;  ///< in lower case
  std::mutex mutex_;
  off_t counted_ = 0;
  std::int64_t lines_ = 0;
};

// ---- the client ----------------------------------------------------------------------------------------

class RecordingSink final : public HttpSink {
 public:
  RecordingSink(std::shared_ptr<Cassette> cassette, RecordedRequest request, std::shared_ptr<HttpSink> sink)
      : cassette_(std::move(cassette)), request_(std::move(request)), sink_(std::move(sink)) {}

  void on_head(const HttpResponseHead& head) override {
    head_ = head;
    sink_->on_head(head);
  }
  void on_body(std::string_view bytes) override {
    body_ += bytes;
    sink_->on_body(bytes);
  }
  void on_done(Status status) override {
    const bool cancelled = !status && status.error().code == ErrorCode::kCancelled;
    const Status written = cancelled ? Status() : cassette_->append(request_, head_, body_);
    if (!written) status = fail(written.error());
    request_.body.reset();  // release the buffer: the request writer reuses it
    sink_->on_done(std::move(status));
  }

 private:
  const std::shared_ptr<Cassette> cassette_;
  RecordedRequest request_;
  const std::shared_ptr<HttpSink> sink_;
  HttpResponseHead head_;
  std::string body_;
};

class RecordingClient final : public HttpClient {
 public:
  RecordingClient(std::shared_ptr<HttpClient> http, std::shared_ptr<Cassette> cassette)
      : http_(std::move(http)), cassette_(std::move(cassette)) {}

  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token stop) override {
    RecordedRequest recorded{request.method, request.url, request.headers, request.body};
    auto recording = std::make_shared<RecordingSink>(cassette_, std::move(recorded), std::move(sink));
    http_->send(std::move(request), std::move(recording), std::move(stop));
  }

 private:
  const std::shared_ptr<HttpClient> http_;
  const std::shared_ptr<Cassette> cassette_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> recording_client(std::shared_ptr<HttpClient> http,
                                                     const std::string& folder, RecordingPrivacy privacy) {
  if (const int error = make_private_folders(folder); error != 0) {
    return fail(ErrorCode::kInput, "cannot create the cassette \"" + folder + "\": " + std::strerror(error));
  }
  const std::string file = (std::filesystem::path(folder) / kExchangesFile).string();
  // A link that another program put there would lead the recording elsewhere.
  FileDescriptor descriptor(
      open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  const int error = errno;
  struct stat about{};
  if (descriptor.get() < 0) {
    return fail(ErrorCode::kInput, "cannot write \"" + file + "\": " +
                                       (error == ELOOP ? "it is a symbolic link" : std::strerror(error)));
  }
  if (fstat(descriptor.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return fail(ErrorCode::kInput, "cannot write \"" + file + "\": it is not a regular file");
  keep_own_rights(descriptor.get());
  return std::make_shared<RecordingClient>(
      std::move(http), std::make_shared<Cassette>(std::move(descriptor), file, std::move(privacy)));
}

}  // namespace praxis
