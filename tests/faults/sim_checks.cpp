#include "sim_checks.hpp"
#include "praxis/core/state.hpp"

#include <algorithm>
#include <set>

namespace praxis::faults::sim {
namespace {

/// The records of one tool call in the log.
struct Traced {
  std::string tool, key;
  bool idempotent = false;
  std::uint32_t intents = 0;
  std::uint32_t permits = 0;  ///< times an approver allowed it while it was in doubt
  bool done = false;          ///< the log records it as done
  bool settled = false;
  bool in_doubt = false;
  std::uint32_t cancelled = 0;  ///< the attempt that is recorded as cancelled before it ran
};

/// Collects the effects of a log, by their ids, and the errors in its decisions.
class Tracer {
 public:
  explicit Tracer(const State& state) : state_(state) {}

  void take(const StoredRecord& stored) {
    const RecordBody& body = stored.record.body;
    if (const auto* intent = std::get_if<records::EffectIntended>(&body)) intended(*intent);
    if (const auto* settled = std::get_if<records::EffectSettled>(&body)) outcome(*settled);
    if (const auto* parked = std::get_if<records::Parked>(&body))
      parked_[parked->step.id] = parked->step.kind;
    if (const auto* decided = std::get_if<records::Decided>(&body)) decision(*decided);
    if (const auto* changed = std::get_if<records::StatusChanged>(&body);
        changed && changed->cause == "recovered")
      doubt();
    if (std::holds_alternative<records::TurnSettled>(body)) close();
  }
  const std::map<EffectId, Traced>& effects() const { return effects_; }
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void intended(const records::EffectIntended& intent) {
    if (intent.kind != EffectKind::kTool) return;
    Traced& effect = effects_[intent.effect];
    effect.tool = intent.tool;
    effect.key = state_.id.str() + "/" + intent.effect.str();
    const ToolSpec* spec = state_.agent->find_tool(intent.tool);
    effect.idempotent = spec != nullptr && spec->definition.idempotent;
    effect.settled = false;
    if (intent.attempt <= effect.intents)
      complaints_.push_back(intent.effect.str() + " has two attempts " + std::to_string(intent.attempt));
    effect.intents = intent.attempt;
    effect_of_[intent.call] = intent.effect;
  }
  void outcome(const records::EffectSettled& settled) {
    const auto found = effects_.find(settled.effect);
    if (found == effects_.end()) return;
    if (found->second.settled) complaints_.push_back(settled.effect.str() + " is settled twice");
    found->second.settled = true;
    found->second.done = settled.outcome == Outcome::kOk && settled.by.empty();
    found->second.cancelled = settled.outcome == Outcome::kCancelled ? found->second.intents : 0;
  }
  void doubt() {
    for (auto& [id, effect] : effects_) effect.in_doubt = !effect.settled;
  }
  /// A turn that ends after another process took over records effects in doubt as unknown.
  void close() {
    for (auto& [id, effect] : effects_)
      effect.settled = effect.settled || std::exchange(effect.in_doubt, false);
  }
  void decision(const records::Decided& decided) {
    if (decided.park.empty()) return;
    if (!parked_.contains(decided.park)) complaints_.push_back(decided.park.str() + " was never parked");
    if (!decided_.insert(decided.park).second) complaints_.push_back(decided.park.str() + " decided twice");
    const ParkKind kind = parked_[decided.park];
    if (kind != ParkKind::kInDoubt && kind != ParkKind::kAuthorisation) return;
    Traced& effect = effects_[effect_of_[decided.call]];
    if (decided.verb == ApprovalVerb::kApprove || decided.verb == ApprovalVerb::kEdit) {
      ++effect.permits;
    } else {
      effect.settled = true;
    }
  }

