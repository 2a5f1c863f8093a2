// What a person does at a chat, and what becomes of it: the sessions in tests/chat_sessions, each at five
// sizes of terminal, judged by an emulator. Their form is in tests/chat_sessions/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <span>
#include <sstream>
#include <utility>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

constexpr std::array<TerminalShape, 5> kSessionShapes{{{40, 24}, {200, 50}, {60, 12}, {80, 24}, {120, 40}}};
/// How many of them sessions are played at; a sanitizer finds no more at the sizes in between.
constexpr std::size_t kShapes = PRAXIS_SANITIZED ? 2 : kSessionShapes.size();

/// A line of a session: its first word, and the rest, read if it is a JSON string.
struct SessionLine {
  std::string word, rest;
};

struct ChatSession {
  std::string words;  ///< of the first chat
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> wrote;  ///< lines that the files have in the end
  std::vector<SessionLine> steps;
  std::vector<std::string> said;       ///< is in the scrollback once, in this order
  std::vector<std::string> never;      ///< is not there
  std::vector<std::string> unwritten;  ///< is not in what the chat wrote to its terminal
  std::vector<std::string> nodes;      ///< `AGENT STATUS` of all agents of the run
  std::vector<std::string> logged;     ///< is in the records
};

std::optional<SessionLine> session_line(const std::string& line) {
  const auto space = std::min(line.find(' '), line.size());
  SessionLine read{line.substr(0, space), line.substr(std::min(space + 1, line.size()))};
  if (!read.rest.starts_with('"')) return read;
  const auto text = parse_json(read.rest);
  if (!text || !text->is_string()) return std::nullopt;
  read.rest = to_plain_text(*text);
  return read;
}

ChatSession read_session(const std::filesystem::path& path) {
  ChatSession session;
  std::ifstream in(path);
  std::string* file = nullptr;
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with("| ") && file != nullptr) {
      *file += text.substr(2) + '\n';
      continue;
    }
    if (text.empty() || text.starts_with('#')) continue;
    const auto line = session_line(text);
    EXPECT_TRUE(line) << path << ": not a JSON string: " << text;
    if (!line) continue;
    const std::map<std::string_view, std::vector<std::string>*> lists{{"said", &session.said},
                                                                      {"never", &session.never},
                                                                      {"unwritten", &session.unwritten},
                                                                      {"node", &session.nodes},
                                                                      {"log", &session.logged}};
    if (line->word == "file" || line->word == "wrote") {
      file = &(line->word == "file" ? session.files : session.wrote)[line->rest];
    } else if (line->word == "chat") {
      session.words = line->rest;
    } else if (const auto list = lists.find(line->word); list != lists.end()) {
      list->second->push_back(line->rest);
    } else {
      session.steps.push_back(*line);
    }
  }
  std::ranges::sort(session.nodes);
  return session;
}

