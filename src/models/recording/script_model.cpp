// A model that answers from a script, for tests, demonstrations and replays without a network.
#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <utility>

#include "models/answer.hpp"
#include "models/vendor_error.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/models/model.hpp"

namespace praxis {
namespace {

/// One line of a script.
struct ScriptLine {
  std::string text;
  std::string reasoning;
  std::vector<ToolCallPart> calls;  ///< an empty id is replaced by a generated one
  FinishReason finish = FinishReason::kStop;
  std::optional<Usage> usage;
  std::optional<Error> error;
  std::chrono::milliseconds delay{0};
  std::size_t chunk = 8;
  std::string agent;  ///< empty: any agent
  std::string asked;  ///< answers a prompt that contains this text; empty: used in order
};

struct Script {
  std::string label;
  std::vector<ScriptLine> lines;

  /// The line for a request: the first whose `asked` occurs in the prompt, else the `ordinal`-th line without
  /// `asked`, counting only lines for the agent. Null past the end.
  const ScriptLine* find(const ModelRequest& request) const {
    const auto& messages = request.history.messages();
    const bool by_user = !messages.empty() && messages.back()->role == Role::kUser;
    const std::string question = by_user ? messages.back()->text() : std::string();
    std::uint64_t left = request.ordinal;
    const ScriptLine* in_turn = nullptr;
    for (const ScriptLine& line : lines) {
      if (!line.agent.empty() && line.agent != request.agent) continue;
      if (!line.asked.empty() && question.contains(line.asked)) return &line;
      if (line.asked.empty() && left-- == 0) in_turn = &line;
    }
    return in_turn;
  }

  /// Number of lines that an agent's calls use in order.
  std::size_t count(const std::string& agent) const {
    return static_cast<std::size_t>(std::ranges::count_if(lines, [&](const ScriptLine& line) {
      return line.asked.empty() && (line.agent.empty() || line.agent == agent);
    }));
  }
};

// ---- reading -------------------------------------------------------------------------------------------

/// Reads the object of one line and records its first error.
class LineReader {
 public:
  LineReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  /// Checks that every key of `object` is known.
  void allow(const Json& object, std::span<const std::string> keys) {
    if (!object.is_object()) return complain("must be a JSON object");
    for (const auto& member : object.get_object()) {
      const std::string key(member.key());
      if (std::ranges::find(keys, key) != keys.end()) continue;
      const auto nearest = closest(key, keys);
      return complain("has an unknown key \"" + key + '"' +
                      (nearest ? "; did you mean \"" + *nearest + "\"?" : ""));
    }
  }

  std::string text(const Json& object, std::string_view key) {
    const Json& field = json_at(object, key);
    if (!field.is_null() && !field.is_string()) complain('"' + std::string(key) + "\" must be a string");
    return json_string(object, key);
  }

  std::int64_t number(const Json& object, std::string_view key, std::int64_t fallback, std::int64_t least) {
    constexpr std::int64_t kMost = 1'000'000'000, kBad = -1;
    const std::int64_t value = json_at(object, key).is_null() ? fallback : json_int(object, key, kBad);
    if (value < least || value > kMost) {
      complain('"' + std::string(key) + "\" must be an integer from " + std::to_string(least) + " to " +
               std::to_string(kMost));
    }
    return value;
  }

  void complain(const std::string& what) {
    if (status_) status_ = fail(ErrorCode::kInput, where_ + ": " + what);
  }

  ScriptLine read();
  const Status& status() const { return status_; }

 private:
  void read_calls(ScriptLine& line);
  void read_finish(ScriptLine& line);
  void read_usage(ScriptLine& line);
  void read_error(ScriptLine& line);

