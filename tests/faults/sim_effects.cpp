// The model and the tools of a simulated process. They continue after the driver has dropped the effect, may
// ignore a stop request, and sometimes report their end twice.
#include <utility>

#include "sim_world.hpp"

namespace praxis::faults::sim {
namespace {

constexpr std::size_t kDeltaBytes = 6;
constexpr std::uint64_t kTwiceOnceIn = 12;

std::unexpected<Error> stopped_on_request() { return fail(ErrorCode::kCancelled, "stopped on request"); }

void go_on(Work& work) {
  if (Task then = std::exchange(work.then, nullptr)) then();
}

}  // namespace

// ---- waiting

/// Continues with `then` after some time, or at once when it is asked to stop and obeys.
void World::nap(Work* work, std::uint64_t most_ms, Task then) {
  work->then = std::move(then);
  work->timer = agenda_.after(Millis{random_.below(most_ms)}, [work] {
    work->timer = 0;
    go_on(*work);
  });
  if (work->stopped && work->obeys) interrupt_nap(work);
}

void World::interrupt_nap(Work* work) {
  if (!work->then) return;
  agenda_.cancel(std::exchange(work->timer, 0));
  agenda_.post([work] { go_on(*work); });
}

/// Asks the handler to stop, and also its sub-agents and the calls within it.
void World::stop(Work* work) {
  if (std::exchange(work->stopped, true)) return;
  if (work->obeys) interrupt_nap(work);
  if (work->is_model) return;
  agenda_.post([this, work] {
    stop_children(*work);
    feed(*work->node, driver::CallsWithinStopped{work->call.id});
  });
}

// ---- the model

void World::speak(Work* work) {
  if (work->stopped && work->obeys) return end_model(work, stopped_on_request());
  if (work->deltas == 0) return end_model(work, answer_of(vendor_, work->node->agent->tools, work->history));
  --work->deltas;
  if (work->node->effects.contains(work->effect)) work->node->arrived += kDeltaBytes;
  nap(work, random_.once_in(8) ? 200 : 20, [this, work] { speak(work); });
}

void World::end_model(Work* work, Result<ModelResponse> response) {
  Node& node = *work->node;
  driver::ModelEnded ended{work->effect, work->attempt, std::move(response)};
  if (!ended.response) {
    ended.billable = random_.once_in(2);
    if (random_.once_in(4)) {
      ended.stated.emplace();
      ended.stated->input = 7;
    }
  }
  --node.works;
  if (random_.once_in(kTwiceOnceIn)) agenda_.post([this, &node, again = ended] { feed(node, again); });
  feed(node, std::move(ended));
}

// ---- tools

void World::run_tool(Work* work) {
  const std::string& name = work->call.name;
  if (name == "put" || name == "pay" || name == "send") return act(work, 15);
  if (name == "slow" || name == "late") return act(work, 100);
  if (name == "team" || name == "crew" || name == "helper") return delegate(work);
  if (name == "nested") {
    return call_within(work, "put", [this, work](const std::string& put) {
      call_within(work, "send", [this, work, put](const std::string& sent) { say(work, put + ", " + sent); });
    });
  }
  if (name == "sign") {
    if (vendor_.mishap(2))
      return end_tool(work, fail(ErrorCode::kTool, ErrorKind::kAuthorisation, "Sign in"));
    return act(work, 1);
  }
  if (name == "big") return say(work, vendor_.number() + std::string(17'000, 'x'));
  end_tool(work, fail(ErrorCode::kInput, "no tool is called " + name));
}

/// Does an irreversible action outside after some time.
void World::act(Work* work, std::uint64_t most_ms) {
  dawdle(work, random_.below(3), most_ms, [this, work, most_ms] {
    if (work->stopped && work->obeys) return end_tool(work, stopped_on_request());
    if (vendor_.mishap(12)) return end_tool(work, fail(ErrorCode::kTool, "busy", true));
    if (vendor_.mishap(30)) return end_tool(work, fail(ErrorCode::kTool, "no"));
    const Node& node = *work->node;
    deeds_.push_back({node.id, work->call.name, node.id.str() + "/" + work->effect.str(), work->attempt});
    dawdle(work, random_.below(3), most_ms, [this, work] { say(work, work->call.name + " did it"); });
  });
}

void World::dawdle(Work* work, std::uint64_t naps, std::uint64_t most_ms, Task then) {
  if (naps == 0) return then();
  nap(work, most_ms, [this, work, naps, most_ms, then = std::move(then)]() mutable {
    dawdle(work, naps - 1, most_ms, std::move(then));
  });
}

void World::say(Work* work, std::string text) {
  end_tool(work,
           ToolOutcome{
               {work->call.id, work->call.name, ToolStatus::kOk, std::move(text), {}, {}}, nullptr, nullptr});
}

/// Calls another tool of the same agent. The wait ends with the call, or when the handler is asked to stop.
void World::call_within(Work* work, const std::string& tool, std::function<void(const std::string&)> then) {
  work->then = [then] { then("stopped"); };
  work->obeys = true;
  if (work->stopped) return interrupt_nap(work);
  ToolCallPart part;
  part.name = tool;
  part.arguments = work->call.arguments;
  const driver::Token token = ++tokens_;
  Node& node = *work->node;
  node.callers[token] = [work, then = std::move(then)](const Result<ToolOutcome>& outcome) {
    // Not if it was asked to stop in the meantime and has continued.
    if (std::exchange(work->then, nullptr)) then(outcome ? outcome->result.text : outcome.error().message);
  };
  feed(node, driver::CallRequested{work->call.id, std::move(part), key_of(*work, tool), token});
}

/// The handler returns after its sub-agents have ended.
void World::end_tool(Work* work, Result<ToolOutcome> outcome) {
  if (std::exchange(work->closed, true)) return;
  stop_children(*work);
  close_children(work, [this, work, outcome = std::move(outcome)] { deliver(work, outcome); });
}

void World::deliver(Work* work, const Result<ToolOutcome>& outcome) {
  Node& node = *work->node;
  const driver::ToolEnded ended{work->effect, work->attempt, outcome};
  agenda_.post([this, &node, ended] {
    --node.works;
    feed(node, ended);
  });
  if (random_.once_in(kTwiceOnceIn)) agenda_.post([this, &node, ended] { feed(node, ended); });
}

}  // namespace praxis::faults::sim
