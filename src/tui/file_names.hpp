// The names of the files of a project, for completion: looked up in the background, so that a large folder
// never stops the chat.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/base/executor.hpp"

namespace praxis::tui {

/// One thread, apart from the look-up itself.
class FileNames {
 public:
  static constexpr std::size_t kMostNames = 50'000;

  /// `wake` is called from another thread when names have been found.
  FileNames(std::shared_ptr<Executor> executor, std::string folder, std::function<void()> wake);
  ~FileNames();
  FileNames(const FileNames&) = delete;
  FileNames& operator=(const FileNames&) = delete;

  /// Looks again unless that was done in the last seconds.
  void refresh();
  /// Paths below the folder without those that `.gitignore` files leave out, `.git`, and files that hold
  /// secrets; null before the first look-up has ended.
  std::shared_ptr<const std::vector<std::string>> names() const;

 private:
  struct Found;

  const std::shared_ptr<Executor> executor_;
  const std::string folder_;
  const std::function<void()> wake_;
  const std::shared_ptr<Found> found_;
  std::stop_source stop_;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace praxis::tui
