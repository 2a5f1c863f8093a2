#include "models/text_tools.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "models/answer.hpp"
#include "models/request_layout.hpp"
#include "models/text_tool_reader.hpp"

namespace praxis {
namespace text_tools {
namespace {

// ---- instructions for the model ------------------------------------------------------------------------

constexpr std::string_view kManual = R"(# Tools

You can call tools. To call one, write exactly this, with your own values:

<tool_call>
{"name": "TOOL_NAME", "arguments": {"PARAMETER": "VALUE"}}
</tool_call>

Between the tags stands one JSON object and nothing else. To call several tools, write one such block for each. After your last block, stop: the results come in the next message, between <tool_result> tags. Never write a result yourself. When you need no tool, answer in plain text.

The tools, with the JSON Schema of their arguments as `parameters`:
)";

bool offers_tools(const ModelRequest& request) {
  return request.tools && !request.tools->empty() && request.options.tool_choice != "none";
}

/// How to call tools, which tools exist, and requirements on the answer. Contains nothing that changes
/// between steps, so that the prefix stays cacheable.
std::string manual(const ModelRequest& request) {
  if (!offers_tools(request)) return {};
  const ModelOptions& options = request.options;
  std::string text(kManual);
  for (const ToolDefinition& tool : *request.tools) {
    append_json(text, to_json(tool));
    text += '\n';
  }
  if (options.tool_choice == "required") {
    text += "\nYour answer must call at least one tool.\n";
  } else if (!options.tool_choice.empty() && options.tool_choice != "auto") {
    text += "\nYour answer must call the tool " + options.tool_choice + ".\n";
  }
  if (!options.output_schema.is_null()) {
    text += "\nAn answer without tool calls must be one JSON value and nothing else, by this JSON Schema:\n";
    append_json(text, options.output_schema);
    text += '\n';
  }
  return text;
}

// ---- the conversation as text --------------------------------------------------------------------------

std::string call_text(const ToolCallPart& call) {
  std::string text = "<tool_call>\n{\"name\": ";
  append_json_string(text, call.name);
  return text.append(", \"arguments\": ")
      .append(arguments_or_empty(call.arguments))
      .append("}\n</tool_call>");
}

/// Escapes end tags, so that a result cannot end its own block and inject text in another role.
std::string harmless(std::string text) {
  constexpr std::string_view kEnd = "</tool_result", kHarmless = "<\\/tool_result";
  for (std::size_t at = 0; (at = text.find(kEnd, at)) != text.npos; at += kHarmless.size()) {
    text.replace(at, kEnd.size(), kHarmless);
  }
  return text;
}

std::string result_text(const ToolResultPart& result) {
  const std::string_view status = result.status == ToolStatus::kError ? "\" status=\"error" : "";
  std::string text = "<tool_result name=\"" + result.name;
  return text.append(status).append("\">\n").append(harmless(result.text)).append("\n</tool_result>");
}

/// Adds a block on its own lines after the existing text.
void append_block(Message& message, std::string block) {
  if (!message.parts.empty()) {
    const auto* before = std::get_if<TextPart>(&message.parts.back());
    if (before != nullptr && !before->text.ends_with('\n')) block.insert(0, 1, '\n');
  }
  message.parts.emplace_back(TextPart{std::move(block)});
}

bool has_calls_or_results(const Message& message) {
  return std::ranges::any_of(message.parts, [](const Part& part) {
    return std::holds_alternative<ToolCallPart>(part) || std::holds_alternative<ToolResultPart>(part);
  });
}

MessagePtr as_text(const MessagePtr& message) {
  if (!has_calls_or_results(*message)) return message;
  auto plain = std::make_shared<Message>(*message);
  plain->parts.clear();
  if (plain->role == Role::kTool) plain->role = Role::kUser;
  std::vector<Part> media;  // after all results
  for (const Part& part : message->parts) {
    if (const auto* call = std::get_if<ToolCallPart>(&part)) {
      append_block(*plain, call_text(*call));
    } else if (const auto* result = std::get_if<ToolResultPart>(&part)) {
      append_block(*plain, result_text(*result));
      media.insert(media.end(), result->images.begin(), result->images.end());
      media.insert(media.end(), result->files.begin(), result->files.end());
    } else {
      plain->parts.push_back(part);
    }
  }
  plain->parts.insert(plain->parts.end(), media.begin(), media.end());
  return plain;
}

/// Converts the history to text, message by message. Converted messages are kept, so that a continued
/// conversation has the same message objects. Not thread-safe.
class Transcript {
 public:
  /// `preface` is added to a leading developer message, which replaces the request's instructions.
  const History& of(const History& history, const std::string& preface) {
    const std::vector<MessagePtr>& messages = history.messages();
    const bool continues = preface == preface_ && messages.size() >= originals_.size() &&
                           std::equal(originals_.begin(), originals_.end(), messages.begin());
    if (!continues) {
      builder_ = {};
      originals_.clear();
      preface_ = preface;
    }
    for (std::size_t i = originals_.size(); i < messages.size(); ++i) {
      originals_.push_back(messages[i]);
      builder_.push(i == 0 ? first(messages[i]) : as_text(messages[i]));
    }
    return builder_.history();
  }

