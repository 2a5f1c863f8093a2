#include <fmt/format.h>

#include <algorithm>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/visible_text.hpp"
#include "evals/report.hpp"

namespace praxis::evals {
namespace {

std::string show_command(const ReportHead& head, const TrialResult& trial) {
  return "praxis show " + trial.run.str() + head.place;
}

std::string problems_of(const TrialResult& trial) {
  std::string text;
  for (const std::string& problem : trial.problems) text += (text.empty() ? "" : "\n") + problem;
  return text;
}

double seconds_of(Millis time) { return static_cast<double>(time.count()) / 1000; }

void add_junit_case(std::string& out, const ReportHead& head, const VariantSummary& sum,
                    const TrialResult& trial) {
  const std::string name = sum.k > 1 ? fmt::format("{} [{}]", trial.test, trial.repeat) : trial.test;
  out += fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.3f}">)", visible_xml(sum.name),
                     visible_xml(name), seconds_of(trial.duration));
  if (!trial.passed()) {
    const std::string_view element = trial.verdict == Verdict::kFailed ? "failure" : "error";
    const std::string first = trial.problems.empty() ? "" : trial.problems.front();
    out += fmt::format("<{0} message=\"{1}\">{2}\n{3}</{0}>", element, visible_xml(app::one_line(first, 200)),
                       visible_xml(problems_of(trial)), visible_xml(show_command(head, trial)));
  }
  out += "</testcase>\n";
}

constexpr std::string_view kStyle = R"css(
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1a1a1a}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{border:1px solid #bbb;padding:.35rem .6rem;text-align:left;vertical-align:top}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#fff;padding:.5rem;margin:.2rem 0}
td.passed{background:#dff3e0}td.failed{background:#f9dcdc}td.flaky{background:#fbeecb}
code{font-size:.85em;overflow-wrap:anywhere}summary{cursor:pointer}
)css";

void add_html_variants(std::string& out, const Summary& summary) {
  out +=
      "<table><tr><th>Variant<th>Passed<th>95 % interval<th>Score<th>pass@k<th>pass^k<th>Flaky"
      "<th>Without result<th>Tokens<th>Cost<th>Time</tr>\n";
  for (const VariantSummary& sum : summary.variants) {
    out += fmt::format(
        "<tr><th>{}<td>{}/{}<td>{:.3f} to {:.3f}<td>{:.3f}<td>{:.3f} (k = {})<td>{:.3f}<td>{}<td>{}<td>{}"
        "<td>{}<td>{}</tr>\n",
        visible_xml(sum.name), sum.passed, sum.runs, sum.interval.low, sum.interval.high, sum.score,
        sum.pass_at_k, sum.k, sum.pass_all_k, sum.flaky, sum.errors, sum.usage.total(),
        sum.has_unknown_price ? "$?" : app::show_usd(sum.usage.cost), app::show_duration(sum.duration));
  }
  out += "</table>\n";
  if (summary.comparisons.empty()) return;
  out += "<table><tr><th>Variant<th>Against<th>Pairs<th>Better<th>Worse<th>p (McNemar, exact)</tr>\n";
  for (const Comparison& each : summary.comparisons) {
    out += fmt::format("<tr><th>{}<td>{}<td>{}<td>{}<td>{}<td>{:.4f}</tr>\n", visible_xml(each.variant),
                       visible_xml(each.against), each.pairs, each.better, each.worse, each.p_value);
  }
  out += "</table>\n";
}

constexpr std::size_t kMostOfARun = std::size_t{64} * 1024;
constexpr std::size_t kMostOfAllRuns = std::size_t{32} * 1024 * 1024;

/// The run itself, as far as there is `room` for it.
void add_html_run(std::string& out, const ReportHead& head, const TrialResult& trial, std::size_t& room) {
  std::string text = head.run_text ? head.run_text(trial.run) : std::string();
  if (text.empty() || room == 0) return;
  const std::size_t most = std::min(kMostOfARun, room);
  const bool is_cut = text.size() > most;
  if (is_cut) text.resize(most);
  room -= text.size();
  out += "<details><summary>open the run</summary><pre>" + visible_xml(text) + "</pre>";
  out += is_cut ? "The command above shows the rest.</details>" : "</details>";
}

void add_html_cell(std::string& out, const ReportHead& head, const Cell& cell, std::size_t& room) {
  const bool all = cell.passed == cell.trials.size();
  const std::string_view color = all ? "passed" : cell.is_flaky() ? "flaky" : "failed";
  out += fmt::format(R"(<td class="{}"><details><summary>{}/{}{}</summary>)", color, cell.passed,
                     cell.trials.size(), cell.is_flaky() ? " flaky" : "");
  for (const TrialResult* trial : cell.trials) {
    out += fmt::format("<p>{}: run {}<br><code>{}</code>", to_string(trial->verdict),
                       visible_xml(trial->run.str()), visible_xml(show_command(head, *trial)));
    for (const std::string& problem : trial->problems) out += "<br>" + visible_xml(problem);
    out += "</p>";
    add_html_run(out, head, *trial, room);
  }
  out += "</details></td>";
}

}  // namespace

std::string junit_report(const ReportHead& head, const Summary& summary) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"{}\">\n", visible_xml(head.suite));
  for (const VariantSummary& sum : summary.variants) {
    const std::uint64_t errors = sum.errors + sum.waiting;
    out += fmt::format(R"(  <testsuite name="{}" tests="{}" failures="{}" errors="{}" time="{:.3f}">)"
                       "\n",
                       visible_xml(head.suite + " / " + sum.name), sum.runs, sum.runs - sum.passed - errors,
                       errors, seconds_of(sum.duration));
    for (const Cell& cell : summary.cells) {
      if (cell.variant != sum.name) continue;
      for (const TrialResult* trial : cell.trials) add_junit_case(out, head, sum, *trial);
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

std::string html_report(const ReportHead& head, const Summary& summary) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n",
      visible_xml(head.suite), kStyle);
  add_html_variants(out, summary);
  for (const std::string& note : head.notes) out += "<p>" + visible_xml(note) + "</p>\n";
  out += "<table><tr><th>Case";
  for (const VariantSummary& sum : summary.variants) out += "<th>" + visible_xml(sum.name);
  out += "</tr>\n";
  std::vector<std::string> tests;
  std::size_t room = kMostOfAllRuns;
  for (const Cell& cell : summary.cells) {
    if (tests.empty() || tests.back() != cell.test) tests.push_back(cell.test);
  }
  for (const std::string& test : tests) {
    out += "<tr><th>" + visible_xml(test);
    for (const VariantSummary& sum : summary.variants) {
      const auto cell = std::ranges::find_if(
          summary.cells, [&](const Cell& each) { return each.test == test && each.variant == sum.name; });
      if (cell == summary.cells.end()) {
        out += "<td></td>";
      } else {
        add_html_cell(out, head, *cell, room);
      }
    }
    out += "</tr>\n";
  }
  return out + "</table>\n</html>\n";
}

}  // namespace praxis::evals