  const Json& json_;
  std::string where_;
  Status status_;
};

ScriptLine LineReader::read() {
  static const std::array<std::string, 10> kKeys{"text",  "reasoning", "tool_calls", "delay_ms", "chunk",
                                                 "error", "finish",    "usage",      "agent",    "asked"};
  ScriptLine line;
  allow(json_, kKeys);
  line.text = text(json_, "text");
  line.reasoning = text(json_, "reasoning");
  line.agent = text(json_, "agent");
  line.asked = text(json_, "asked");
  line.delay = std::chrono::milliseconds(number(json_, "delay_ms", 0, 0));
  line.chunk = static_cast<std::size_t>(number(json_, "chunk", 8, 1));
  if (!json_at(json_, "tool_calls").is_null()) read_calls(line);
  if (!json_at(json_, "finish").is_null()) read_finish(line);
  if (!json_at(json_, "usage").is_null()) read_usage(line);
  if (!json_at(json_, "error").is_null()) read_error(line);
  return line;
}

void LineReader::read_calls(ScriptLine& line) {
  static const std::array<std::string, 3> kKeys{"name", "arguments", "id"};
  const JsonArray* calls = json_at(json_, "tool_calls").if_array();
  if (calls == nullptr) return complain("\"tool_calls\" must be an array");
  for (const Json& call : *calls) {
    allow(call, kKeys);
    const Json& arguments = json_at(call, "arguments");
    ToolCallPart part;
    part.id = CallId(text(call, "id"));
    part.name = text(call, "name");
    if (part.name.empty()) complain("a tool call needs a \"name\"");
    if (const auto* raw = arguments.if_string()) {
      part.arguments = *raw;
    } else {
      part.arguments = arguments.is_null() ? "{}" : to_json_text(arguments);
    }
    line.calls.push_back(std::move(part));
  }
}

void LineReader::read_finish(ScriptLine& line) {
  static const std::array<std::string, 7> kReasons{"stop",    "length", "tool_calls",    "content_filter",
                                                   "refusal", "pause",  "context_window"};
  const std::string finish = text(json_, "finish");
  line.finish = finish_reason_from(finish);
  if (to_string(line.finish) == finish) return;
  const auto nearest = closest(finish, kReasons);
  complain("\"finish\" has the unknown value \"" + finish + '"' +
           (nearest ? "; did you mean \"" + *nearest + "\"?" : ""));
}

void LineReader::read_usage(ScriptLine& line) {
  static const std::array<std::string, 6> kKeys{"input",       "output",    "cache_read",
                                                "cache_write", "reasoning", "cost_usd"};
  allow(json_at(json_, "usage"), kKeys);
  line.usage = usage_from_json(json_at(json_, "usage"));
}

void LineReader::read_error(ScriptLine& line) {
  static const std::array<std::string, 4> kKeys{"code", "status", "message", "retry_after_ms"};
  const Json& error = json_at(json_, "error");
  allow(error, kKeys);
  ErrorEnvelope envelope;
  envelope.message = text(error, "message");
  envelope.code = text(error, "code");
  if (!json_at(error, "retry_after_ms").is_null())
    envelope.retry_after_ms = number(error, "retry_after_ms", 0, 0);
  line.error = vendor_error(envelope, static_cast<int>(number(error, "status", 0, 0)));
  if (line.usage) report_usage(*line.error, *line.usage);
}

Result<Script> read_script(std::string_view text, std::string label) {
  Script script{std::move(label), {}};
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line[start] == '#') continue;
    const std::string where = script.label + ", line " + std::to_string(number);
    const auto json = parse_json(line);
    if (!json) return fail(ErrorCode::kInput, where + ": " + json.error().message);
    LineReader reader(*json, where);
    script.lines.push_back(reader.read());
    if (!reader.status()) return fail(reader.status().error());
  }
  return script;
}

// ---- playing -------------------------------------------------------------------------------------------

/// One running call. A call cancelled before its first event plays nothing; one cancelled later stops
/// playing.
class ScriptCall : public std::enable_shared_from_this<ScriptCall> {
 public:
  /// `executor` belongs to the session. The call does not own it: as its last owner, it would destroy the
  /// executor on one of the executor's own threads.
  ScriptCall(std::shared_ptr<const Script> script, Executor& executor, const ModelRequest& request,
             std::shared_ptr<ModelSink> sink, std::stop_token stop)
      : script_(std::move(script)),
        executor_(executor),
        sink_(std::move(sink)),
        stop_(std::move(stop)),
        line_(script_->find(request)),
        streams_(request.stream),
        agent_(request.agent),
        ordinal_(request.ordinal),
        input_(line_ && line_->usage
                   ? 0
                   : estimate_tokens(request.instructions) + request.history.estimated_tokens()) {}

  void start() {
    timer_ =
        executor_.after(line_ ? line_->delay : std::chrono::milliseconds(0), [self = shared_from_this()] {
          if (!self->begun_.exchange(true)) self->sink_->on_done(self->play());
        });
    on_stop_.emplace(stop_, Cancel{weak_from_this()});
  }