 private:
  MessagePtr first(const MessagePtr& message) const {
    if (message->role != Role::kDeveloper || preface_.empty()) return as_text(message);
    auto joined = std::make_shared<Message>(*message);
    joined->parts.emplace_back(TextPart{"\n\n" + preface_});
    return joined;
  }

  std::string preface_;
  std::vector<MessagePtr> originals_;
  HistoryBuilder builder_;
};

// ---- the answer ----------------------------------------------------------------------------------------

/// Generates ids for the calls of one answer that do not occur in the conversation.
class CallIds {
 public:
  CallIds(std::uint64_t ordinal, History history)
      : prefix_("call_" + std::to_string(ordinal + 1) + '_'), history_(std::move(history)) {}

  CallId next() {
    std::string id;
    do {
      id = prefix_ + std::to_string(++last_);
    } while (is_taken(id));
    return CallId(std::move(id));
  }

 private:
  bool is_taken(std::string_view id) const {
    return std::ranges::any_of(history_.messages(), [id](const MessagePtr& message) {
      return std::ranges::any_of(message->parts, [id](const Part& part) {
        const auto* call = std::get_if<ToolCallPart>(&part);
        return call != nullptr && call->id.value == id;
      });
    });
  }

  const std::string prefix_;
  const History history_;
  std::size_t last_ = 0;
};

std::vector<std::string> names_of(const std::vector<ToolDefinition>& tools) {
  std::vector<std::string> names;
  for (const ToolDefinition& tool : tools) names.push_back(tool.name);
  return names;
}

/// Forwards an answer, turning the calls in its text into tool calls.
class CallFinder final : public ModelSink {
 public:
  CallFinder(const ModelRequest& request, std::shared_ptr<ModelSink> sink)
      : sink_(std::move(sink)), tools_(names_of(*request.tools)), ids_(request.ordinal, request.history) {}

  void on_delta(const ModelDelta& delta) override {
    std::visit([this](const auto& chunk) { pass(chunk); }, delta);
  }

  void on_done(Result<ModelResponse> response) override {
    if (response) {
      end_text();
      find_calls(*response);
      settle_answer(*response);
    }
    sink_->on_done(std::move(response));
  }

 private:
  // ---- deltas: a preview, with the part numbers that the answer will have

  void pass(const TextChunk& chunk) {
    if (text_ != chunk.item) {
      end_text();
      text_ = chunk.item;
      reader_.emplace(tools_);
    }
    const std::vector<Piece> pieces = reader_->feed(chunk.text);
    tell(pieces);
    if (pieces.empty()) sink_->on_delta(KeepAlive{});  // text is held back; the model is alive
  }

  template <class Chunk>
  void pass(Chunk chunk) {
    if constexpr (requires { chunk.item; }) {
      end_text();
      const auto [number, is_new] = numbers_.try_emplace(chunk.item, next_);
      if (is_new) ++next_;
      chunk.item = number->second;
    } else if constexpr (std::is_same_v<Chunk, Restarted>) {
      text_.reset();
      numbers_.clear();
      told_.clear();
      open_text_.reset();
      next_ = 0;
    }
    sink_->on_delta(chunk);
  }

  void end_text() {
    if (!text_) return;
    tell(reader_->finish());
    text_.reset();
    open_text_.reset();
  }

