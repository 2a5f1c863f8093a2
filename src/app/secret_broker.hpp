// The secrets that the user's configuration names, `[secrets.NAME]`: where each comes from, and for which
// hosts, tools and agents it is. Tools name a secret; the broker gives its value at the last moment, and
// knows from then on what has to be hidden.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/secret_source.hpp"
#include "praxis/app/config.hpp"
#include "redact/redaction.hpp"
#include "tools/host_rules.hpp"

namespace praxis {

/// One secret, as the configuration describes it.
struct SecretRule {
  std::string name;
  app::SecretSource source = {};
  std::vector<std::string> hosts = {};  ///< as written; empty: it is sent to no host
  HostRules host_rules = {};            ///< the same
  std::vector<std::string> tools = {};  ///< that may use it, as in `SecretUser`; empty: any
  /// Absolute paths of the agent files that may use it; empty: all of the user's.
  std::vector<std::string> agents = {};
};

/// What wants a secret.
struct SecretUser {
  std::string tool;             ///< `http`, `shell`, `mcp.NAME`
  std::string agent_file = {};  ///< absolute path
  bool is_project = false;      ///< the agent comes from a project, so that a secret must name it
};

/// Thread-safe.
class SecretBroker {
 public:
  static constexpr std::size_t kLeastBytes = 8;  ///< shorter values could occur in ordinary words
  static constexpr std::size_t kMostBytes = 16 * 1024;

  /// The secrets of a configuration; there may be none. Error `kInput` names the setting and its file.
  static Result<std::shared_ptr<SecretBroker>> of(const Config& config);
  SecretBroker(const SecretBroker&) = delete;
  SecretBroker& operator=(const SecretBroker&) = delete;

  /// All of them, by name.
  const std::map<std::string, SecretRule>& rules() const { return rules_; }
  /// The secret, if `user` may have it; lives as long as the broker. Reads no value. Error `kInput` names the
  /// nearest known secret, or the bound that is in the way.
  Result<const SecretRule*> find(const std::string& name, const SecretUser& user) const;
  /// The value of one of `rules`, which is hidden from now on. What a command or the keyring gave is kept,
  /// the others are read at each call. Blocks. Error `kInput`, without the value: the source cannot be read,
  /// or what it gives is no line of 8 bytes to 16 KiB.
  Result<std::shared_ptr<const SecretBytes>> hand_out(const SecretRule& rule);
  /// Hides all values that were handed out, in all encodings that `Redactor` knows.
  redact::Redaction redaction() const;
  /// The values that were handed out.
  std::vector<std::string> handed_out() const;

 private:
  explicit SecretBroker(std::map<std::string, SecretRule> rules) : rules_(std::move(rules)) {}

  const std::map<std::string, SecretRule> rules_;
  std::mutex reading_;  ///< one source is asked at a time, and a command once
  std::map<std::string, std::shared_ptr<const SecretBytes>> kept_;
  mutable std::mutex mutex_;
  std::vector<std::string> handed_out_;
  std::shared_ptr<const Redactor> redactor_;  ///< null: nothing was handed out
};

/// Reads a secret as `SecretBroker::hand_out` does, and keeps nothing.
Result<SecretBytes> read_secret_value(const SecretRule& rule);

}  // namespace praxis
