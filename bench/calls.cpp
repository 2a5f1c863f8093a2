// Measures what a step with many tool calls costs: one answer of a scripted model asks for all of them, the
// journal is in memory. Prints for each number of calls the CPU time of the user for one of them, and its
// ratio to that of the first row: with costs that grow linearly it stays near 1.
//
//   praxis_calls_bench [CALLS...]
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
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
    script += R"({"name": "note", "arguments": {"number": )" + std::to_string(i) + "}}";
  }
  return script + "]}\n" + R"({"text": "Noted."})";
}

/// Returns the time of a turn with one step of `calls` calls and one of none.
double time_of(std::size_t calls) {
  const auto runtime = Runtime::create({});
  Limits limits;
  limits.max_tool_calls = 0;
  Agent agent("", "Take notes.");
  agent.id("noter").model(must(script_model(answers(calls), "calls", runtime->model_services().executor)));
  agent.use(bench::note_tool()).limits(limits).runtime(runtime);
  Session session = must(runtime->create_session(agent));
  const double before = user_time();
  const AgentResult result = must(session.ask("go"));
  const double taken = user_time() - before;
  if (result.actions.size() == calls) return taken;
  std::fprintf(stderr, "%zu of %zu calls ran\n", result.actions.size(), calls);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {400, 800, 1'600, 3'200, 6'400};
  time_of(kWarmUp);
  double first = 0;
  for (const std::size_t calls : sizes) {
    const double taken = time_of(calls);
    const double each = taken / static_cast<double>(calls);
    if (first == 0) first = each;
    std::printf("%5zu calls in one step: %.3f s of user CPU, %.1f us a call (%.2f x the first row)\n", calls,
                taken / 1e6, each, each / first);
  }
}
