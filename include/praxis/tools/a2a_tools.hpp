// An agent of another program as two tools, by the Agent2Agent protocol 1.0. `NAME__send` begins a task of
// the remote agent and returns its id, which the log then has. `NAME__ask` calls it, waits for the end of the
// task and returns the answer; after a crash it takes the recorded task up again instead of beginning a
// second one. Everything that the other side says is foreign text: bounded, and never trusted for safety.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "praxis/net/http_client.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A remote agent and how it is reached. Redirects are not followed.
struct A2aAgent {
  std::string name;  ///< how the tools' names begin; 1 to 24 letters, digits, `-` or single `_` within
  /// Address of the agent, below which `/.well-known/agent-card.json` is its card; or of the card, if it ends
  /// with `.json`. What the card says about addresses is accepted for the same scheme, host and port only.
  std::string url;
  std::string description;  ///< what the model reads about the agent; empty: its name and address
  HttpHeaders headers;      ///< sent with every request, such as `Authorization`
  std::shared_ptr<HttpClient> http;
  AddressRule allow_address;  ///< as in `HttpRequest`
  bool use_proxy = true;
  Millis timeout{600'000};  ///< until the end of a task, without the time in which it waits for a human
  std::size_t result_bytes = std::size_t{256} * 1024;  ///< text kept of an answer; the rest is cut off
  Millis poll{1'000};  ///< the first pause between questions for a task; each further one is longer
};

/// Returns the tools `NAME__ask` and `NAME__send`. A task that waits for input is a parked question of the
/// call of `NAME__ask`, whose answer is sent to the task. Stopping the call, and its time limit, cancel the
/// task. `NAME__ask` needs no allow rule, because all that it sends is a call of `NAME__send`, which the
/// rules judge. Error `kInput`: an invalid name or address, or a header that the HTTP client sets.
Result<std::vector<Tool>> a2a_tools(A2aAgent agent);

}  // namespace praxis
#pragma GCC visibility pop
