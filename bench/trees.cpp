// Measures trees: roots that wait for a sub-agent which waits for an approver, and a tree that is eight wide
// and three deep with a tool at each leaf. Prints one line per figure. Journal in memory, whose share is
// printed as well.
#include <malloc.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "must.hpp"
#include "note_tool.hpp"
#include "praxis/praxis.hpp"

namespace {

using namespace praxis;
using bench::must;
using Clock = std::chrono::steady_clock;

constexpr int kRoots = 20'000;

/// An agent that makes `width` calls of `tool` at once and then ends.
Agent caller(const std::shared_ptr<Runtime>& runtime, const std::string& id, const Tool& tool, int width) {
  std::string calls;
  for (int i = 0; i < width; ++i)
    calls += (i == 0 ? "" : ",") + (R"({"name":")" + tool.definition.name) +
             R"(","arguments":{"prompt":"part )" + std::to_string(i) + R"("}})";
  const std::string script = R"({"tool_calls":[)" + calls + "]}\n{\"text\":\"done\"}";
  Agent agent("", "Work.");
  agent.id(id).model(must(script_model(script, "trees", runtime->model_services().executor)));
  return agent.use(tool).runtime(runtime);
}

void waiting_roots(bool suspends) {
  RuntimeOptions options;
  options.suspend_when_waiting = suspends;
  const auto runtime = Runtime::create(std::move(options));
  Agent below = caller(runtime, "below", bench::note_tool(), 1);
  below.policy({.allow = {}, .deny = {}, .ask = {"note"}});
  const Agent above = caller(runtime, "above", below.as_tool("work", "Does the work"), 1);
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  const auto await = [&](int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting >= count; });
  };
  std::vector<Session> sessions;
  sessions.reserve(kRoots);
  std::size_t used = 0;
  const auto begun = Clock::now();
  for (int i = 0; i < kRoots; ++i) {
    if (i == kRoots / 10) {
      await(i);
      used = mallinfo2().uordblks;
    }
    sessions.push_back(must(runtime->create_session(above)));
    sessions.back().ask("go", [&](const Result<AgentResult>&) {
      const std::lock_guard lock(mutex);
      ++waiting;
      changed.notify_all();
    });
  }
  await(kRoots);
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  const auto threads = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  const double each = double(mallinfo2().uordblks - used) / (kRoots * 0.9);
  std::size_t logged = 0;
  for (const SessionId& id :
       {sessions.back().session_id(), must(runtime->journal().sessions(1)).front().id}) {
    for (const Entry& entry : must(runtime->journal().read(id))) logged += entry.body.size();
  }
  std::printf(
      "%d roots that wait for a sub-agent that waits%s: %.1f KB for each of the two (about %.1f KB of it the "
      "logs in memory), %d threads, %.1f s\n",
      kRoots, suspends ? ", suspended" : "", each / 2 / 1024, double(logged) / 2 / 1024, int(threads),
      seconds);
}

void wide_and_deep() {
  const auto runtime = Runtime::create({});
  Agent agent = caller(runtime, "leaf", bench::note_tool(), 1);
  for (const char* id : {"low", "middle", "top"})
    agent = caller(runtime, id, agent.as_tool("work", "Does the work"), 8);
  const auto begun = Clock::now();
  const AgentResult result = must(agent.run("go"));
  std::printf("a tree 8 x 8 x 8, a tool at each leaf: %.0f ms (%s)\n",
              std::chrono::duration<double, std::milli>(Clock::now() - begun).count(), result.text.c_str());
}

}  // namespace

int main() {
  waiting_roots(false);
  waiting_roots(true);
  wide_and_deep();
}
