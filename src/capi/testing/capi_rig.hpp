// For tests of the C interface: scripts as models, and handles and text that release themselves.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "praxis/praxis.h"

namespace praxis::testing {

/// Text that the library gave.
class Given {
 public:
  ~Given() { praxis_free(text_); }
  Given() = default;
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  char** out() {
    praxis_free(text_);
    text_ = nullptr;
    return &text_;
  }
  std::string str() const { return text_ == nullptr ? "(nothing)" : text_; }

 private:
  char* text_ = nullptr;
};

inline std::string last_error() {
  const char* const error = praxis_last_error();
  return error == nullptr ? "(no error)" : error;
}

/// A tool whose function is a lambda.
struct LambdaTool {
  using Function = std::function<int(praxis_call, const char*)>;
  explicit LambdaTool(Function function) : run(std::move(function)) {}

  const Function run;
  std::atomic<int> released = 0;

  static int call(void* self, praxis_call call, const char* arguments) {
    return static_cast<LambdaTool*>(self)->run(call, arguments);
  }
  static void release(void* self) { ++static_cast<LambdaTool*>(self)->released; }
};

class CApiTest : public ::testing::Test {
 protected:
  CApiTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_capi_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    EXPECT_EQ(praxis_runtime_open(nullptr, &runtime_), PRAXIS_OK) << last_error();
  }
  ~CApiTest() override {
    praxis_close(runtime_);
    std::filesystem::remove_all(folder_);
  }

  /// The name of a model that answers with these lines.
  std::string script(const std::vector<std::string>& lines) {
    const auto file = folder_ / (std::to_string(++scripts_) + ".jsonl");
    std::ofstream out(file);
    for (const std::string& line : lines) out << line << '\n';
    return "script:" + file.string();
  }
  praxis_agent agent(const std::vector<std::string>& lines, const std::string& more = "") {
    praxis_agent made = 0;
    const std::string text = R"({"model":")" + script(lines) + '"' + more + '}';
    EXPECT_EQ(praxis_agent_create(runtime_, text.c_str(), &made), PRAXIS_OK) << last_error();
    return made;
  }
  /// An agent whose model calls the tool `act` once and then says "done".
  praxis_agent agent_with(LambdaTool& tool, const std::string& settings = "") {
    const praxis_agent made =
        agent({R"({"tool_calls":[{"name":"act","arguments":{"n":1}}]})", R"({"text":"done"})"});
    const std::string definition = R"({"name":"act","description":"Acts")" + settings + '}';
    EXPECT_EQ(praxis_agent_add_tool(made, definition.c_str(), LambdaTool::call, &tool, LambdaTool::release),
              PRAXIS_OK)
        << last_error();
    return made;
  }
  /// A tool that lives until the runtime is closed, which releases it.
  LambdaTool& lambda(LambdaTool::Function function) { return tools_.emplace_back(std::move(function)); }
  praxis_run start(praxis_agent agent, const char* prompt = "go") {
    praxis_run run = 0;
    EXPECT_EQ(praxis_agent_run(agent, prompt, nullptr, &run), PRAXIS_OK) << last_error();
    return run;
  }
  std::string result(praxis_run run) {
    Given report;
    EXPECT_EQ(praxis_run_result(run, -1, report.out()), PRAXIS_OK) << last_error();
    return report.str();
  }
  /// All events of the run, one a line.
  std::string events(praxis_run run) {
    std::string all;
    Given event;
    while (praxis_run_next(run, -1, event.out()) == PRAXIS_OK) all += event.str() + '\n';
    return all;
  }

  std::filesystem::path folder_;
  praxis_runtime runtime_ = 0;
  int scripts_ = 0;

 private:
  std::deque<LambdaTool> tools_;
};

}  // namespace praxis::testing