  void tell(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      if (const auto* text = std::get_if<std::string>(&piece)) {
        if (!open_text_) open_text_ = next_++;
        sink_->on_delta(TextChunk{*text, *open_text_});
        continue;
      }
      const auto& call = std::get<FoundCall>(piece);
      open_text_.reset();
      const CallId& id = told_.emplace_back(ids_.next());
      sink_->on_delta(ToolCallChunk{id.value, call.name, next_});
      sink_->on_delta(ToolArgumentsChunk{call.arguments, next_++});
    }
  }

  // ---- the answer

  void find_calls(ModelResponse& response) {
    std::vector<Part> parts;
    std::size_t calls = 0;
    for (Part& part : std::exchange(response.parts, {})) {
      const auto* text = std::get_if<TextPart>(&part);
      std::vector<Part> found = text == nullptr ? std::vector<Part>() : read(text->text, calls, response);
      if (found.empty()) found.push_back(std::move(part));
      std::ranges::move(found, std::back_inserter(parts));
    }
    response.parts = std::move(parts);
  }

  /// Splits a text that contains calls into parts; empty if it contains none. The parts drop the vendor's
  /// state, because that belongs to the unchanged text.
  std::vector<Part> read(std::string_view text, std::size_t& calls, ModelResponse& response) {
    CallReader reader(tools_);
    std::vector<Piece> pieces = reader.feed(text);
    std::ranges::move(reader.finish(), std::back_inserter(pieces));
    const std::size_t before = calls;
    std::vector<Part> parts;
    for (Piece& piece : pieces) {
      if (auto* call = std::get_if<FoundCall>(&piece)) {
        if (calls == told_.size()) told_.push_back(ids_.next());
        parts.emplace_back(
            ToolCallPart{told_[calls++], std::move(call->name), std::move(call->arguments), true, nullptr});
      } else if (auto* open = parts.empty() ? nullptr : std::get_if<TextPart>(&parts.back())) {
        open->text += std::get<std::string>(piece);
      } else {
        parts.emplace_back(TextPart{std::get<std::string>(std::move(piece))});
      }
    }
    response.warnings.insert(response.warnings.end(), reader.warnings().begin(), reader.warnings().end());
    return calls == before ? std::vector<Part>() : parts;
  }

  const std::shared_ptr<ModelSink> sink_;
  const std::vector<std::string> tools_;
  CallIds ids_;
  std::optional<std::uint32_t> text_;               ///< the model's number of the text part being read
  std::optional<CallReader> reader_;                ///< reader of that part
  std::optional<std::uint32_t> open_text_;          ///< our number of the text part being emitted
  std::map<std::uint32_t, std::uint32_t> numbers_;  ///< our numbers of the other parts, by the model's number
  std::uint32_t next_ = 0;
  std::vector<CallId> told_;  ///< ids of the calls so far
};

// ---- the model -----------------------------------------------------------------------------------------

class Session final : public ModelSession {
 public:
  explicit Session(std::unique_ptr<ModelSession> inner) : inner_(std::move(inner)) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    const std::string manual_text = manual(request);
    ModelRequest plain = request;
    plain.tools = nullptr;
    plain.options.tool_choice.clear();
    if (opens_with_developer(request.history)) {
      plain.history = transcript_.of(request.history, manual_text);
    } else {
      plain.history = transcript_.of(request.history, {});
      if (!plain.instructions.empty() && !manual_text.empty()) plain.instructions += "\n\n";
      plain.instructions += manual_text;
    }
    if (offers_tools(request)) {
      plain.options.output_schema = nullptr;  // the schema would forbid calls in the text
      sink = std::make_shared<CallFinder>(request, std::move(sink));
    }
    inner_->start(plain, std::move(sink), std::move(stop));
  }

 private:
  const std::unique_ptr<ModelSession> inner_;
  Transcript transcript_;
};

class TextToolsModel final : public Model {
 public:
  explicit TextToolsModel(std::shared_ptr<Model> inner) : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  ModelCapabilities capabilities() const override {
    ModelCapabilities capabilities = inner_->capabilities();
    capabilities.tools = true;
    return capabilities;
  }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Session>(inner_->open_session());
  }
  MicroUsd price(const Usage& usage) const override { return inner_->price(usage); }

 private:
  const std::shared_ptr<Model> inner_;
};

}  // namespace
}  // namespace text_tools

std::shared_ptr<Model> with_text_tools(std::shared_ptr<Model> model) {
  return std::make_shared<text_tools::TextToolsModel>(std::move(model));
}

}  // namespace praxis
