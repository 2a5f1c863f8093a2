#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "praxis/json/json.hpp"
#include "praxis/memory/embedder.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxWaitMs = 30'000;

bool wait_until_stopped(std::size_t milliseconds, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::milliseconds(milliseconds), [] { return false; });
  return !stop.stop_requested();
}

class HttpEmbedder final : public Embedder {
 public:
  HttpEmbedder(std::shared_ptr<HttpClient> client, HttpEmbedderOptions options)
      : client_(std::move(client)), options_(std::move(options)) {
    while (options_.base_url.ends_with('/')) options_.base_url.pop_back();
    options_.batch = std::max<std::size_t>(options_.batch, 1);
    if (!options_.wait) options_.wait = &wait_until_stopped;
    name_ = options_.base_url + ' ' + options_.model;
    if (options_.dimensions > 0) name_ += ' ' + std::to_string(options_.dimensions);
  }

  const std::string& name() const override { return name_; }

  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                std::stop_token stop) override {
    std::vector<std::vector<float>> vectors;
    while (vectors.size() < texts.size()) {
      const auto rest = texts.subspan(vectors.size());
      auto some = embed_batch(rest.first(std::min(rest.size(), options_.batch)), stop);
      if (!some) return some;
      for (auto& vector : *some) {
        if (!vectors.empty() && vector.size() != vectors.front().size())
          return wrong("vectors of different lengths");
        vectors.push_back(std::move(vector));
      }
    }
    return vectors;
  }

 private:
  Result<std::vector<std::vector<float>>> embed_batch(std::span<const std::string> texts,
                                                      const std::stop_token& stop) {
    constexpr std::chrono::minutes kTotal{2};
    HttpRequest request;
    request.method = "POST";
    request.url = options_.base_url + "/embeddings";
    request.headers = {{"content-type", "application/json"}, {"accept", "application/json"}};
    if (!options_.key.empty()) request.headers.emplace_back("authorization", "Bearer " + options_.key);
    for (const auto& header : options_.headers) request.headers.push_back(header);
    request.timeouts.total = kTotal;
    JsonArray input;
    for (const std::string& text : texts) input.emplace_back(text);
    JsonObject body{{"model", options_.model}, {"input", std::move(input)}, {"encoding_format", "float"}};
    if (options_.dimensions > 0) body["dimensions"] = options_.dimensions;
    request.body = std::make_shared<const std::string>(to_json_text(body));
    for (int attempt = 1;; ++attempt) {
      const auto response = http_fetch(*client_, request, stop);
      if (response && response->status == 200) return vectors_in(response->body, texts.size());
      Error error = response ? refusal(*response) : response.error();
      if (!error.retriable || attempt >= options_.attempts) return fail(std::move(error));
      if (!options_.wait(response ? pause_before(attempt, *response) : usual_pause(attempt), stop))
        return fail(ErrorCode::kCancelled, "embedding was stopped");
    }
  }

  static std::size_t usual_pause(int attempt) {
    constexpr std::size_t kFirst = 500;
    return std::min(kFirst << static_cast<unsigned>(std::min(attempt - 1, 10)), kMaxWaitMs);
  }

  static std::size_t pause_before(int attempt, const HttpResponse& response) {
    const auto after = find_header(response.headers, "Retry-After").value_or("");
    std::size_t seconds = 0;
    const auto read = std::from_chars(after.data(), after.data() + after.size(), seconds);
    if (read.ec != std::errc{} || seconds > kMaxWaitMs / 1000) return usual_pause(attempt);
    return seconds * 1000;
  }

  std::unexpected<Error> wrong(const std::string& what) const {
    return fail(ErrorCode::kModel, ErrorKind::kProtocol,
                "embedding with " + options_.model + " at " + options_.base_url + ": the answer has " + what);
  }

  Error refusal(const HttpResponse& response) const {
    constexpr std::size_t kMostText = 300;
    const auto body = parse_json(response.body);
    std::string text = body ? json_string(json_at(*body, "error"), "message") : "";
    if (!options_.key.empty()) {
      for (auto at = text.find(options_.key); at != std::string::npos; at = text.find(options_.key))
        text.replace(at, options_.key.size(), "[key]");
    }
    const int status = response.status;
    return make_error(ErrorCode::kModel,
                      "embedding with " + options_.model + " at " + options_.base_url + ": status " +
                          std::to_string(status) +
                          (text.empty() ? "" : ": " + std::string(utf8_head(text, kMostText))),
                      status == 408 || status == 409 || status == 429 || status >= 500);
  }

  Result<std::vector<std::vector<float>>> vectors_in(const std::string& text, std::size_t count) const {
    const auto body = parse_json(text);
    if (!body) return wrong("no JSON: " + body.error().message);
    const auto* const data = json_at(*body, "data").if_array();
    if (data == nullptr || data->size() != count)
      return wrong("another number of vectors than there are texts");
    std::vector<std::vector<float>> vectors(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Json& item = (*data)[i];
      const auto index = json_int(item, "index", static_cast<std::int64_t>(i));
      const auto* const numbers = json_at(item, "embedding").if_array();
      if (index < 0 || static_cast<std::size_t>(index) >= count || numbers == nullptr || numbers->empty())
        return wrong("an item without an index and numbers");
      auto& vector = vectors[static_cast<std::size_t>(index)];
      if (!vector.empty()) return wrong("one index twice");
      for (const Json& number : *numbers) {
        if (!number.is_number()) return wrong("a vector with something that is no number");
        vector.push_back(static_cast<float>(number.to_number<double>()));
      }
    }
    return vectors;
  }

  const std::shared_ptr<HttpClient> client_;
  HttpEmbedderOptions options_;
  std::string name_;
};

}  // namespace

std::shared_ptr<Embedder> http_embedder(std::shared_ptr<HttpClient> client, HttpEmbedderOptions options) {
  return std::make_shared<HttpEmbedder>(std::move(client), std::move(options));
}

}  // namespace praxis
