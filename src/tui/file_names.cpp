#include "tui/file_names.hpp"

#include <fcntl.h>

#include <mutex>
#include <utility>

#include "tools/file_roots.hpp"
#include "tools/file_walk.hpp"

namespace praxis::tui {
namespace {

using namespace std::chrono_literals;

constexpr auto kFresh = 5s;

std::vector<std::string> names_below(const std::string& folder, const std::stop_token& stop) {
  std::vector<std::string> names;
  const FileRoots roots({folder});
  const auto opened = roots.open(".", O_RDONLY | O_DIRECTORY);
  if (!opened) return names;
  FileWalk walk(roots, opened->first, stop);
  walk.run([&](const std::string& below) {
    names.push_back(below);
    return names.size() < FileNames::kMostNames;
  });
  return names;
}

}  // namespace

struct FileNames::Found {
  std::mutex mutex;
  std::shared_ptr<const std::vector<std::string>> names;
  bool looks = false;
};

FileNames::FileNames(std::shared_ptr<Executor> executor, std::string folder, std::function<void()> wake)
    : executor_(std::move(executor)),
      folder_(std::move(folder)),
      wake_(std::move(wake)),
      found_(std::make_shared<Found>()) {}

FileNames::~FileNames() { stop_.request_stop(); }

void FileNames::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (names() != nullptr && now - looked_ < kFresh) return;
  {
    const std::lock_guard lock(found_->mutex);
    if (std::exchange(found_->looks, true)) return;
  }
  looked_ = now;
  executor_->post_blocking([found = found_, folder = folder_, wake = wake_, stop = stop_.get_token()] {
    auto names = std::make_shared<const std::vector<std::string>>(names_below(folder, stop));
    {
      const std::lock_guard lock(found->mutex);
      found->names = std::move(names);
      found->looks = false;
    }
    if (!stop.stop_requested()) wake();
  });
}

std::shared_ptr<const std::vector<std::string>> FileNames::names() const {
  const std::lock_guard lock(found_->mutex);
  return found_->names;
}

}  // namespace praxis::tui
