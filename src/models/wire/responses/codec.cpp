// The codec of the Responses protocol.
#include <algorithm>
#include <array>
#include <vector>

#include "models/wire/responses/items.hpp"
#include "models/wire/responses/request.hpp"
#include "models/wire/responses/response.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {
namespace responses {
namespace {

class ResponsesCodec final : public Codec {
 public:
  ResponsesCodec(CodecTarget target, Dialect dialect)
      : target_(std::move(target)), dialect_(std::move(dialect)) {}

  std::string path(bool) const override { return "/responses"; }
  bool compacts() const override { return dialect_.native_compaction && target_.facts.context_window > 0; }
  std::string head(const ModelRequest& request) const override {
    return request_head(target_, dialect_, request);
  }
  void append(std::string& body, const Message& message, RenderState& state) const override {
    append_message(body, message, target_, dialect_, state);
  }
  void close(std::string& body, const RenderState&) const override { body += "]}"; }
  std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const override {
    return std::make_unique<ResponseReader>(target_, std::move(options));
  }

 private:
  const CodecTarget target_;
  const Dialect dialect_;
};

struct Switch {
  std::string_view name;
  bool Dialect::* flag;
};
constexpr std::array kSwitches{
    Switch{"send_store", &Dialect::send_store},
    Switch{"plain_reasoning", &Dialect::plain_reasoning},
    Switch{"item_ids", &Dialect::item_ids},
    Switch{"strict_tools", &Dialect::strict_tools},
    Switch{"native_compaction", &Dialect::native_compaction},
    Switch{"prompt_cache_key", &Dialect::prompt_cache_key},
    Switch{"max_output_tokens", &Dialect::max_output_tokens},
    Switch{"developer_role", &Dialect::developer_role},
    Switch{"media_in_results", &Dialect::media_in_results},
};
constexpr std::string_view kEncrypted = "encrypted_reasoning";
constexpr std::string_view kSummary = "reasoning_summary";
constexpr std::array<std::string_view, 3> kEncryptedWords{"reasoning_models", "always", "never"};

std::unexpected<Error> wrong_value(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::kInput, "dialect flag \"" + std::string(name) + "\" must be " + std::string(wanted));
}

std::unexpected<Error> unknown_flag(std::string_view name) {
  std::vector<std::string> known{std::string(kEncrypted), std::string(kSummary)};
  for (const Switch& one : kSwitches) known.emplace_back(one.name);
  std::string message = "dialect flag \"" + std::string(name) + "\" is unknown to api \"responses\"";
  if (const auto near = closest(name, known)) message += "; did you mean \"" + *near + "\"?";
  return fail(ErrorCode::kInput, std::move(message));
}

Status read_flag(Dialect& dialect, std::string_view name, const Json& value) {
  const auto* one = std::ranges::find(kSwitches, name, &Switch::name);
  if (one != kSwitches.end()) {
    if (!value.is_bool()) return wrong_value(name, "true or false");
    dialect.*(one->flag) = value.get_bool();
    return {};
  }
  if (name == kSummary) {
    if (!value.is_string()) return wrong_value(name, "a text");
    dialect.reasoning_summary = value.get_string();
    return {};
  }
  if (name != kEncrypted) return unknown_flag(name);
  const auto* text = value.if_string();
  const auto* word =
      text == nullptr ? kEncryptedWords.end() : std::ranges::find(kEncryptedWords, std::string_view(*text));
  if (word == kEncryptedWords.end())
    return wrong_value(name, "\"reasoning_models\", \"always\" or \"never\"");
  dialect.encrypted_reasoning = static_cast<Encrypted>(word - kEncryptedWords.begin());
  return {};
}

}  // namespace

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  const JsonObject* object = flags.if_object();
  if (object == nullptr) {
    if (!flags.is_null()) return fail(ErrorCode::kInput, "dialect must be an object of flags");
    return dialect;
  }
  for (const auto& [name, value] : *object) {
    if (const Status status = read_flag(dialect, name, value); !status) return fail(status.error());
  }
  return dialect;
}

}  // namespace responses

Result<CodecPtr> responses_codec(CodecTarget target) {
  auto dialect = responses::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const responses::ResponsesCodec>(std::move(target), *std::move(dialect));
}

}  // namespace praxis
