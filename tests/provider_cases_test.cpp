// The codecs against recorded traffic: the cases in tests/provider_cases, written from the protocols' guides,
// and those in the folder named by PRAXIS_PROVIDER_CASES, if set. docs/providers.md describes their format.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "models/vendor_model.hpp"
#include "net/testing/test_server.hpp"
#include "wire/expectation.hpp"
#include "wire/rebuilding.hpp"
#include "wire/variations.hpp"

namespace praxis::wire {
namespace {

const std::vector<KnownDifference> kKnown{
    {"compat-moonshot/vercel-moonshotai-reasoning", "usage",
     "cached_tokens next to prompt_tokens is read as well"},
    {"gemini-vertex/firebase-streaming-failure-error-mid-stream", "error",
     "a bare error object after the events is an error"},
    {"gemini/vercel-google-stream-no-args-tool-call", "tool_calls", "partial arguments are put together"},
    {"gemini/vercel-google-stream-no-args-tool-call", "items", "partial arguments are put together"},
    {"gemini/vercel-google-vertex-stream-tool-call-arguments-nested-1", "tool_calls",
     "partial arguments are put together"},
    {"gemini/vercel-google-vertex-stream-tool-call-arguments-nested-1", "items",
     "partial arguments are put together"},
};

const Catalog& catalog() {
  static const auto kCatalog = built_in_catalog();
  return *kCatalog;
}

std::vector<Case> read_cases(const std::filesystem::path& folder) {
  std::vector<Case> cases;
  for (const auto& path : find_cases(folder)) {
    auto one = read_case(path);
    if (!one) {
      ADD_FAILURE() << one.error().message;
      continue;
    }
    cases.push_back(*std::move(one));
  }
  return cases;
}

const std::vector<Case>& own_cases() {
  static const std::vector<Case> kCases = read_cases(PRAXIS_SOURCE_DIR "/tests/provider_cases");
  return kCases;
}

/// Empty if the folder does not exist.
const std::vector<Case>& recorded_cases() {
  static const std::vector<Case> kCases = [] {
    const char* folder = std::getenv("PRAXIS_PROVIDER_CASES");
    return folder == nullptr || *folder == '\0' ? std::vector<Case>{} : read_cases(folder);
  }();
  return kCases;
}

std::string name_of(const Case& one) { return one.provider_folder() + '/' + one.folder.filename().string(); }

/// A stream of a case, and the endpoint that sent it.
struct Stream {
  std::string name;
  const Exchange* exchange = nullptr;
  RecordedEndpoint endpoint;

  const RecordedResponse& response() const { return exchange->response; }
  Json line(const Reading& reading) const { return line_of(reading, endpoint, *exchange); }
  Json read(std::span<const std::string_view> pieces) const {
    return line(read_response(*endpoint.codec, response().head, pieces));
  }
  Json read(std::string_view body) const { return read(std::array<std::string_view, 1>{body}); }
};

std::vector<Stream> streams_of(const std::vector<Case>& cases) {
  std::vector<Stream> streams;
  for (const Case& one : cases) {
    for (const Exchange& exchange : one.exchanges) {
      if (!exchange.response.is_stream()) continue;
      auto endpoint = recognise(exchange, one.provider_folder(), catalog());
      if (endpoint)
        streams.push_back({name_of(one) + '#' + std::to_string(exchange.i), &exchange, *std::move(endpoint)});
    }
  }
  return streams;
}

/// The tests below run once with our own cases and once with the recorded ones.
class ProviderCases : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && recorded_cases().empty())
      GTEST_SKIP() << "PRAXIS_PROVIDER_CASES names no recorded cases";
  }
  static const std::vector<Case>& cases() { return GetParam() ? recorded_cases() : own_cases(); }
  static const std::vector<Stream>& streams() {
    static std::map<bool, std::vector<Stream>> known;
    auto [entry, fresh] = known.try_emplace(GetParam());
    if (fresh) entry->second = streams_of(cases());
    return entry->second;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProviderCases, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "Recorded" : "Own"; });

