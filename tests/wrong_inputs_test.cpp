// Plays the wrong inputs of wrong_inputs.txt against the real binary: each with its exit status and what it
// says. PRAXIS_UPDATE_WRONG_INPUTS=1 writes what is said now into that file, for review.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

const char* const kInputsFile = PRAXIS_SOURCE_DIR "/tests/wrong_inputs.txt";
constexpr int kAtOnce = 4;
constexpr std::size_t kMostLines = 6;  ///< of each stream

/// A command with what follows it in the file.
struct WrongInput {
  std::string command;
  std::string expected;  ///< lines with two spaces before each
  std::string found = {};
};

/// Parts of the file: text before the first command, then the commands, each with the headings after it.
struct InputsFile {
  std::string head;
  std::vector<WrongInput> inputs;
  std::vector<std::string> gaps;  ///< after each command

  static InputsFile read() {
    InputsFile file;
    std::ifstream in(kInputsFile);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("$ ")) {
        file.inputs.push_back({line.substr(2), {}});
        file.gaps.emplace_back();
      } else if (file.inputs.empty()) {
        file.head += line + '\n';
      } else if (line.starts_with("  ")) {
        file.inputs.back().expected += line + '\n';
      } else {
        file.gaps.back() += line + '\n';
      }
    }
    return file;
  }
  void write() const {
    std::ofstream out(kInputsFile);
    out << head;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      out << "$ " << inputs[i].command << '\n' << inputs[i].found << gaps[i];
  }
};

void replace_each(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

bool is_id(std::string_view word) {
  return word.starts_with("01") &&
         word.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ") == std::string_view::npos;
}

/// Replaces what differs from run to run: ids, times, durations.
std::string steady(std::string text) {
  constexpr std::size_t kIdLength = 26;
  for (std::size_t at = 0; at + kIdLength <= text.size(); ++at) {
    if (is_id(std::string_view(text).substr(at, kIdLength))) text.replace(at, kIdLength, "ID");
  }
  for (const std::string_view unit : {" ms", " s,", " s:"}) {
    for (std::size_t at = 0; (at = text.find(unit, at)) != std::string::npos; ++at) {
      std::size_t begin = at;
      while (begin > 0 && std::string_view("0123456789.").contains(text[begin - 1])) --begin;
      const std::string_view before = std::string_view(text).substr(0, begin);
      const bool is_limit = before.ends_with("limit of ") || before.ends_with("patience of ");
      if (begin == at || is_limit) continue;
      const std::size_t end = at + unit.size() - (unit == " ms" ? 0 : 1);
      text.replace(begin, end - begin, "N ms");  // a slow machine counts seconds
      at = begin;
    }
  }
  // Where a line is cut off depends on the lengths of its durations.
  for (std::size_t at = 0; (at = text.find("...\n", at)) != std::string::npos; ++at) {
    const std::size_t last = text.rfind("; ", at), line = text.rfind('\n', at);
    if (last == std::string::npos || (line != std::string::npos && last < line)) continue;
    text.erase(last, at - last);
    at = last;
  }
  return text;
}

class WrongInputs : public CommandLine {
 protected:
  WrongInputs() {
    file("fixture/chat.jsonl", R"({"text": "Hello there."})"
                               "\n");
    file("fixture/slow.jsonl", R"({"text": "x", "delay_ms": 20000})"
                               "\n");
    file("fixture/ask.jsonl",
         R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})"
         "\n"
         R"({"text": "Done."})"
         "\n");
    file("fixture/ask.toml", "model = \"script:ask.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
    file("fixture/config/praxis/config.toml", "");
    std::string bytes;
    for (int i = 0; i < 500; ++i) bytes += static_cast<char>((i * 97 + 31) % 256);
    file("fixture/random.bin", bytes);
    for (const char* folder : {"home", "state", "work", "folder.toml"})
      std::filesystem::create_directories(folder_ / "fixture" / folder);
    waiting_ = run_in("fixture", {"praxis run ask.toml Hi"});
    done_ = run_in("fixture", {"praxis run Hi --model script:chat.jsonl"});
  }

  ProcessOptions options_in(const std::string& name) const {
    ProcessOptions options = options_;
    const std::string place = folder_ / name;
    options.folder = place;
    options.env["HOME"] = place + "/home";
    options.env["XDG_STATE_HOME"] = place + "/state";
    options.env["XDG_CONFIG_HOME"] = place + "/config";
    options.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
    options.env["LC_ALL"] = "C";
    options.env["TERM"] = "dumb";
    options.env["ASK"] = waiting_;
    options.env["DONE"] = done_;
    for (const char* unset : {"PRAXIS_MODEL", "ANTHROPIC_API_KEY", "AZURE_RESOURCE_NAME", "EDITOR", "VISUAL"})
      options.env[unset] = "";
    return options;
  }
  /// Runs a command in a folder; returns the id of the run that it made.
  std::string run_in(const std::string& name, const std::string& text) const {
    const std::string said = run({"bash", "-c", text}, options_in(name)).err;
    const std::size_t at = said.find("\nrun 01");
    return at == std::string::npos ? "" : said.substr(at + 5, 26);
  }

  /// Plays a command in a copy of the fixture; returns what the file is to say.
  std::string play(std::size_t number, const std::string& text) const {
    const std::string name = "case" + std::to_string(number);
    std::filesystem::copy(folder_ / "fixture", folder_ / name, std::filesystem::copy_options::recursive);
    const CommandResult result = run({"bash", "-c", text}, options_in(name));
    std::string said = "  exit " + std::to_string(result.status) + '\n';
    const auto add = [&](std::string stream, const std::string& mark) {
      replace_each(stream, folder_ / name, "FOLDER");
      replace_each(stream, waiting_, "ASK");
      replace_each(stream, done_, "DONE");
      std::istringstream lines(steady(std::move(stream)));
      std::size_t count = 0;
      for (std::string line; std::getline(lines, line) && ++count <= kMostLines;)
        said += "  " + mark + line.substr(0, 250) + '\n';
    };
    add(result.err, "");
    add(result.out, "| ");
    std::filesystem::remove_all(folder_ / name);
    return said;
  }

  std::string waiting_, done_;
};

