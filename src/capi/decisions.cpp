#include "capi/decisions.hpp"

#include <string>
#include <utility>

#include "praxis/json/describe.hpp"

namespace praxis::capi {
namespace {

struct DecisionText {
  std::string decision;
  std::string text;
  Json arguments;
};
PRAXIS_FIELDS(DecisionText, decision, text, arguments)

}  // namespace

Result<Approval> approval_of(const Json& json) {
  DecisionText given;
  if (auto read = read_settings(json, "decision", given); !read) return fail(std::move(read.error()));
  const auto verb = approval_verb_from(given.decision);
  if (!verb) {
    return fail(ErrorCode::kInput,
                R"("decision" must be "allow", "deny", "edit" or "answer" (got ")" + given.decision + "\")");
  }
  if (*verb != ApprovalVerb::kEdit) {
    if (!given.arguments.is_null())
      return fail(ErrorCode::kInput, R"("arguments" belong to the decision "edit" only)");
    return Approval(*verb, std::move(given.text));
  }
  if (!given.arguments.is_object())
    return fail(ErrorCode::kInput, R"(the decision "edit" needs "arguments", an object)");
  return Approval(edit(to_json_text(given.arguments)));
}

Result<Approvals> approvals_of(const Json& json) {
  Approvals approvals;
  if (json.is_null()) return approvals;
  if (!json.is_object())
    return fail(ErrorCode::kInput, R"(decisions must be an object such as {"p1": {"decision": "allow"}})");
  for (const auto& [step, decision] : json.get_object()) {
    auto approval = approval_of(decision);
    if (!approval) return fail(ErrorCode::kInput, std::string(step) + ": " + approval.error().message);
    approvals.emplace_back(ParkId{std::string(step)}, *std::move(approval));
  }
  return approvals;
}

}  // namespace praxis::capi
