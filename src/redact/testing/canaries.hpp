// Secrets that must not leave the program, for tests of surfaces: made at runtime, so that no source holds
// one.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/base64.hpp"
#include "praxis/json/json.hpp"
#include "redact/detector.hpp"
#include "redact/testing/examples.hpp"

namespace praxis::redact {

/// A secret, and the forms in which texts carry it.
struct Canary {
  std::string_view kind;
  std::string secret;
  std::string base64;
  std::string url;   ///< percent-encoded
  std::string json;  ///< as part of a JSON string
};

inline std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_alnum(c) || std::string_view("-._~").contains(c)) {
      out += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

/// A secret of each rule that its own form identifies, without a word before it.
inline std::vector<Canary> canaries() {
  const auto detector = Detector::shared({.personal = false});
  std::vector<Canary> out;
  std::set<std::string> secrets;
  for (const Rule* rule : all_rules()) {
    const bool has_own_form =
        rule->form == Form::kAtWord || rule->form == Form::kAround || rule->form == Form::kInWord;
    if (is_personal(*rule) || !has_own_form || rule->least != Profile::kBalanced) continue;
    if (rule->check == Check::kPrivateKey) continue;
    const std::string secret = example_of(*rule, 1).value;
    const bool is_plain = std::ranges::all_of(secret, [](char c) { return c > ' ' && c <= '~'; });
    const std::vector<Place> found = detector->find(" " + secret + " ");
    if (!is_plain || secret.size() > 400 || found.size() != 1 || found[0].begin > 1 ||
        found[0].end != secret.size() + 1)
      continue;
    if (!secrets.insert(secret).second) continue;
    const std::string json = to_json_text(Json(secret));
    out.push_back({rule->kind, secret, base64_encode(secret), percent_encoded(secret),
                   json.substr(1, json.size() - 2)});
  }
  return out;
}

/// The kinds whose secret, or base64 of it, `text` holds.
inline std::vector<std::string> escaped_from(std::string_view text, const std::vector<Canary>& all) {
  std::vector<std::string> out;
  for (const Canary& each : all) {
    std::string core = each.base64;  // its last characters depend on what follows
    core.resize(core.find_last_not_of('=') + 1);
    if (text.contains(each.secret) || text.contains(each.url) || text.contains(each.json) ||
        text.contains(core))
      out.emplace_back(each.kind);
  }
  return out;
}

}  // namespace praxis::redact
