// The decisions about parked steps that a user gives on the command line, for `approve` and `resume`.
#pragma once

#include <optional>
#include <vector>

#include "app/pending_steps.hpp"
#include "app/pending_text.hpp"
#include "app/workspace.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "praxis/domain/approval.hpp"

namespace praxis::cli {

/// The approvals of `resume`. Error `kInput`.
Result<Approvals> approvals_of(const ResumeOptions& options);
/// Checks that no call is allowed of which only a part was shown. Error `kInput`.
Status check_approvals(const Approvals& approvals, const std::vector<ParkedStep>& waiting,
                       const app::Workspace& workspace);

/// The decision of `approve`; `std::nullopt` without one. Error `kInput`: several decisions, or an unreadable
/// one.
Result<std::optional<Approval>> approval_of(const ApproveOptions& options);
/// Whether all was shown of what the decision allows. False: the user leaves it undecided. Error `kInput`: it
/// cannot be shown now, or `--seen` names another call.
Result<bool> has_seen(const app::PendingStep& waiting, const ApproveOptions& options,
                      const app::Workspace& workspace, Console& console);

/// Shows steps that wait, each with the commands that decide it.
void list_steps(const std::vector<app::PendingStep>& all, const ApproveOptions& options,
                const app::Workspace& workspace, app::Extent extent, Console& console);
/// Whether `praxis approve` without a step asks, instead of listing what waits.
bool can_walk(const ApproveOptions& options, const Console& console);

}  // namespace praxis::cli