  const State& state_;
  std::map<EffectId, Traced> effects_;
  std::map<CallId, EffectId> effect_of_;
  std::map<ParkId, ParkKind> parked_;
  std::set<ParkId> decided_;
  std::vector<std::string> complaints_;
};

}  // namespace

bool holds_decision(const Log& log, const ParkId& park) {
  return std::ranges::any_of(log, [&](const StoredRecord& stored) {
    const auto* decision = std::get_if<records::Decided>(&stored.record.body);
    return decision != nullptr && decision->park == park;
  });
}

bool holds_command(const Log& log, CommandVerb verb, const std::string& text) {
  return std::ranges::any_of(log, [&](const StoredRecord& stored) {
    const auto* command = std::get_if<records::Intervened>(&stored.record.body);
    return command != nullptr && command->verb == verb && command->text == text;
  });
}

bool holds_end(const Log& log, const AgentResult& result) {
  return std::ranges::any_of(log, [&](const StoredRecord& stored) {
    const auto* end = std::get_if<records::TurnSettled>(&stored.record.body);
    return end != nullptr && stored.seq == result.last_seq && end->reason == result.reason &&
           result.id.ends_with("/" + end->turn.str());
  });
}

bool holds_prompt(const Log& log, const std::string& prompt) {
  return std::ranges::any_of(log, [&](const StoredRecord& stored) {
    const auto* said = std::get_if<records::MessageAppended>(&stored.record.body);
    return said != nullptr && said->message->text() == prompt;
  });
}

void Checks::read(Journal& journal) {
  const auto rows = journal.sessions();
  if (!rows) return complain({}, rows.error().message);
  for (const SessionRow& row : *rows) {
    if (row.entries == 0) continue;
    auto records = read_records(journal, row.id);
    auto state = records ? fold(*records) : Result<State>(fail(records.error()));
    if (!state) return complain(row.id, state.error().message);
    add(row.id, *std::move(records), *std::move(state));
  }
}

void Checks::add(const SessionId& session, Log log, State state) {
  logs_.emplace(session, std::move(log));
  states_.emplace(session, std::move(state));
}

void Checks::all(const std::vector<Promise>& promises) {
  for (const auto& [session, log] : logs_) {
    effects(session, log);
    totals(session, log);
  }
  for (const Promise& promise : promises) {
    if (!promise.kept(logs_[promise.session])) complain(promise.session, "lost: " + promise.what);
  }
}

void Checks::replays() {
  for (const auto& [session, log] : logs_) {
    const auto replayed = replay(log);
    if (!replayed) {
      complain(session, replayed.error().message);
    } else if (const auto& differs = replayed->divergence) {
      complain(session, "replay differs at " + std::to_string(differs->seq) + ", " + differs->field + ": " +
                            differs->expected + " became " + differs->found);
    }
  }
}

void Checks::effects(const SessionId& session, const Log& log) {
  static const std::set<std::string> kSilent{"team", "crew", "nested", "helper", "big"};
  Tracer tracer(states_.at(session));
  for (const StoredRecord& stored : log) tracer.take(stored);
  for (const std::string& what : tracer.complaints()) complain(session, what);
  std::map<std::string, std::vector<std::uint32_t>> deeds;  // the attempts by key
  for (const Deed& deed : deeds_) {
    if (deed.session == session) deeds[deed.key].push_back(deed.attempt);
  }
  for (const auto& [id, effect] : tracer.effects()) {
    const auto done = deeds.extract(effect.key);
    const std::vector<std::uint32_t> attempts = done ? done.mapped() : std::vector<std::uint32_t>{};
    const std::string name = id.str() + " (" + effect.tool + ")";
    if (effect.done && attempts.empty() && !kSilent.contains(effect.tool))
      complain(session, name + " was recorded as done, but not executed");
    if (std::set<std::uint32_t>(attempts.begin(), attempts.end()).size() != attempts.size())
      complain(session, name + ": one attempt ran twice");
    if (attempts.size() > effect.intents) complain(session, name + " was executed without an intent");
    if (!effect.idempotent && std::max<std::size_t>(effect.intents, attempts.size()) > 1 + effect.permits)
      complain(session, name + " was repeated without approval");
    if (effect.cancelled != 0 && std::ranges::find(attempts, effect.cancelled) != attempts.end())
      complain(session, name + " was done and recorded as cancelled");
    if (!effect.settled && !states_.at(session).turn) complain(session, name + " never settled");
  }
  for (const auto& [key, attempts] : deeds) complain(session, key + " was done but is not in the log");
}

/// Checks that the usage is the sum over the effects, and that no turn has started more than its limits
/// allow.
void Checks::totals(const SessionId& session, const Log& log) {
  const State& state = states_.at(session);
  const Limits& limits = state.agent->limits;
  std::int64_t used = 0, of_turn = 0;
  std::uint32_t calls = 0;
  const auto add = [&](const Usage& usage) {
    used += usage.total();
    of_turn += usage.total();
  };
  for (const StoredRecord& stored : log) {
    const RecordBody& body = stored.record.body;
    if (std::holds_alternative<records::TurnStarted>(body)) of_turn = calls = 0;
    if (const auto* intent = std::get_if<records::EffectIntended>(&body)) {
      const bool begins_call = intent->kind == EffectKind::kTool && intent->attempt == 1;
      if (begins_call && limits.max_tool_calls != 0 && ++calls > limits.max_tool_calls)
        complain(session, intent->effect.str() + " is one call too many");
      if (intent->kind == EffectKind::kModel && limits.max_tokens != 0 && of_turn >= limits.max_tokens)
        complain(session, intent->effect.str() + " asks the model although all tokens are spent");
    }
    if (const auto* changed = std::get_if<records::StatusChanged>(&body)) add(changed->spent);
    const auto* settled = std::get_if<records::EffectSettled>(&body);
    if (settled == nullptr) continue;
    const auto* answer = std::get_if<ModelResponse>(&settled->result);
    add(answer != nullptr ? answer->usage + answer->failed_usage : settled->spent);
  }
  if (used != state.usage.total())
    complain(session, "has used " + std::to_string(used) + " tokens but reports " +
                          std::to_string(state.usage.total()));
}

void Checks::at_rest() {
  for (const auto& [session, state] : states_) {
    if (!state.parent.empty()) continue;
    if (state.turn) complain(session, "is still in turn " + state.turn->id.str());
    if (!state.queue.empty() && !state.deleted && !state.paused) complain(session, "has a queue");
  }
  for (const auto& [session, log] : logs_) children(session, log);
}

/// Checks that the usage of a sub-agent in its parent's log equals that of its own log.
void Checks::children(const SessionId& session, const Log& log) {
  for (const StoredRecord& stored : log) {
    const auto* settled = std::get_if<records::ChildSettled>(&stored.record.body);
    if (settled == nullptr) continue;
    const auto child = states_.find(settled->child);
    if (child == states_.end()) {
      complain(session, "a sub-agent ended that has no log");
      continue;
    }
    if (settled->usage.total() > child->second.subtree_usage().total())
      complain(session, "a sub-agent used less than its parent recorded");
  }
}

namespace {

/// What the records of one session say that it used.
struct Used {
  std::int64_t tokens = 0;
  std::map<TurnId, std::uint32_t> calls;  ///< started in each turn
  std::map<SessionId, TurnId> children;   ///< and the turn that made each
};

Used used_in(const Log& log) {
  Used used;
  TurnId turn;
  for (const StoredRecord& stored : log) {
    const RecordBody& body = stored.record.body;
    if (const auto* begun = std::get_if<records::TurnStarted>(&body)) turn = begun->turn;
    if (const auto* child = std::get_if<records::ChildSpawned>(&body)) used.children[child->child] = turn;
    const auto* intent = std::get_if<records::EffectIntended>(&body);
    if (intent != nullptr && intent->kind == EffectKind::kTool && intent->attempt == 1) ++used.calls[turn];
    if (const auto* changed = std::get_if<records::StatusChanged>(&body))
      used.tokens += changed->spent.total();
    const auto* settled = std::get_if<records::EffectSettled>(&body);
    if (settled == nullptr) continue;
    const auto* answer = std::get_if<ModelResponse>(&settled->result);
    const Usage usage = answer != nullptr ? answer->usage + answer->failed_usage : settled->spent;
    used.tokens += usage.total();
  }
  return used;
}

}  // namespace

void Checks::trees(Journal& journal, bool undisturbed) {
  JournalTree tree(std::shared_ptr<Journal>(&journal, [](Journal*) {}));
  if (auto read = tree.refresh(); !read) return complain({}, read.error().message);
  std::map<SessionId, Used> used;
  for (const auto& [session, log] : logs_) used.emplace(session, used_in(log));
  std::map<SessionId, std::int64_t> tokens;
  std::map<SessionId, std::uint32_t> calls;  // below and in each session
  const std::vector<AgentNode> nodes = tree.nodes();
  const auto begun = std::ranges::count_if(logs_, [](const auto& log) { return !log.second.empty(); });
  if (std::ssize(nodes) != begun) complain({}, "the tree shows other sessions than there are logs");
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // children come after their parents
    const Used& own = used[node->id];
    tokens[node->id] += own.tokens;
    if (tokens[node->id] != node->subtree.total())
      complain(node->id, "the tree shows " + std::to_string(node->subtree.total()) + " tokens, its records " +
                             std::to_string(tokens[node->id]));
    tokens[node->parent] += tokens[node->id];
    std::map<TurnId, std::uint32_t> by_turn = own.calls;
    for (const auto& [child, turn] : own.children) by_turn[turn] += calls[child];
    const std::uint32_t most = states_[node->id].agent->limits.max_tool_calls;
    for (const auto& [turn, count] : by_turn) {
      calls[node->id] += count;
      if (undisturbed && most != 0 && count > most)
        complain(node->id, turn.str() + " started " + std::to_string(count) + " calls with all below");
    }
    const bool left = states_[node->id].turn.has_value();
    const bool works = left && node->status != SessionStatus::kError;
    if (works || (left && undisturbed))
      complain(node->id, "is left in a turn and shown as " + std::string(to_string(node->status)));
  }
}

void Checks::shown_tree(Journal& journal) {
  JournalTree tree(std::shared_ptr<Journal>(&journal, [](Journal*) {}));
  if (auto read = tree.refresh(); !read) return complain({}, read.error().message);
  std::map<SessionId, Usage> sums;
  const std::vector<AgentNode> nodes = tree.nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    sums[node->id] += node->usage;
    if (sums[node->id] != node->subtree) complain(node->id, "its subtree has a different usage");
    if (!node->parent.empty()) sums[node->parent] += sums[node->id];
  }
}

std::string digest_of_logs(Journal& journal) {
  std::string digest;
  const auto rows = journal.sessions();
  for (const SessionRow& row : rows ? *rows : std::vector<SessionRow>{}) {
    if (row.entries == 0) continue;
    const auto end = journal.read(row.id, row.entries, 0);
    digest +=
        row.id.str() + ' ' + std::to_string(row.entries) + ' ' + (end ? end->back().hash.hex() : "?") + '\n';
  }
  return digest;
}

}  // namespace praxis::faults::sim
