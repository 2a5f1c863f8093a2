#include "net/tls_files.hpp"

#include <sys/stat.h>

#include <utility>

namespace praxis {
namespace {

/// What differs once a file was written or replaced; also by the target of a link.
std::string stamp_of(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return "missing";
  std::string stamp;
  for (const auto each : {static_cast<long long>(about.st_dev), static_cast<long long>(about.st_ino),
                          static_cast<long long>(about.st_size), static_cast<long long>(about.st_mtim.tv_sec),
                          static_cast<long long>(about.st_mtim.tv_nsec)})
    stamp += std::to_string(each) + " ";
  return stamp;
}

}  // namespace

TlsFiles::TlsFiles(const std::shared_ptr<Executor>& executor, Places places,
                   std::function<void(std::shared_ptr<const ServerTls>)> use,
                   std::function<void(const std::string&)> warn)
    : executor_(executor),
      places_(std::move(places)),
      use_(std::move(use)),
      warn_(std::move(warn)),
      seen_(stamp_of(places_.certificate) + stamp_of(places_.key)) {}

TlsFiles::~TlsFiles() {
  if (const auto executor = executor_.lock()) executor->cancel(timer_);
}

void TlsFiles::start() { look_later(); }

void TlsFiles::look_later() {
  const auto executor = executor_.lock();
  if (!executor) return;
  timer_ = executor->after(places_.look, [weak = weak_from_this()] {
    const auto self = weak.lock();
    const auto living = self ? self->executor_.lock() : nullptr;
    if (!living) return;
    living->post_blocking([weak] {
      if (const auto looking = weak.lock()) looking->look();
    });
  });
}

/// New files are written one after the other: what does not fit together now may with the next look.
void TlsFiles::look() {
  std::string stamp = stamp_of(places_.certificate) + stamp_of(places_.key);
  std::shared_ptr<const ServerTls> made;
  if (stamp != seen_) {
    seen_ = std::move(stamp);
    auto loaded = ServerTls::load(places_.certificate, places_.key);
    if (loaded) {
      made = *loaded;
    } else if (warn_) {
      warn_("the changed certificate is not used, the one before is: " + loaded.error().message);
    }
  }
  const auto executor = executor_.lock();
  if (!executor) return;
  executor->post([weak = weak_from_this(), made = std::move(made)] {
    const auto self = weak.lock();
    if (!self) return;
    if (made) self->use_(made);
    self->look_later();
  });
}

}  // namespace praxis
