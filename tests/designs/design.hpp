// For the programs of docs/designs.md: agents on scripted models, and what a program heard.
#pragma once

// The programs name the members that they set. Clang has a warning of its own for that, which g++ does not
// know.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wmissing-designated-field-initializers"
#endif

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <praxis/praxis.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace designs {

/// A folder of its own for each test, removed at its end.
class Design : public testing::Test {
 protected:
  Design() {
    std::string pattern = testing::TempDir() + "design-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Design() override { std::filesystem::remove_all(folder_); }

  /// The name of a model that answers with these lines (docs/script-model.md).
  std::string script(std::string_view lines) {
    const auto file = folder_ / ("script" + std::to_string(++scripts_) + ".jsonl");
    std::ofstream(file) << lines;
    return "script:" + file.string();
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int scripts_ = 0;
};

/// What a program does with an error that it does not expect.
inline void print(const praxis::Error& error) { ADD_FAILURE() << error.message; }

/// Lines that a program prints, from any thread.
class Lines {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// How often each line occurs.
inline auto count_of(const std::vector<std::string>& lines, std::string_view line) {
  return std::ranges::count(lines, line);
}

}  // namespace designs