 private:
  struct Cancel {
    std::weak_ptr<ScriptCall> call;
    void operator()() const {
      const auto self = call.lock();
      if (!self || self->begun_.exchange(true)) return;
      self->executor_.cancel(self->timer_);
      self->executor_.post([self] { self->sink_->on_done(cancelled()); });
    }
  };

  static std::unexpected<Error> cancelled() {
    return fail(ErrorCode::kCancelled, "the model call was cancelled");
  }

  Result<ModelResponse> play();
  template <class Emit>
  bool stream(std::string_view bytes, Emit emit);

  const std::shared_ptr<const Script> script_;
  Executor& executor_;
  const std::shared_ptr<ModelSink> sink_;
  const std::stop_token stop_;
  const ScriptLine* const line_;
  const bool streams_;
  const std::string agent_;
  const std::uint64_t ordinal_;
  const std::int64_t input_;
  std::atomic<bool> begun_ = false;
  Executor::TimerId timer_ = 0;
  std::optional<std::stop_callback<Cancel>> on_stop_;
};

/// Emits `bytes` in chunks; returns false if cancelled.
template <class Emit>
bool ScriptCall::stream(std::string_view bytes, Emit emit) {
  while (streams_ && !bytes.empty() && !stop_.stop_requested()) {
    const std::string_view piece = bytes.substr(0, line_->chunk);
    bytes.remove_prefix(piece.size());
    sink_->on_delta(emit(piece));
  }
  return !stop_.stop_requested();
}

Result<ModelResponse> ScriptCall::play() {
  if (line_ == nullptr) {
    const std::size_t lines = script_->count(agent_);
    return fail(model_error(ErrorKind::kNotFound,
                            script_->label + ": the script has " + std::to_string(lines) +
                                (lines == 1 ? " line" : " lines") + " for this agent, and this is call " +
                                std::to_string(ordinal_ + 1)));
  }
  if (line_->error) return fail(*line_->error);

  ModelResponse response;
  std::uint32_t item = 0;
  if (!line_->reasoning.empty()) {
    if (!stream(line_->reasoning, [&](auto piece) { return ReasoningChunk{piece, item}; }))
      return cancelled();
    response.parts.emplace_back(ReasoningPart{line_->reasoning, {}, {}});
    ++item;
  }
  if (!line_->text.empty()) {
    if (!stream(line_->text, [&](auto piece) { return TextChunk{piece, item}; })) return cancelled();
    response.parts.emplace_back(TextPart{line_->text, {}});
    ++item;
  }
  for (std::size_t n = 0; n < line_->calls.size(); ++n, ++item) {
    ToolCallPart call = line_->calls[n];
    if (call.id.empty())
      call.id = CallId("call_" + std::to_string(ordinal_ + 1) + '_' + std::to_string(n + 1));
    if (streams_) sink_->on_delta(ToolCallChunk{call.id.value, call.name, item});
    if (!stream(call.arguments, [&](auto piece) { return ToolArgumentsChunk{piece, item}; }))
      return cancelled();
    response.parts.emplace_back(std::move(call));
  }
  response.finish = line_->finish;
  settle_answer(response);
  response.finish_raw = to_string(response.finish);
  response.model = script_->label;
  response.usage = line_->usage ? *line_->usage : estimate_usage(input_, response.parts);
  return response;
}

class ScriptSession final : public ModelSession {
 public:
  ScriptSession(std::shared_ptr<const Script> script, std::shared_ptr<Executor> executor)
      : script_(std::move(script)), executor_(std::move(executor)) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    std::make_shared<ScriptCall>(script_, *executor_, request, std::move(sink), std::move(stop))->start();
  }

 private:
  const std::shared_ptr<const Script> script_;
  const std::shared_ptr<Executor> executor_;
};

class ScriptModel final : public Model {
 public:
  ScriptModel(Script script, std::shared_ptr<Executor> executor)
      : name_("script:" + script.label),
        script_(std::make_shared<const Script>(std::move(script))),
        executor_(std::move(executor)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<ScriptSession>(script_, executor_);
  }
  MicroUsd price(const Usage&) const override { return {}; }

 private:
  const std::string name_;
  const std::shared_ptr<const Script> script_;
  const std::shared_ptr<Executor> executor_;
};

}  // namespace

Result<std::shared_ptr<Model>> script_model(std::string_view text, std::string label,
                                            std::shared_ptr<Executor> executor) {
  auto script = read_script(text, std::move(label));
  if (!script) return fail(script.error());
  return std::make_shared<ScriptModel>(*std::move(script), std::move(executor));
}

}  // namespace praxis
