// `praxis serve` as a process in a folder with its own journal, and the agent `work`, which makes five calls.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "net/testing/raw_client.hpp"

namespace praxis::testing {

inline constexpr const char* kServedToken = "token-of-the-serve-tests";

class ServedCommandLine : public CommandLine {
 protected:
  ServedCommandLine() {
    std::filesystem::create_directories(folder_ / "config/praxis/agents");
    std::ofstream(folder_ / "token") << kServedToken << '\n';
    std::filesystem::permissions(folder_ / "token", std::filesystem::perms::owner_read);
    // Every effect may be made again: a killed server is not what decides about them here.
    std::ofstream script(folder_ / "work.jsonl");
    for (int i = 0; i < 5; ++i) {
      script << R"({"delay_ms":30,"text":"Step.","tool_calls":[{"name":"kv","arguments":{"op":"put","key":"k)"
             << i << R"(","value":"v"}}]})" << '\n';
    }
    script << R"({"delay_ms":30,"text":"Done."})" << '\n';
    std::ofstream(folder_ / "config/praxis/agents/work.toml")
        << "model = \"script:work.jsonl\"\n[tools.kv]\n[policy]\nallow = [\"kv\"]\n";
  }

  /// Starts a server; waits until it serves.
  std::unique_ptr<Process> serve(std::vector<std::string> arguments = {},
                                 const std::string& scheme = "http") {
    const std::string port = std::to_string(port_);
    std::vector<std::string> words{"serve", "--journal", "runs.db", "--token-file", "token", "--port", port};
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto process = std::make_unique<Process>(command(words), options_);
    EXPECT_TRUE(process->reports("praxis: serving on " + scheme + "://127.0.0.1:") && process->reports("\n"))
        << process->errors;
    const auto at = process->errors.rfind(':');
    if (port_ == 0) port_ = static_cast<std::uint16_t>(std::atoi(process->errors.c_str() + at + 1));
    return process;
  }
  static std::string request(const std::string& line, const std::string& headers, const std::string& body) {
    return line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer " +
           kServedToken + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  }
  std::string call(const std::string& line, const std::string& body = {}) const {
    RawClient client(port_);
    client.send(request(line, "", body));
    const std::string all = client.read_all();
    const auto split = all.find("\r\n\r\n");
    return split == all.npos ? "" : all.substr(split + 4);
  }

  std::uint16_t port_ = 0;
};

}  // namespace praxis::testing
