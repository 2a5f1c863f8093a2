// An approver's answer to a parked step: approve, reject with a reason, edit the arguments, or answer the
// question. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/domain/author.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Runs a call with other arguments: a permission (policy.hpp) as well as an approval.
struct Edit {
  std::string arguments;  ///< JSON text
};
inline Edit edit(std::string arguments) { return Edit{std::move(arguments)}; }

enum class ApprovalVerb : std::uint8_t { kApprove, kReject, kEdit, kAnswer };
/// The name in records, in JSON and on the command line: `allow`, `deny`, `edit`, `answer`.
std::string_view to_string(ApprovalVerb verb);
std::optional<ApprovalVerb> approval_verb_from(std::string_view name);

/// An approver's answer to a parked step.
struct Approval {
  Approval() = default;
  explicit Approval(ApprovalVerb v, std::string t = {}) : verb(v), text(std::move(t)) {}
  /// Implicit, so that `edit(...)` is an approval wherever one is expected.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Approval(Edit edit) : verb(ApprovalVerb::kEdit), text(std::move(edit.arguments)) {}
  bool operator==(const Approval&) const = default;

  ApprovalVerb verb = ApprovalVerb::kApprove;
  std::string text;  ///< the reason (reject), the arguments (edit), the answer
};

inline Approval approve() { return Approval(ApprovalVerb::kApprove); }
/// `reason` goes to the model.
inline Approval reject(std::string reason) { return Approval(ApprovalVerb::kReject, std::move(reason)); }
/// The answer to a question; for a call in doubt, what it returned.
inline Approval answer(std::string text) { return Approval(ApprovalVerb::kAnswer, std::move(text)); }

/// The approval of one step that is parked in the session `target`.
struct StepApproval {
  SessionId target = {};
  ParkId park = {};  ///< `p1`, or qualified by the session: `<session>/p1`
  Approval approval = {};
  Author author = person_by_library();
};
/// Approvals of several parked steps, by their ids.
using Approvals = std::vector<std::pair<ParkId, Approval>>;

}  // namespace praxis
#pragma GCC visibility pop
