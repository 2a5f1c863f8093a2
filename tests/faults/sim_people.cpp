// The programs that use a simulated process, and the users who send commands to its sessions.
#include <algorithm>
#include <utility>

#include "driver/command_records.hpp"
#include "logs/log_writer.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/runtime/commands.hpp"
#include "runtime/inbox_watcher.hpp"
#include "sim_world.hpp"

namespace praxis::faults::sim {

void World::promise(const SessionId& session, std::string what, std::function<bool(const Log&)> kept) {
  promises_.push_back({session, std::move(what), std::move(kept)});
}

// ---- programs

/// Opens or creates the session of a program, which uses it until it has no more messages.
void World::client(Root& root) {
  Node* node = nullptr;
  if (!root.id.empty()) {
    if (auto opened = open(root.id, root.agent, nullptr, {})) node = *opened;
    const auto row = disk_->session(root.id);
    if (node == nullptr && row && row->entries == 0)
      root.id = {};  // lost before its first record was written
  } else if (auto lease = disk_->create(SessionId{"s" + vendor_.number()}, clock_.now())) {
    State fresh;
    fresh.id = lease->session;
    node = &make_node(*std::move(lease), root.agent, std::move(fresh), nullptr, {});
    begin(*node);
  }
  if (node == nullptr) return nap(20, [this, &root] { client(root); });
  root.id = node->id;
  node->leaving = false;
  turn(root, *node);
}

/// Resumes the turn in progress, or starts one.
void World::turn(Root& root, Node& node) {
  if (killed_) return;
  if (node.gone || node.gave_up) return nap(20, [this, &root] { client(root); });
  state(node);
  if (node.driver->refuses_resume()) return prompt(root, node);
  expire(node);
  if (killed_ || node.gone) return;
  const driver::Token reader = ++tokens_;
  node.readers[reader] = [this, &root, &node](const Result<AgentResult>& result) {
    turn_ended(root, node, result);
  };
  feed(node, driver::ResumeRequested{{reader, false}, {}});
}

void World::prompt(Root& root, Node& node) {
  const State& now = state(node);
  const std::uint64_t written = node.driver->durable();
  const bool durable = written == now.seq || (written == 0 && now.seq == 1);  // a birth waits for its prompt
  if (node.gave_up || !durable) return nap(10, [this, &root, &node] { turn(root, node); });
  if (vendor_.calm) {
    root.over = true;
    return;
  }
  if (now.deleted) {
    root.id = {};
    node.leaving = true;
    leave_when_quiet(node);
    return client(root);
  }
  const std::string text = "prompt " + vendor_.number();
  const auto done = [this, &root, &node](const Result<AgentResult>& result) {
    turn_ended(root, node, result);
  };
  if (!random_.once_in(3)) {
    std::vector<Message> messages;
    messages.push_back(text_message(Role::kUser, text));
    return ask(node, std::move(messages), false, done);
  }
  const auto said = [&](const State& s) -> Result<std::vector<RecordBody>> {
    if (s.turn) return fail(ErrorCode::kInput, "the session is running");
    return std::vector<RecordBody>{
        records::MessageAppended{std::make_shared<const Message>(text_message(Role::kUser, text))}};
  };
  submit(node, said, [this, &node, text, done](const Status& kept) {
    if (kept) promise(node.id, text, [text](const Log& log) { return holds_prompt(log, text); });
    ask(node, {}, false, done);
  });
}

void World::ask(Node& node, std::vector<Message> messages, bool stays, GotResult done) {
  if (node.gone) return done(fail(ErrorCode::kJournal, "the session has left memory"));
  const driver::Token reader = ++tokens_;
  node.readers[reader] = std::move(done);
  feed(node, driver::TurnRequested{std::move(messages), nullptr, nullptr, {reader, stays}});
}

void World::turn_ended(Root& root, Node& node, const Result<AgentResult>& result) {
  const bool leaves = result && !vendor_.calm && random_.once_in(8);
  const auto next = [this, &root, &node] { turn(root, node); };
  if (!result) return nap(10, next);
  if (result->status == SessionStatus::kAwaitingUser) {
    nap(60, [this, next, result = *result] {
      decide(result);
      nap(10, next);
    });
  } else {
    promise(node.id, "the end of " + result->id,
            [result = *result](const Log& log) { return holds_end(log, result); });
    nap(10, next);
  }
  node.leaving = leaves;
  leave_when_quiet(node);
}

// ---- users

std::optional<Approval> World::approval_on(const ParkedStep& step, bool always) {
  if (!always && random_.once_in(3)) return std::nullopt;
  if (random_.once_in(4)) return reject("no");
  return step.kind == ParkKind::kQuestion ? answer("answer " + vendor_.number()) : approve();
}

void World::decide(const AgentResult& result) {
  for (const ParkedStep& step : result.pending) {
    if (vendor_.calm || !random_.once_in(4)) decide_step(step);
  }
}

/// Decides a step of a session or of one below it, in memory or on the disk.
void World::decide_step(const ParkedStep& step) {
  const ParkId own = split_id(step.id).second;
  Node* node = find(step.session);
  const StepApproval approval{step.session, own, *approval_on(step, true)};
  carry_out(step.session, approval, [this, node, own, session = step.session](const Status& durable) {
    if (!durable) return;
    promise(session, "a decision on " + own.str(),
            [own](const Log& log) { return holds_decision(log, own); });
    for (Node* above = node != nullptr ? node->above : nullptr; above != nullptr; above = above->above)
      feed(*above, driver::StepDecidedBelow{qualified_id(session, own)});
  });
}

void World::carry_out(const SessionId& session, const InboxRequest& request, Done done) {
  if (Node* node = find(session)) {
    const auto records = [&, node](const State& s) {
      return request_records(s, request, node->driver->retired());
    };
    return submit(*node, records, std::move(done));
  }
  done(record_at_rest(session, request));
}

/// Users send commands to running sessions until the programs are done.
void World::meddle() {
  const auto again = [this] { meddle(); };
  unpause_some();
  if (vendor_.calm) return nap(30, again);
  // Mostly with sessions of the last programs and their sub-agents.
  const std::size_t among =
      random_.once_in(20) ? sessions_.size() : std::min<std::size_t>(sessions_.size(), 12);
  if (among != 0) meddle_with(sessions_[sessions_.size() - 1 - random_.below(among)]);
  if (!killed_) nap(60, again);
}

/// Sometimes the next process has to unpause a session.
void World::unpause_some() {
  for (const SessionId& session : sessions_) {
    Node* node = find(session);
    if (node == nullptr || (!vendor_.calm && !random_.once_in(4))) continue;
    if (state(*node).paused && !node->gave_up) command(session, CommandVerb::kUnpause);
    if (killed_) return;
  }
}

void World::meddle_with(const SessionId& session) {
  const std::string text = "word " + vendor_.number();
  Node* node = find(session);
  switch (random_.below(16)) {
    case 0:
      return command(session, CommandVerb::kPause);
    case 1:
      return command(session, CommandVerb::kInterrupt);
    case 2:
      return command(session, CommandVerb::kModify, text);
    case 3:
      if (random_.once_in(3)) command(session, CommandVerb::kDelete);
      return;
    case 4:
      return command(session, CommandVerb::kAnnotate, text);
    case 5:
      return command(session, CommandVerb::kEnqueue, text);
    case 6:
      return post(session, text);
    case 7:
      if (node != nullptr && random_.once_in(3)) steal(*node);
      return;
    case 8:
      ++life_.approver;
      for (Node& each : nodes_) feed(each, driver::ApproverChanged{});
      return;
    case 9:
      if (node != nullptr) feed(*node, driver::HookThrew{"hook", "it threw"});
      return;
    default:
      return command(session, CommandVerb::kSteer, text);
  }
}

void World::command(const SessionId& session, CommandVerb verb, const std::string& text) {
  carry_out(session, Commands{{verb, session, text}}, [this, session, verb, text](const Status& durable) {
    if (!durable) return;
    promise(session, std::string(to_string(verb)) + ' ' + text,
            [verb, text](const Log& log) { return holds_command(log, verb, text); });
  });
}

/// Another process posts a request to the inbox of a session, which is carried out once, if at all.
void World::post(const SessionId& session, const std::string& text) {
  const auto message =
      post_request(disk_->inbox(), clock_, Commands{{CommandVerb::kAnnotate, session, text}});
  if (!message) return;
  promise(session, "the message " + text + " once", [this, text, id = *message](const Log& log) {
    const auto times = std::ranges::count_if(log, [&](const StoredRecord& stored) {
      const auto* command = std::get_if<records::Intervened>(&stored.record.body);
      return command != nullptr && command->text == text;
    });
    const auto outcome = disk_->inbox().outcome(id);
    const bool carried_out = outcome && *outcome && **outcome == kInboxOk;
    return times == (carried_out ? 1 : 0);
  });
  if (Node* node = find(session)) nap(40, [this, node] { collect_inbox(*node); });
}

void World::collect_inbox(Node& node) {
  if (node.gone || node.gave_up) return;
  const auto messages = disk_->inbox().messages_for(node.id, node.inbox_taken);
  if (!messages) return complain(node, messages.error().message);
  for (const InboxMessage& message : *messages) {
    node.inbox_taken = message.id;
    expire(node);
    if (killed_ || node.gone) return;
    const auto request = request_of(message);
    auto bodies = request ? request_records(state(node), *request, node.driver->retired())
                          : Result<std::vector<RecordBody>>(fail(request.error()));
    driver::RecordsGiven given;
    given.answer = InboxAnswer{message.id, bodies ? std::string(kInboxOk) : bodies.error().message};
    if (bodies) given.records = *std::move(bodies);
    feed(node, std::move(given));
  }
}

}  // namespace praxis::faults::sim
