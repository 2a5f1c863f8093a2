// Sends the spans of turns as they end, in the background.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "telemetry/trace_queue.hpp"

namespace praxis::telemetry {

struct LiveExportOptions {
  CollectorSettings collector;
  std::string file;                 ///< of the queue
  app::Redactions redactions = {};  ///< as in `SpanQuestion`
  /// Called on the thread of the export with a sentence for the user: the collector is away, refuses spans.
  std::function<void(const std::string&)> warn = nullptr;
  Millis interval{1000};  ///< between two looks at the journal
  Millis farewell{2000};  ///< how long the destructor waits for the last spans
};

/// Looks at a journal on a thread of its own. No run waits for it. The destructor sends what is left, for at
/// most `farewell`, and not at all if the collector was away a minute ago or less.
class LiveExport {
 public:
  /// Errors as of `TraceQueue::open`.
  static Result<std::unique_ptr<LiveExport>> start(std::shared_ptr<Journal> journal,
                                                   LiveExportOptions options);
  ~LiveExport();
  LiveExport(const LiveExport&) = delete;
  LiveExport& operator=(const LiveExport&) = delete;

 private:
  LiveExport(TraceQueue queue, LiveExportOptions options);
  void work();
  void pass();

  LiveExportOptions options_;
  TraceQueue queue_;
  Collector collector_;
  bool warned_ = false;
  Millis pause_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false, done_ = false;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace praxis::telemetry
