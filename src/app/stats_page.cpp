#include "app/stats_page.hpp"

#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "app/values.hpp"
#include "base/visible_text.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kStyle = R"css(
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{border:1px solid #bbb;padding:.3rem .6rem;text-align:right;vertical-align:top}
th:first-child{text-align:left;overflow-wrap:anywhere;max-width:24rem}
thead th{background:#f2f2f2}
)css";
/// The SHA-256 of `kStyle`: the browser applies no other style. A test computes it.
constexpr std::string_view kStyleDigest = "Cs7Bn7/mFssOuPBJ1f1Vy5/1bmCHX+mxpARt4idu548=";

/// Cells of a row, each after its tag.
std::string cells(std::initializer_list<std::string> values) {
  std::string out;
  for (const std::string& value : values) out += "<td>" + value;
  return out;
}

std::string times_of(const EffectStats& stats) {
  if (stats.calls == 0) return "-<td>-";
  return show_duration(stats.percentile(kMedian)) + "<td>" + show_duration(stats.percentile(kUsualMost));
}

std::string cells_of(const EffectStats& stats) {
  return cells({std::to_string(stats.calls), std::to_string(stats.errors), std::to_string(stats.retries),
                times_of(stats)});
}

void add_tool_rows(std::string& out, const StatsTable& table) {
  out += "<thead><tr><th>Tool<th>Calls<th>Failed<th>Retries<th>Median<th>95 %</thead>\n";
  for (const StatsRow& row : table.rows)
    out += "<tr><th>" + visible_xml(row.name) + cells_of(row.tool) + '\n';
}

void add_rows(std::string& out, const StatsTable& table) {
  out +=
      "<thead><tr><th><th>Turns<th>Finished<th>Steps<th>Model calls<th>Failed<th>Retries<th>Median<th>95 %"
      "<th>Tool calls<th>Failed<th>Retries<th>Median<th>95 %<th>Tokens in<th>Out<th>From cache<th>Cost"
      "<th>Waited<th>People<th>Timers<th>Sub-agents<th>Retries</thead>\n";
  for (const StatsRow& row : table.rows) {
    const std::string name = table.by == StatsBy::kAll ? "all" : row.name.empty() ? "-" : row.name;
    out += "<tr><th>" + visible_xml(name) +
           cells({std::to_string(row.turns), rate_text(row.finished, row.turns), std::to_string(row.steps)}) +
           cells_of(row.model) + cells_of(row.tool) +
           cells({std::to_string(row.usage.input), std::to_string(row.usage.output),
                  rate_text(static_cast<std::uint64_t>(row.usage.cache_read),
                            static_cast<std::uint64_t>(row.usage.input)),
                  cost_text(row), show_duration(row.waiting.total())});
    for (const WaitsFor what : kAllWaits) out += "<td>" + show_duration(row.waiting.of(what));
    out += '\n';
  }
}

std::string_view heading_of(StatsBy by) {
  switch (by) {
    case StatsBy::kAll:
      return "All runs";
    case StatsBy::kAgent:
      return "By agent";
    case StatsBy::kModel:
      return "By model";
    case StatsBy::kTool:
      return "By tool";
    case StatsBy::kDay:
      return "By day (UTC)";
    case StatsBy::kTenant:
      return "By tenant";
  }
  std::unreachable();
}

}  // namespace

std::string rate_text(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return "-";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(all);
  return std::to_string(std::llrint(percent)) + " %";
}

std::string cost_text(const StatsRow& row) { return row.has_unknown_price ? "$?" : show_usd(row.usage.cost); }

std::string stats_page(const std::string& times, const StatsReport& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-";
  out += kStyleDigest;
  out +=
      "'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Measures of runs</title>\n<style>";
  out += kStyle;
  out += "</style>\n<h1>Measures of runs</h1>\n<p>" + visible_xml(times) + "</p>\n";
  if (!report.is_complete) out += "<p>There are older runs, which are left out.</p>\n";
  for (const StatsTable& table : report.tables) {
    out.append("<h2>").append(heading_of(table.by)).append("</h2>\n");
    out += "<table>\n";
    if (table.by == StatsBy::kTool) {
      add_tool_rows(out, table);
    } else {
      add_rows(out, table);
    }
    out += "</table>\n";
  }
  return out + "</html>\n";
}

}  // namespace praxis::app
