// What the handlers of the server work with.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "app/usage_report.hpp"
#include "app/without_secrets.hpp"
#include "app/workspace.hpp"
#include "engines/restate/engine_counts.hpp"
#include "logs/blob_references.hpp"
#include "server/conversations.hpp"
#include "server/event_feed.hpp"
#include "server/folds.hpp"
#include "server/kept_filters.hpp"
#include "server/login_code.hpp"
#include "server/mcp_sessions.hpp"
#include "server/open_streams.hpp"
#include "server/refusals.hpp"
#include "server/relay_outbox.hpp"
#include "server/runs.hpp"
#include "server/trees.hpp"

namespace praxis::server {

class A2aPush;  // server/a2a_push.hpp

/// Numbers for `/metrics`. Thread-safe.
struct Counters {
  std::array<std::atomic<std::uint64_t>, 6> answers{};  ///< by the first digit of the status
  std::atomic<std::uint64_t> runs_created = 0;
};

/// Thread-safe; lives as long as the server.
struct Service {
  std::shared_ptr<const app::Workspace> workspace;
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Journal> journal;
  std::shared_ptr<Runs> runs;
  std::shared_ptr<EventFeed> feed;
  std::shared_ptr<BlobReferences> references;
  std::shared_ptr<Folds> folds;
  std::shared_ptr<Trees> trees;
  std::shared_ptr<Conversations> conversations;
  std::shared_ptr<LoginCode> login = nullptr;    ///< null: there is no code
  std::shared_ptr<Refusals> refusals = nullptr;  ///< null: there is no place for them
  std::shared_ptr<McpSessions> mcp = nullptr;    ///< not null once the server answers
  OpenStreams streams = {};
  Counters counters = {};
  std::shared_ptr<RelayCounts> relayed = nullptr;  ///< null: the journal has no other servers
  std::atomic<bool> draining = false;
  app::Redactions redactions = {};
  EventRedactor::RedactionOf redaction_of_events = nullptr;  ///< of each session, as the feed has it
  EventRedactor::RedactionOf shown_filters_of = nullptr;     ///< of each session, as it began
  KeptFilters kept_filters = {};
  app::UsageIndex usage = {};
  std::shared_ptr<A2aPush> push = nullptr;  ///< null: the server sends no push notifications
  std::shared_ptr<const restate::EngineCounts> engine = nullptr;  ///< null: turns run in this process alone
};

}  // namespace praxis::server