TEST_P(ProviderCases, EveryAnswer_IsReadAsExpected) {
  std::size_t read = 0;
  for (const Case& one : cases()) {
    const auto expected = read_json_lines(one.folder / "expect.jsonl");
    ASSERT_TRUE(expected) << expected.error().message;
    const auto lines = lines_of(one, name_of(one), catalog(), false);
    for (const Json& expectation : *expected) {
      const auto i = static_cast<std::size_t>(json_int(expectation, "i"));
      ASSERT_LT(i, lines.size()) << name_of(one);
      ++read;
      if (is_ambiguous(expectation)) continue;
      for (const std::string& mismatch : mismatches(lines[i], expectation, name_of(one), kKnown))
        ADD_FAILURE() << name_of(one) << '#' << i << ' ' << mismatch;
    }
  }
  EXPECT_GE(read, 20U);
}

TEST_P(ProviderCases, CutsBetweenChunks_MakeNoDifference) {
  constexpr std::size_t kLong = 100'000;
  std::size_t number = 0;
  for (const Stream& stream : streams()) {
    const std::string_view body = stream.response().body;
    const Json whole = stream.read(body);
    EXPECT_EQ(whole, stream.read(random_pieces(body, ++number))) << stream.name;
    if (body.size() > kLong && number % 10 != 0) continue;
    EXPECT_EQ(whole, stream.read(single_bytes(body))) << stream.name;
    const std::string other_ends = with_crlf(body);
    EXPECT_EQ(whole, stream.read(other_ends)) << stream.name << " with CRLF";
    EXPECT_EQ(whole, stream.read(random_pieces(other_ends, number)))
        << stream.name << " with CRLF, in pieces";
  }
}

TEST_P(ProviderCases, UnknownFieldsAndEvents_MakeNoDifference) {
  for (const Stream& stream : streams()) {
    const Json whole = stream.read(stream.response().body);
    EXPECT_EQ(whole, stream.read(with_noise(stream.response(), stream.endpoint.api))) << stream.name;
    EXPECT_EQ(whole, stream.read(with_unknown_fields(stream.response()))) << stream.name;
  }
}

TEST_P(ProviderCases, TruncatedStream_IsNotAnAnswer) {
  constexpr std::size_t kMostCuts = 100;
  for (const Stream& stream : streams()) {
    const std::string_view body = stream.response().body;
    const auto ends = event_ends(stream.response());
    for (std::size_t i = 0; i < ends.size(); i += ends.size() / kMostCuts + 1) {
      const std::string_view begun = body.substr(0, ends[i]);
      const std::array<std::string_view, 1> pieces{begun};
      const Reading reading = read_response(*stream.endpoint.codec, stream.response().head, pieces);
      EXPECT_TRUE(reading.error || has_terminal_marker(stream.endpoint.api, begun))
          << stream.name << " ends in order after event " << i;
      if (!reading.error) continue;
      EXPECT_EQ(reading.error->code, ErrorCode::kModel) << stream.name;
    }
  }
}

/// Collects the deltas of an answer while it streams.
class Listener final : public ModelSink {
 public:
  void on_delta(const ModelDelta& delta) override {
    if (const auto* text = std::get_if<TextChunk>(&delta)) said[text->item] += text->text;
    if (const auto* text = std::get_if<ReasoningChunk>(&delta)) said[text->item] += text->text;
    if (const auto* text = std::get_if<RefusalChunk>(&delta)) said[text->item] += text->text;
    if (const auto* bytes = std::get_if<ToolArgumentsChunk>(&delta)) said[bytes->item] += bytes->bytes;
  }
  void on_done(Result<ModelResponse>) override {}

  std::map<std::size_t, std::string> said;
};

std::string words_of(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part)) return text->text;
  if (const auto* reasoning = std::get_if<ReasoningPart>(&part)) return reasoning->summary + reasoning->text;
  if (const auto* refusal = std::get_if<RefusalPart>(&part)) return refusal->text;
  const auto* call = std::get_if<ToolCallPart>(&part);
  return call == nullptr ? std::string() : call->arguments;
}

/// Recorded streams in which several answers follow each other, or deltas are missing.
constexpr std::array<std::string_view, 2> kPiecemeal{
    "openai-responses/vercel-openai-reasoning-encrypted-content-1#0",
    "openai-responses/vercel-openai-shell-container-1#0"};

