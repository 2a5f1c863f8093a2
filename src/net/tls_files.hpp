// The PEM files of a TLS server, which are read again when they have changed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/http_server_tls.hpp"
#include "praxis/base/executor.hpp"

namespace praxis {

/// Owned by a `shared_ptr`; looks as long as it lives. The files are read on a worker.
class TlsFiles : public std::enable_shared_from_this<TlsFiles> {
 public:
  struct Places {
    std::string certificate, key;
    std::chrono::milliseconds look{0};  ///< how often they are looked at
  };
  /// `use` is called on the I/O thread with what changed files hold; `warn`, on any thread and once for each
  /// change, with the reason why it cannot be used.
  TlsFiles(const std::shared_ptr<Executor>& executor, Places places,
           std::function<void(std::shared_ptr<const ServerTls>)> use,
           std::function<void(const std::string&)> warn);
  ~TlsFiles();
  TlsFiles(const TlsFiles&) = delete;
  TlsFiles& operator=(const TlsFiles&) = delete;

  /// Begins to look. Call once, on the I/O thread.
  void start();

 private:
  void look_later();
  void look();

  const std::weak_ptr<Executor> executor_;
  const Places places_;
  const std::function<void(std::shared_ptr<const ServerTls>)> use_;
  const std::function<void(const std::string&)> warn_;
  std::string seen_;  ///< what tells the files that were read last; used by one look at a time
  Executor::TimerId timer_ = 0;
};

}  // namespace praxis
