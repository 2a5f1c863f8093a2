// One function per command; each returns the exit status of the program. The caller reports errors.
#pragma once

#include "cli/console.hpp"
#include "cli/options.hpp"

namespace praxis::cli {

Result<ExitStatus> execute(const PrintText& options, Console& console);
Result<ExitStatus> execute(const RunOptions& options, Console& console);
Result<ExitStatus> execute(const ChatOptions& options, Console& console);
Result<ExitStatus> execute(const AgentsOptions& options, Console& console);
Result<ExitStatus> execute(const ResumeOptions& options, Console& console);
Result<ExitStatus> execute(const ApproveOptions& options, Console& console);
Result<ExitStatus> execute(const TreeOptions& options, Console& console);
Result<ExitStatus> execute(const TreeCommandOptions& options, Console& console);
Result<ExitStatus> execute(const RunsOptions& options, Console& console);
Result<ExitStatus> execute(const RunsLabelOptions& options, Console& console);
Result<ExitStatus> execute(const RunsRemoveOptions& options, Console& console);
Result<ExitStatus> execute(const ShowOptions& options, Console& console);
Result<ExitStatus> execute(const LogsOptions& options, Console& console);
Result<ExitStatus> execute(const ForkOptions& options, Console& console);
Result<ExitStatus> execute(const RewindOptions& options, Console& console);
Result<ExitStatus> execute(const DiffOptions& options, Console& console);
Result<ExitStatus> execute(const UndoOptions& options, Console& console);
Result<ExitStatus> execute(const ReplayOptions& options, Console& console);
Result<ExitStatus> execute(const ExportOptions& options, Console& console);
Result<ExitStatus> execute(const ImportOptions& options, Console& console);
Result<ExitStatus> execute(const ModelsOptions& options, Console& console);
Result<ExitStatus> execute(const DoctorOptions& options, Console& console);
Result<ExitStatus> execute(const TrustOptions& options, Console& console);
Result<ExitStatus> execute(const RedactOptions& options, Console& console);
Result<ExitStatus> execute(const ConfigOptions& options, Console& console);
Result<ExitStatus> execute(const ServeOptions& options, Console& console);
Result<ExitStatus> execute(const ApiOptions& options, Console& console);
Result<ExitStatus> execute(const MemoryCommandOptions& options, Console& console);
Result<ExitStatus> execute(const PromptsOptions& options, Console& console);
Result<ExitStatus> execute(const ScheduleOptions& options, Console& console);
Result<ExitStatus> execute(const McpCommandOptions& options, Console& console);
Result<ExitStatus> execute(const AcpOptions& options, Console& console);
Result<ExitStatus> execute(const SkillsOptions& options, Console& console);
Result<ExitStatus> execute(const PolicyOptions& options, Console& console);
Result<ExitStatus> execute(const EvalOptions& options, Console& console);
Result<ExitStatus> execute(const StatsOptions& options, Console& console);
Result<ExitStatus> execute(const AuditOptions& options, Console& console);
Result<ExitStatus> execute(const JournalOptions& options, Console& console);
Result<ExitStatus> execute(const TokensOptions& options, Console& console);
Result<ExitStatus> execute(const SecretsOptions& options, Console& console);
Result<ExitStatus> execute(const TracesOptions& options, Console& console);
Result<ExitStatus> execute(const TopicOptions& options, Console& console);
Result<ExitStatus> execute(const CompleteOptions& options, Console& console);

}  // namespace praxis::cli
