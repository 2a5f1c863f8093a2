// `tree --server`: draws the agents of runs at a server, once or continuously, and sends commands to a node.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "app/read_program_json.hpp"
#include "app/run_trees.hpp"
#include "cli/interrupts.hpp"
#include "cli/server_client.hpp"
#include "cli/server_commands.hpp"
#include "cli/server_turn.hpp"
#include "cli/tree_view.hpp"

namespace praxis::cli {
namespace {

/// The trees that the options name, as the server shows them now.
Result<TreeState> tree_state_at_server(const ServerClient& client, const TreeOptions& options) {
  const std::string path = options.root.empty()
                               ? std::string("/api/v1/tree") + (options.all ? "?all=true" : "")
                               : "/api/v1/runs/" + path_segment(options.root) + "/tree";
  const auto answer = client.call_surely("GET", path);
  if (!answer) return fail(answer.error());
  TreeState state;
  if (const JsonArray* nodes = json_at(*answer, "nodes").if_array()) {
    for (const Json& json : *nodes) state.nodes.push_back(app::node_from(json));
  }
  const SessionId* root = nullptr;
  for (const AgentNode& node : state.nodes) {
    if (root == nullptr || node.parent.empty()) {
      root = &node.id;
      if (node.status == SessionStatus::kInterrupted) state.deserted.push_back(node.id);
    }
    if (!app::is_idle(node) && (state.busy.empty() || state.busy.back() != *root))
      state.busy.push_back(*root);
  }
  return state;
}

}  // namespace

Result<ExitStatus> tree_at_server(const TreeOptions& options, Console& console) {
  if (auto fits = check_no_place(options.place); !fits) return fail(fits.error());
  const auto client = ServerClient::open(options.server, {});
  if (!client) return fail(client.error());
  const auto look = [&] { return tree_state_at_server(*client, options); };
  if (options.watch) return watch_tree(look, options.json, client->workspace(), console);
  const auto state = look();
  if (!state) return fail(state.error());
  if (state->nodes.empty() && !options.json) console.err.line("no runs yet at the server");
  show_tree(state->nodes, options.json, client->workspace(), console);
  return ExitStatus::kFinished;
}

Result<ExitStatus> command_at_server(const TreeCommandOptions& options, Console& console) {
  if (auto fits = check_no_place(options.place); !fits) return fail(fits.error());
  const auto client = ServerClient::open(options.server, {});
  if (!client) return fail(client.error());
  JsonArray commands{JsonObject{{"verb", to_string(options.verb)}, {"text", options.text}}};
  for (const auto& [verb, text] : options.further)
    commands.push_back(JsonObject{{"verb", to_string(verb)}, {"text", text}});
  const auto done = client->call("POST", "/api/v1/runs/" + path_segment(options.node) + "/commands",
                                 JsonObject{{"commands", std::move(commands)}});
  const std::string node = done ? json_string(*done, "id") : options.node;
  console.result({{"session", node}, {"verb", options.name}, {"outcome", done ? "delivered" : "refused"}});
  if (!done) return fail(done.error());
  console.err.line(fmt::format("{} {}", node, done_text(options.verb)));
  for (const auto& [verb, text] : options.further)
    console.err.line(fmt::format("{} {}", node, done_text(verb)));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
