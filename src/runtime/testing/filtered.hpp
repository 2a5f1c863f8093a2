// For tests of content filters (`[[policy.filters]]`) in whole runs.
#pragma once

#include "praxis/models/stub_model.hpp"
#include "runtime/testing/hooked.hpp"

namespace praxis::testing {

inline constexpr std::string_view kAccount = "DE89370400440532013000";

/// Filters from the text of a JSON array.
inline PolicyRules filtering(std::string_view filters, PolicyRules rules = {}) {
  rules.filters = parse_json(filters).value();
  return rules;
}

/// One filter of account numbers.
inline PolicyRules accounts(std::string_view at, std::string_view action) {
  return filtering(R"([{"id": "accounts", "at": ")" + std::string(at) +
                   R"(", "matches": "DE[0-9]{20}", "action": ")" + std::string(action) +
                   R"(", "reason": "Accounts stay here."}])");
}

inline std::string proposing(const std::string& tool, const std::string& arguments) {
  return R"({"tool_calls": [{"id": "c", "name": ")" + tool + R"(", "arguments": )" + arguments + "}]}\n" +
         R"({"text": "done"})";
}

/// A model that keeps what it was sent, and says "ok".
struct Sent {
  std::vector<ModelRequest> requests;
  std::shared_ptr<Model> model() {
    return stub_model([this](const ModelRequest& request) {
      requests.push_back(request);
      return stub_text("ok");
    });
  }
};

class FilteredTest : public HooksTest {
 protected:
  /// What decided on calls, by `principal`.
  std::vector<std::string> deciders(const Session& session) {
    std::vector<std::string> names;
    for (const auto& decided : recorded<records::Decided>(session)) names.push_back(decided.author.principal);
    return names;
  }
  /// Which filters changed effects.
  std::vector<std::string> changes(const Session& session) {
    std::vector<std::string> names;
    for (const auto& settled : recorded<records::EffectSettled>(session)) {
      if (!settled.by.empty()) names.push_back(settled.by);
    }
    return names;
  }
};

}  // namespace praxis::testing
