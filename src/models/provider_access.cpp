#include "models/provider_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/trimmed.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxKeyBytes = 16 * 1024;

std::unexpected<Error> wrong(const ProviderFacts& provider, const std::string& what) {
  return fail(ErrorCode::kInput, "provider \"" + provider.id + "\": " + what);
}

/// Closes its file descriptor.
class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

/// Why a key file is unsafe (others could read or have created it); empty if it is safe.
std::string why_unsafe(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "is not a regular file";
  if (file.st_uid != geteuid()) return "belongs to another user";
  if ((file.st_mode & (S_IRWXG | S_IRWXO)) != 0) return "is open to others; chmod 600 it";
  return {};
}

/// Reads the key from a file. An error states what is wrong with the file, without its path.
Result<std::string> read_key(const std::string& path) {
  const File file(path);
  struct stat about = {};
  if (file.get() < 0 || fstat(file.get(), &about) != 0) {
    return fail(ErrorCode::kInput, std::string("cannot be read: ") + std::strerror(errno));
  }
  if (std::string unsafe = why_unsafe(about); !unsafe.empty())
    return fail(ErrorCode::kInput, std::move(unsafe));
  std::array<char, kMaxKeyBytes + 1> bytes;
  const ssize_t count = read(file.get(), bytes.data(), bytes.size());
  if (count < 0) return fail(ErrorCode::kInput, std::string("cannot be read: ") + std::strerror(errno));
  std::string key(trimmed({bytes.data(), static_cast<std::size_t>(count)}));
  const bool is_key = std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; });
  if (key.empty() || !is_key || key.size() > kMaxKeyBytes) {
    return fail(ErrorCode::kInput, "must contain one key, without spaces");
  }
  return key;
}

/// `text` with each `{NAME}` replaced by that environment variable. Its value may hold only letters, digits,
/// `-`, `_` and `.`, so that it cannot change the URL's structure.
Result<std::string> filled_in(const ProviderFacts& provider, std::string_view text, const Environ& env) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) return wrong(provider, "a \"{\" has no matching \"}\"");
    const std::string name(text.substr(1, close - 1));
    const std::string value = env(name);
    if (value.empty()) return wrong(provider, "set " + name);
    if (value.find_first_not_of(kAllowed) != std::string::npos) {
      return wrong(provider, name + " may contain only letters, digits, '-', '_' and '.'");
    }
    out += value;
    text.remove_prefix(close + 1);
  }
  return out;
}

Status check_base_url(const ProviderFacts& provider, const std::string& url, const std::string& origin) {
  const std::string where = origin.empty() ? "base_url" : origin;
  if (const auto parsed = parse_url(url); !parsed)
    return wrong(provider, where + ": " + parsed.error().message);
  if (url.find_first_of("?#") != std::string::npos) {
    return wrong(provider, where + ": a base URL must not have a query or fragment");
  }
  return {};
}

}  // namespace

Result<Found> find_key(const ProviderFacts& provider, const Environ& env) {
  for (const std::string& name : provider.key_env) {
    if (std::string value = env(name); !value.empty()) return Found{std::move(value), name};
  }
  if (provider.key_file.empty()) return Found{};
  auto key = read_key(provider.key_file);
  if (!key) return wrong(provider, "the key file \"" + provider.key_file + "\" " + key.error().message);
  return Found{*std::move(key), provider.key_file};
}

Result<Found> find_base_url(const ProviderFacts& provider, const Environ& env) {
  Found found;
  if (!provider.base_url_env.empty()) found.value = env(provider.base_url_env);
  if (!found.value.empty()) {
    found.origin = provider.base_url_env;
  } else if (provider.base_url.empty()) {
    return wrong(provider, "set " + provider.base_url_env + " to its base URL");
  } else {
    auto url = filled_in(provider, provider.base_url, env);
    if (!url) return fail(url.error());
    found.value = *std::move(url);
  }
  if (auto checked = check_base_url(provider, found.value, found.origin); !checked)
    return fail(checked.error());
  return found;
}

std::string key_places(const ProviderFacts& provider) {
  std::vector<std::string> places = provider.key_env;
  if (!provider.key_file.empty()) places.push_back(provider.key_file);
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : " or ") + place;
  return text;
}

Result<ProviderAccess> access_to(const ProviderFacts& provider, const Environ& env) {
  auto base_url = find_base_url(provider, env);
  if (!base_url) return fail(base_url.error());
  auto key = find_key(provider, env);
  if (!key) return fail(key.error());
  const std::string places = key_places(provider);
  if (key->value.empty() && provider.needs_key && !places.empty() && base_url->origin.empty()) {
    return fail(ErrorCode::kInput, "provider \"" + provider.id + "\" needs a key: set " + places);
  }
  ProviderAccess access{std::move(base_url->value),  std::move(key->value), {}, {},
                        std::move(base_url->origin), std::move(key->origin)};
  if (!access.key.empty()) access.secrets.push_back(access.key);
  for (const auto& [name, text] : provider.headers) {
    auto value = filled_in(provider, text, env);
    if (!value) return fail(value.error());
    if (text.contains('{')) access.secrets.push_back(*value);
    access.headers.emplace_back(name, *std::move(value));
  }
  return access;
}

}  // namespace praxis
