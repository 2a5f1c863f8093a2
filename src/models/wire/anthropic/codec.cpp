// The codec of the Anthropic Messages protocol.
#include "models/wire/anthropic/content.hpp"
#include "models/wire/anthropic/request.hpp"
#include "models/wire/anthropic/response.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace wire::messages {
namespace {

class MessagesCodec final : public Codec {
 public:
  MessagesCodec(CodecTarget target, Dialect dialect)
      : target_(std::move(target)), dialect_(std::move(dialect)) {}

  std::string path(bool stream) const override {
    constexpr std::string_view kModel = "{model}";
    std::string path = stream && !dialect_.stream_path.empty() ? dialect_.stream_path : dialect_.path;
    if (const std::size_t at = path.find(kModel); at != std::string::npos) {
      path.replace(at, kModel.size(), target_.model);
    }
    return path;
  }

  HttpHeaders headers(const ModelRequest& request) const override {
    HttpHeaders headers;
    if (!dialect_.version.empty()) headers.emplace_back("anthropic-version", dialect_.version);
    std::string betas;
    const auto add = [&](const std::string& beta) { betas.append(betas.empty() ? "" : ",").append(beta); };
    for (const std::string& beta : dialect_.betas) add(beta);
    // Required for new compactions and to send back earlier ones.
    if (compacts() && !dialect_.compaction_beta.empty()) add(dialect_.compaction_beta);
    if (!betas.empty()) headers.emplace_back("anthropic-beta", std::move(betas));
    if (!dialect_.session_header.empty()) {
      headers.emplace_back(dialect_.session_header, request.session.value);
    }
    return headers;
  }

  bool compacts() const override { return !dialect_.compaction_edit.empty(); }
  std::string head(const ModelRequest& request) const override {
    return request_head(target_, dialect_, request);
  }
  void append(std::string& body, const Message& message, RenderState& state) const override {
    append_message(body, message, state, target_, dialect_);
  }
  void close(std::string& body, const RenderState& state) const override {
    close_messages(body, state);
    body += '}';
  }
  std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const override {
    return std::make_unique<ResponseReader>(target_, std::move(options));
  }

 private:
  const CodecTarget target_;
  const Dialect dialect_;
};

}  // namespace
}  // namespace wire::messages

Result<CodecPtr> messages_codec(CodecTarget target) {
  auto dialect = wire::messages::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const wire::messages::MessagesCodec>(std::move(target), *std::move(dialect));
}

}  // namespace praxis
