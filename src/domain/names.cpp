// Names of commands and approvals in journals and JSON.
#include "domain/enum_names.hpp"
#include "praxis/domain/approval.hpp"
#include "praxis/domain/author.hpp"
#include "praxis/domain/command.hpp"

namespace praxis {
namespace {

constexpr Names<ApprovalVerb, 4> kApprovalNames{{{ApprovalVerb::kApprove, "allow"},
                                                 {ApprovalVerb::kReject, "deny"},
                                                 {ApprovalVerb::kEdit, "edit"},
                                                 {ApprovalVerb::kAnswer, "answer"}}};

constexpr Names<CommandVerb, 15> kCommandNames{{{CommandVerb::kSteer, "steer"},
                                                {CommandVerb::kEnqueue, "enqueue"},
                                                {CommandVerb::kInterrupt, "interrupt"},
                                                {CommandVerb::kDeadline, "deadline"},
                                                {CommandVerb::kPause, "pause"},
                                                {CommandVerb::kUnpause, "resume"},
                                                {CommandVerb::kAnnotate, "annotate"},
                                                {CommandVerb::kSetAgent, "set_agent"},
                                                {CommandVerb::kRewind, "rewind"},
                                                {CommandVerb::kDelete, "delete"},
                                                {CommandVerb::kModify, "modify"},
                                                {CommandVerb::kBudget, "budget"},
                                                {CommandVerb::kWithdraw, "withdraw"},
                                                {CommandVerb::kMove, "move"},
                                                {CommandVerb::kCompact, "compact"}}};

constexpr Names<Surface, 8> kSurfaceNames{{{Surface::kUnknown, "unknown"},
                                           {Surface::kLibrary, "library"},
                                           {Surface::kCli, "cli"},
                                           {Surface::kServer, "server"},
                                           {Surface::kHandler, "handler"},
                                           {Surface::kPolicy, "policy"},
                                           {Surface::kHook, "hook"},
                                           {Surface::kRuntime, "runtime"}}};

}  // namespace

std::string_view to_string(ApprovalVerb verb) { return name_of(kApprovalNames, verb); }
std::optional<ApprovalVerb> approval_verb_from(std::string_view name) {
  return value_of(kApprovalNames, name);
}
std::string_view to_string(CommandVerb verb) { return name_of(kCommandNames, verb); }
std::optional<CommandVerb> command_verb_from(std::string_view name) { return value_of(kCommandNames, name); }
std::string_view to_string(Surface surface) { return name_of(kSurfaceNames, surface); }
std::optional<Surface> surface_from(std::string_view name) { return value_of(kSurfaceNames, name); }

}  // namespace praxis
