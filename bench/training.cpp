// Runs sessions like those of real users, from which the compiler learns the hot paths of the library
// (docs/performance.md, "Compiled with a profile"): models in five protocols over HTTP, answers whole and
// streamed, tools, journals in memory and on disk, one session at a time and many in parallel. Then replays
// what was recorded.
//
//   praxis_training
//
// Prints the number of turns. The status is 1 if one of them did not end as expected.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "faults/reply_parts.hpp"
#include "faults/vendor_answers.hpp"
#include "must.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/praxis.hpp"
#include "praxis/tools/typed_tool.hpp"

namespace {

using namespace praxis;
using bench::must;
namespace endpoint = faults::endpoint;
using endpoint::Words;

constexpr std::string_view kAsked = "Please note this.";
constexpr std::string_view kNoted = "It is noted.";
constexpr int kTurns = 2;  // of each session

struct Vendor {
  const char* model;
  const char* base_url;  ///< the variable
  const char* key;       ///< likewise
  std::string_view protocol;
  std::string_view path;  ///< a part that is unique to this vendor
};

constexpr std::array kVendors{
    Vendor{"openai-chat:m", "OPENAI_BASE_URL", "OPENAI_API_KEY", "chat", "/chat/completions"},
    Vendor{"openai:m", "OPENAI_BASE_URL", "OPENAI_API_KEY", "responses", "/responses"},
    Vendor{"anthropic:m", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "messages", "/messages"},
    Vendor{"google:m", "GEMINI_BASE_URL", "GEMINI_API_KEY", "gemini", "enerateContent"},
    Vendor{"ollama:m", "OLLAMA_BASE_URL", "OLLAMA_API_KEY", "ollama", "/api/chat"},
};

struct Note {
  std::string text;
};
PRAXIS_FIELDS(Note, text)

// ---- the vendors

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++found;
  return found;
}

/// Answers each question with one tool call, then with text.
Words words_for(std::string_view conversation) {
  if (count(conversation, kAsked) > count(conversation, kNoted))
    return {"I shall note it at once.", "note", R"({"text": "The \"fox\", not at all tired, said été."})"};
  std::string text = "Done.";
  for (int i = 0; i < 20; ++i) text += " And then the fox, not at all tired, said \"été\".";
  return {.text = text, .tool = {}, .arguments = {}, .most_pieces = 60};
}

void serve(const TestRequest& request, TestConnection& to) {
  const auto vendor = std::ranges::find_if(
      kVendors, [&](const Vendor& v) { return request.target.find(v.path) != std::string::npos; });
  if (vendor == kVendors.end()) {
    to.write(http_reply(404, request.target));
    return;
  }
  const bool stream =
      request.target.find("stream") != std::string::npos || count(request.body, R"("stream":true)") > 0;
  faults::Random random(request.body.size());
  const auto answer = endpoint::wire_answer(vendor->protocol, stream, words_for(request.body), random);
  if (!stream) {
    to.write(http_reply(200, answer.body(), "Content-Type: " + answer.content_type + "\r\n"));
    return;
  }
  to.write(endpoint::head_of(endpoint::Framing::kChunked, 0, answer.content_type));
  for (const std::string& event : answer.events) to.write(endpoint::chunk(event));
  to.write("0\r\n\r\n");
}

// ---- their customers

Agent note_taker(const char* model, const std::shared_ptr<Runtime>& runtime, std::atomic<std::size_t>& read) {
  Agent agent(model, "You take notes.");
  agent.runtime(runtime)
      .use(make_tool("note", "Takes a note.", [](Note) { return std::string(kNoted); }))
      .on("text.delta",
          [&read](const Event& event) { read += std::get<events::TextDelta>(event.body).text.size(); });
  return agent;
}

void hold_session(const Agent& agent) {
  Session session = must(agent.session());
  for (int turn = 0; turn < kTurns; ++turn) {
    const AgentResult result = must(session.ask(std::string(kAsked)));
    if (result.success && result.text.starts_with("Done.")) continue;
    std::fprintf(stderr, "%s\n", result.error ? result.error->message.c_str() : result.text.c_str());
    std::exit(1);
  }
}

/// Runs some sessions one after another, then many in parallel.
std::size_t hold_sessions(const Agent& agent) {
  constexpr std::size_t kAlone = 20, kThreads = 25, kEach = 4;
  for (std::size_t i = 0; i < kAlone; ++i) hold_session(agent);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&agent] {
      for (std::size_t k = 0; k < kEach; ++k) hold_session(agent);
    });
  }
  return kAlone + kThreads * kEach;
}

void replay_some(Journal& journal) {
  for (const SessionRow& row : must(journal.sessions(20))) {
    if (!must(replay(must(read_records(journal, row.id)))).divergence) continue;
    std::fprintf(stderr, "session %s replays differently\n", row.id.str().c_str());
    std::exit(1);
  }
}

std::size_t run(const std::shared_ptr<Journal>& journal, bool stream) {
  RuntimeOptions options;
  options.journal = journal;
  options.stream = stream;
  const auto runtime = Runtime::create(std::move(options));
  std::size_t sessions = 0;
  std::atomic<std::size_t> read = 0;
  for (const Vendor& vendor : kVendors) sessions += hold_sessions(note_taker(vendor.model, runtime, read));
  if (stream == (read == 0)) {
    std::fprintf(stderr, "%zu bytes came as deltas\n", read.load());
    std::exit(1);
  }
  replay_some(*journal);
  return sessions * kTurns;
}

}  // namespace

int main() {
  const TestServer server(serve);
  for (const Vendor& vendor : kVendors) {
    setenv(vendor.base_url, server.url("/v1").c_str(), 1);
    setenv(vendor.key, "x", 1);
  }
  std::string folder = (std::filesystem::temp_directory_path() / "praxis-training-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  std::size_t turns = 0;
  for (const bool stream : {false, true}) {
    turns += run(memory_journal(), stream);
    turns += run(must(sqlite_journal(folder + (stream ? "/streamed.db" : "/whole.db"))), stream);
  }
  std::filesystem::remove_all(folder);
  std::printf("%zu turns\n", turns);
  return 0;
}