TEST_P(ProviderCases, Deltas_AddUpToTheAnswer) {
  for (const Stream& stream : streams()) {
    if (std::ranges::find(kPiecemeal, stream.name) != kPiecemeal.end()) continue;
    Listener listener;
    AnswerParser parser(*stream.endpoint.codec,
                        {.deltas = &listener, .call_prefix = std::string(kInventedCall)});
    parser.head(stream.response().head);
    parser.feed(stream.response().body);
    const auto answer = parser.finish({});
    if (!answer) continue;
    for (std::size_t i = 0; i < answer->parts.size(); ++i) {
      EXPECT_EQ(listener.said[i], words_of(answer->parts[i])) << stream.name << " part " << i;
    }
  }
}

TEST_P(ProviderCases, ResponseOverASocket_GivesTheSameAnswer) {
  const auto http = make_http_client();
  std::size_t number = 0;
  for (const Stream& stream : streams()) {
    if (GetParam() && number++ % 10 != 0) continue;
    const TestServer server([&](const TestRequest&, TestConnection& to) {
      std::string head = "HTTP/1.1 " + std::to_string(stream.response().head.status) + " Reply\r\n";
      for (const auto& [name, value] : stream.response().head.headers) head += name + ": " + value + "\r\n";
      to.write(head + "\r\n");
      for (const std::string_view piece : random_pieces(stream.response().body, number)) to.write(piece);
      to.close();
    });
    const auto model =
        vendor_model(stream.endpoint.target, stream.endpoint.codec, {.base_url = server.url("")}, http);
    ModelRequest request;
    request.history = normalise({text_message(Role::kUser, "hi")}).history;
    const auto answer = complete(*model, request);
    const Reading direct = read_response(*stream.endpoint.codec, stream.response());
    ASSERT_EQ(answer.has_value(), !direct.error)
        << stream.name << (answer ? "" : ": " + answer.error().message);
    if (!answer) {
      EXPECT_EQ(answer.error().detail(), direct.error->detail()) << stream.name;
      continue;
    }
    ASSERT_EQ(answer->parts.size(), direct.answer.parts.size()) << stream.name;
    for (std::size_t i = 0; i < answer->parts.size(); ++i)
      EXPECT_EQ(words_of(answer->parts[i]), words_of(direct.answer.parts[i])) << stream.name;
    EXPECT_EQ(answer->finish, direct.answer.finish) << stream.name;
  }
}

/// Recorded requests that differ in meaning from ours, and why ours is as good.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kKnownRequests{{
    {"anthropic/fantasy-claude-sonnet-4-computer-use-streaming", "the client left the answer's text out"},
    {"compat-avian/fantasy-avian-kimi-thinking-streaming",
     "the client kept one of two pieces of white space"},
    {"compat-vercel-gateway/fantasy-gemini-3-pro-preview-thinking", "the client made up an empty seal"},
    {"gemini/rig-reasoning-tool-roundtrip-nonstreaming", "we return no thoughts that are not signed"},
    {"gemini/rig-reasoning-tool-roundtrip-streaming", "we return no thoughts that are not signed"},
    {"ollama-openai-compat/"
     "rubyllm-chat-string-tool-results-ollama-qwen3-preserves-strings-returned-from-tools",
     "images of results follow in a message of their own"},
    {"openai-responses/pai-test-tool-search-test-openai-native-tool-search-gpt-5-6",
     "the client rewrote the search"},
    {"openai-responses/pai-test-tool-search-test-openai-native-tool-search-streaming",
     "the client rewrote the search"},
    {"openrouter/fantasy-grok-multi-tool", "the client changed the reasoning's details"},
    {"openrouter/fantasy-grok-tool-streaming", "the client changed the reasoning's details"},
    {"openrouter/rig-reasoning-tool-roundtrip-streaming", "the client changed the reasoning's details"},
}};

bool is_known_request(std::string_view name) {
  return std::ranges::any_of(kKnownRequests, [&](const auto& known) { return known.first == name; });
}

TEST_P(ProviderCases, RequestMadeFromOurReading_MeansTheSameAsTheRecordedOne) {
  std::size_t compared = 0;
  for (const Case& one : cases()) {
    if (is_known_request(name_of(one))) continue;
    for (const Json& line : lines_of(one, name_of(one), catalog(), !GetParam())) {
      const JsonArray* differences = json_at(line, "differences").if_array();
      if (differences == nullptr) continue;
      ++compared;
      EXPECT_TRUE(differences->empty())
          << name_of(one) << '#' << json_int(line, "i") << ' ' << to_json_text(json_at(line, "differences"));
    }
  }
  EXPECT_GE(compared, 20U);
}

}  // namespace
}  // namespace praxis::wire
