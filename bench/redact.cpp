// The search for secrets and personal data: bytes per second of CPU time for each profile.
//   praxis_redact_bench [FILE...]     texts to search; default: generated prose and log lines
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "redact/detector.hpp"

namespace praxis::redact {
namespace {

constexpr std::size_t kBytes = std::size_t{8} * 1024 * 1024;

/// Prose with a log line now and then; the same in each run.
std::string typical_text() {
  static constexpr std::string_view kWords[] = {"the",     "of",      "and",      "agent",   "model",
                                                "answer",  "request", "file",     "result",  "while",
                                                "session", "journal", "before",   "quickly", "value",
                                                "index",   "network", "document", "with",    "returns"};
  std::mt19937 random(1);
  std::string out;
  while (out.size() < kBytes) {
    for (int i = 0; i < 12; ++i) out.append(kWords[random() % std::size(kWords)]) += ' ';
    if (random() % 8 == 0)
      out += "12:30:" + std::to_string(10 + random() % 50) + " info: took " + std::to_string(random() % 900) +
             " ms";
    out += ".\n";
  }
  return out;
}

void measure(std::string_view name, std::string_view text, Scope scope) {
  const Detector detector(scope);
  std::size_t found = detector.find(text).size();  // compiles what is needed
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t begin = std::clock();
    found = detector.find(text).size();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::printf("  %-10.*s %7.0f MB/s, %zu found\n", static_cast<int>(name.size()), name.data(),
              static_cast<double>(text.size()) / best / 1e6, found);
}

}  // namespace
}  // namespace praxis::redact

int main(int argc, char** argv) {
  using namespace praxis::redact;
  std::string text;
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  if (argc == 1) text = typical_text();
  measure("secrets", text, {.personal = false});
  measure("balanced", text, {});
  measure("strict", text, {.profile = Profile::kStrict});
}
