// Sends spans and metrics to a collector by OTLP over HTTP.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/net/http_client.hpp"
#include "telemetry/otlp.hpp"

namespace praxis::telemetry {

enum class Protocol : bool { kProtobuf, kJson };

/// Where spans go, and how.
struct CollectorSettings {
  std::string endpoint = {};  ///< base URL; empty: there is no collector
  Protocol protocol = Protocol::kProtobuf;
  Convention convention = Convention::kGenAi138;
  bool content = false;
  HttpHeaders headers = {};
  Millis timeout{10'000};  ///< of one request
  Resource resource = {};
};

/// The value of a setting, such as `endpoint`, or of an environment variable; empty if it is not set.
using TextLookup = std::function<std::string(const std::string& name)>;

/// Settings of `[telemetry]` (`endpoint`, `protocol`, `names`, `content`), and of the variables of
/// OpenTelemetry where the table says nothing: `OTEL_EXPORTER_OTLP_ENDPOINT`, `_PROTOCOL`, `_HEADERS`,
/// `_TIMEOUT`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SDK_DISABLED`. Error `kInput` names the
/// setting or variable.
Result<CollectorSettings> collector_settings(const TextLookup& setting, const TextLookup& variable,
                                             std::string version);

/// Replaces secrets and personal data by `[REDACTED:KIND:DIGITS]`.
Redaction make_redaction();

/// One collector. Not thread-safe.
class Collector {
 public:
  explicit Collector(CollectorSettings settings);

  const CollectorSettings& settings() const { return settings_; }
  /// Sends in requests of at most 512 spans or about 4 MiB. Errors `kModel`: it could not be reached
  /// (retriable, likewise when it says that it is busy), or refused the request; `kCancelled`.
  Status send(const std::vector<Span>& spans, const std::stop_token& stop = {});
  Status send(const Metrics& metrics, const std::stop_token& stop = {});

 private:
  Status post(const Json& request, OtlpMessage message, const std::stop_token& stop);

  CollectorSettings settings_;
  std::shared_ptr<HttpClient> http_;
};

}  // namespace praxis::telemetry