TEST_F(WrongInputs, EachHasItsExitStatusAndMessage) {
  InputsFile file = InputsFile::read();
  EXPECT_GE(file.inputs.size(), 300U);
  {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> players;
    for (int i = 0; i < kAtOnce; ++i) {
      players.emplace_back([&] {
        for (std::size_t at = next++; at < file.inputs.size(); at = next++)
          file.inputs[at].found = play(at, file.inputs[at].command);
      });
    }
  }
  if (std::getenv("PRAXIS_UPDATE_WRONG_INPUTS") != nullptr) return file.write();
  for (const WrongInput& input : file.inputs) EXPECT_EQ(input.found, input.expected) << "$ " << input.command;
}

/// A message says what is wrong in the words of this program, not of the libraries that it uses.
TEST(WrongInputMessages, HaveNoWordsOfParsers) {
  for (const WrongInput& input : InputsFile::read().inputs) {
    for (const char* word : {"Could not convert", "not in range", "At Most", "disallowed", "Check ", "FAILED",
                             "Error while parsing", "18446744073709551615", "terminate called"})
      EXPECT_EQ(input.expected.find(word), std::string::npos) << "$ " << input.command << '\n'
                                                              << input.expected;
    const bool fails = !input.expected.starts_with("  exit 0\n");
    const bool says_why = input.expected.contains("praxis: error: ");
    EXPECT_EQ(fails && !says_why && !input.expected.contains("diverges"), false) << "$ " << input.command;
  }
}

}  // namespace
}  // namespace praxis::testing
