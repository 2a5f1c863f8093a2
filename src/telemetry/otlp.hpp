// OTLP, the protocol of OpenTelemetry, version 1: spans and metrics as its JSON form, and that as protobuf.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/span.hpp"

namespace praxis::telemetry {

/// What is said of the program that made the spans.
struct Resource {
  std::string service = "praxis";
  std::string version;
  std::map<std::string, std::string> attributes = {};  ///< further ones
};

/// An `ExportTraceServiceRequest`. Strings that are not UTF-8 are repaired when it is written.
Json trace_request(const std::vector<Span>& spans, const Resource& resource, Convention convention);

/// Sums of what spans took, for an `ExportMetricsServiceRequest`: `gen_ai.client.token.usage` and
/// `gen_ai.client.operation.duration`, as histograms of the time between the first and the last span (delta).
class Metrics {
 public:
  void add(const std::vector<Span>& spans);
  bool empty() const { return series_.empty(); }
  Json request(const Resource& resource, Convention convention) const;

 private:
  struct Series {
    Attributes attributes;
    std::uint64_t count = 0;
    double sum = 0, least = 0, most = 0;
    std::vector<std::uint64_t> buckets;
  };
  enum class Measure : std::uint8_t { kTokens, kDuration };

  void add(Measure measure, Attributes attributes, double value);
  JsonObject histogram(Measure measure, Convention convention) const;

  std::map<std::pair<Measure, std::string>, Series> series_;  ///< by the text of their attributes
  UnixMillis first_ = {}, last_ = {};
};

enum class OtlpMessage : std::uint8_t { kTraces, kMetrics };
/// The protobuf form of a request in its JSON form.
std::string to_protobuf(const Json& request, OtlpMessage message);

}  // namespace praxis::telemetry