std::vector<std::string> session_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(PRAXIS_SOURCE_DIR "/tests/chat_sessions")) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class ChatSessions : public CommandLine, public ChatRig, public ::testing::WithParamInterface<std::string> {
 protected:
  ChatSessions() {
    options_.env["EDITOR"] = "true";
    options_.env["VISUAL"] = "";
  }

  std::unique_ptr<TerminalSession> opened(const std::string& words, TerminalShape shape) const {
    std::vector<std::string> all{"chat"};
    std::istringstream in(words);
    for (std::string word; in >> word;) all.push_back(word);
    auto terminal = std::make_unique<TerminalSession>(command(all), options_, shape);
    begin(*terminal);
    return terminal;
  }

  /// Waits until that many turns have ended.
  static void ended(TerminalSession& chat, std::size_t turns) {
    const std::regex end(R"((^|\n)- ([a-z_ ]+: )?\d+ steps?,)");
    const bool have_ended = chat.wait_until([&] {
      const std::string screen = chat.screen();
      return std::cmp_equal(std::distance(std::sregex_iterator(screen.begin(), screen.end(), end), {}),
                            turns);
    });
    EXPECT_TRUE(have_ended) << "not " << turns << " turns:\n" << chat.screen();
  }
  /// Waits for a card and gives it the keys, which it has taken already if the user was not typing. One that
  /// does not fit the screen is printed first.
  static void focus(TerminalSession& chat) {
    const auto has = [&](const char* text) { return chat.screen().contains(text); };
    const auto can_decide = [&] { return has("[y]es once") || has("answer with Enter"); };
    const auto is_focused = [&] { return can_decide() || has("[s]how all of it"); };
    EXPECT_TRUE(chat.wait_until([&] { return is_focused() || has("Tab decides"); })) << chat.screen();
    if (!is_focused()) chat.type("\t");
    EXPECT_TRUE(chat.wait_until(is_focused)) << chat.screen();
    if (!can_decide()) chat.type("s");
    EXPECT_TRUE(chat.wait_until(can_decide)) << chat.screen();
  }

  void take(const SessionLine& step, std::unique_ptr<TerminalSession>& chat, TerminalShape shape) const {
    if (step.word == "type") return chat->type(step.rest);
    if (step.word == "shows") return static_cast<void>(chat->shows(step.rest));
    if (step.word == "loses") return static_cast<void>(loses(*chat, step.rest));
    if (step.word == "turns") return ended(*chat, std::stoul(step.rest));
    if (step.word == "focus") return focus(*chat);
    if (step.word == "open") return static_cast<void>(chat = opened(step.rest, shape));
    if (step.word == "kill") {
      chat->signal(SIGKILL);
      EXPECT_EQ(chat->finish(), 128 + SIGKILL);
      return;
    }
    ADD_FAILURE() << "not a step: " << step.word;
  }

  /// The agents of the last run, and what became of them.
  std::vector<std::string> nodes() const {
    std::vector<std::string> all;
    for (const Json& node : praxis({"tree", "last", "--json"}).items())
      all.push_back(json_string(node, "agent") + ' ' + json_string(node, "status"));
    std::ranges::sort(all);
    return all;
  }

  static void expect_lines(const std::string& text, const std::string& lines) {
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);)
      EXPECT_NE(('\n' + text).find('\n' + line + '\n'), std::string::npos) << line << "\nin:\n" << text;
  }

  void play(const ChatSession& session, TerminalShape shape) {
    for (const char* const kept : {"state", "config", "work"}) std::filesystem::remove_all(folder_ / kept);
    std::filesystem::create_directory(folder_ / "work");
    options_.folder = (folder_ / "work").string();
    for (const auto& [name, text] : session.files) file("work/" + name, text);
    auto chat = opened(session.words, shape);
    for (const SessionLine& step : session.steps) {
      if (HasFailure()) return;
      take(step, chat, shape);
    }
    if (HasFailure()) return;
    const std::string screen = left(*chat);
    expect_once_in_order(screen, session.said);
    for (const std::string& each : session.never)
      EXPECT_EQ(count(screen, each), 0U) << each << "\nin:\n" << screen;
    // The cells of the emulator never hold a control character, so these bytes are looked for before it.
    for (const std::string& each : session.unwritten)
      EXPECT_EQ(count(chat->output(), each), 0U) << to_json_text(Json(each)) << "\nin:\n" << screen;
    for (const auto& [name, lines] : session.wrote) expect_lines(contents("work/" + name), lines);
    EXPECT_EQ(nodes(), session.nodes);
    if (session.logged.empty()) return;
    const std::string log = praxis({"export", "last"}).out;
    for (const std::string& each : session.logged) EXPECT_THAT(log, ::testing::HasSubstr(each));
  }
};

TEST_P(ChatSessions, EndAsTheySay) {
  const ChatSession session = read_session(PRAXIS_SOURCE_DIR "/tests/chat_sessions/" + GetParam() + ".txt");
  EXPECT_FALSE(session.said.empty() && session.nodes.empty()) << "the session asserts nothing";
  for (const TerminalShape shape : std::span(kSessionShapes).first<kShapes>()) {
    SCOPED_TRACE(std::to_string(shape.columns) + "x" + std::to_string(shape.rows));
    play(session, shape);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ChatSessions, ::testing::ValuesIn(session_names()), [](const auto& name) {
  std::string text = name.param;
  std::ranges::replace(text, '-', '_');
  return text;
});

TEST(ChatSessionFolder, HasAtLeastForty) { EXPECT_GE(session_names().size(), 40U); }

}  // namespace
}  // namespace praxis::testing
