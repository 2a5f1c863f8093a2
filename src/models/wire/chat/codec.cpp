// The codec of the Chat Completions protocol.
#include "models/wire/chat/messages.hpp"
#include "models/wire/chat/request.hpp"
#include "models/wire/chat/response.hpp"

namespace praxis {
namespace wire::chat {
namespace {

class ChatCodec final : public Codec {
 public:
  ChatCodec(CodecTarget target, Dialect dialect) : target_(std::move(target)), dialect_(std::move(dialect)) {}

  std::string path(bool) const override {
    constexpr std::string_view kModel = "{model}";
    std::string out = dialect_.path;
    if (const std::size_t at = out.find(kModel); at != out.npos)
      out.replace(at, kModel.size(), target_.model);
    return out;
  }
  std::string head(const ModelRequest& request) const override {
    return request_head(target_, dialect_, request);
  }
  void append(std::string& body, const Message& message, RenderState& state) const override {
    append_message(body, message, state, target_, dialect_);
  }
  void close(std::string& body, const RenderState& state) const override { close_messages(body, state); }
  std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const override {
    return std::make_unique<ResponseReader>(target_, dialect_, std::move(options));
  }

 private:
  const CodecTarget target_;
  const Dialect dialect_;
};

}  // namespace
}  // namespace wire::chat

Result<CodecPtr> chat_codec(CodecTarget target) {
  auto dialect = wire::chat::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const wire::chat::ChatCodec>(std::move(target), *std::move(dialect));
}

}  // namespace praxis
