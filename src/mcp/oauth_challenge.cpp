#include "mcp/oauth_challenge.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

namespace praxis {
namespace {

constexpr std::size_t kMostHeader = 8192;
constexpr int kUnauthorised = 401, kForbidden = 403;

bool is_token_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

std::string small_letters(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Reads `Scheme name=value, name="value", Scheme ...` and keeps what belongs to `Bearer`.
class ChallengeReader {
 public:
  explicit ChallengeReader(std::string_view text) : text_(text.substr(0, kMostHeader)) {}

  std::map<std::string, std::string> read() {
    while (at_ < text_.size()) {
      const std::string word = small_letters(token());
      if (word.empty()) {
        ++at_;  // a separator, or what belongs to no challenge
        continue;
      }
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '=') {
        ++at_;
        skip_blanks();
        const std::string given = value();
        if (scheme_ == "bearer") fields_.emplace(word, given);
      } else {
        scheme_ = word;
      }
    }
    return std::move(fields_);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::string token() {
    std::string out;
    while (at_ < text_.size() && is_token_character(text_[at_])) out += text_[at_++];
    return out;
  }
  std::string value() {
    if (at_ >= text_.size() || text_[at_] != '"') return token();
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (at_ < text_.size()) ++at_;
    return out;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::string scheme_;
  std::map<std::string, std::string> fields_;
};

}  // namespace

std::optional<OauthChallenge> read_challenge(int status, const HttpHeaders& headers) {
  if (status != kUnauthorised && status != kForbidden) return std::nullopt;
  std::map<std::string, std::string> fields;
  for (const auto& [name, text] : headers) {
    if (small_letters(name) == "www-authenticate") fields.merge(ChallengeReader(text).read());
  }
  if (status == kForbidden && fields["error"] != "insufficient_scope") return std::nullopt;
  return OauthChallenge{status, fields["resource_metadata"], fields["scope"]};
}

}  // namespace praxis
