// Measures what a step with many tool calls costs: one answer of a scripted model asks for all of them, the
// journal is in memory. The calls are those of a quick tool, of sub-agents, or such that wait for an approver
// who decides one after the other. Prints for each number of calls the CPU time of the user for one of them,
// and its ratio to that of the first row: with costs that grow linearly it stays near 1.
//
//   praxis_calls_bench [CALLS...]
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "must.hpp"
#include "note_tool.hpp"
#include "praxis/praxis.hpp"

namespace {

using namespace praxis;
using bench::must;

constexpr std::size_t kWarmUp = 100;

/// CPU time of this process outside of the kernel, in microseconds.
double user_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) * 1e6 + static_cast<double>(usage.ru_utime.tv_usec);
}

std::string answers(std::size_t calls) {
  std::string script = R"({"tool_calls": [)";
  for (std::size_t i = 0; i < calls; ++i) {
    script += i == 0 ? "" : ", ";
    script += R"({"name": "note", "arguments": {"prompt": "number )" + std::to_string(i) + R"("}})";
  }
  return script + "]}\n" + R"({"text": "Noted."})";
}

Agent made(const std::shared_ptr<Runtime>& runtime, const std::string& script) {
  Limits limits;
  limits.max_tool_calls = 0;
  Agent agent("", "Take notes.");
  agent.id("noter").model(must(script_model(script, "calls", runtime->model_services().executor)));
  return agent.limits(limits).runtime(runtime);
}

Agent with_tool(const std::shared_ptr<Runtime>& runtime, std::size_t calls) {
  return made(runtime, answers(calls)).use(bench::note_tool());
}

Agent with_sub_agents(const std::shared_ptr<Runtime>& runtime, std::size_t calls) {
  return made(runtime, answers(calls))
      .use(made(runtime, R"({"text": "Noted."})").as_tool("note", "Takes a note"));
}

Agent with_approvals(const std::shared_ptr<Runtime>& runtime, std::size_t calls) {
  return with_tool(runtime, calls).policy({.allow = {}, .deny = {}, .ask = {"note"}});
}

/// Returns the time of a turn with one step of `calls` calls and one without any.
double time_of(Agent (*agent_of)(const std::shared_ptr<Runtime>&, std::size_t), std::size_t calls) {
  const auto runtime = Runtime::create({});
  Session session = must(runtime->create_session(agent_of(runtime, calls)));
  const double before = user_time();
  AgentResult result = must(session.ask("go"));
  if (!result.pending.empty()) {
    const ParkId last = result.pending.back().id;
    result.pending.pop_back();
    for (const ParkedStep& step : result.pending) must(session.decide(step.id, approve()));
    result = must(session.resume({{last, approve()}}).result());
  }
  const double taken = user_time() - before;
  if (result.actions.size() == calls) return taken;
  std::fprintf(stderr, "%zu of %zu calls ran\n", result.actions.size(), calls);
  std::exit(1);
}

void measure(const char* what, Agent (*agent_of)(const std::shared_ptr<Runtime>&, std::size_t),
             const std::vector<std::size_t>& sizes) {
  time_of(agent_of, kWarmUp);
  double first = 0;
  for (const std::size_t calls : sizes) {
    const double taken = time_of(agent_of, calls);
    const double each = taken / static_cast<double>(calls);
    if (first == 0) first = each;
    std::printf("%5zu %s in one step: %.3f s of user CPU, %.1f us each (%.2f x the first row)\n", calls, what,
                taken / 1e6, each, each / first);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {400, 800, 1'600, 3'200, 6'400};
  measure("calls", with_tool, sizes);
  if (argc == 1) sizes = {400, 1'600};
  measure("sub-agents", with_sub_agents, sizes);
  measure("calls that wait", with_approvals, sizes);
}
