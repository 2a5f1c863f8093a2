// Reports of an evaluation: text for a terminal, JUnit XML for build servers, and one HTML file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evals/summary.hpp"

namespace praxis::evals {

/// What a report is about.
struct ReportHead {
  std::string suite;  ///< its name
  std::string place;  ///< options after a printed command that say where the runs are; starts with a space
  std::vector<std::string> notes = {};  ///< sentences after the figures
  /// What is to be seen of a run, for reports that hold the runs; null or empty: only its command is there.
  std::function<std::string(const SessionId&)> run_text = nullptr;
};

/// Lines that fit `columns`: a table of the variants, their comparisons, and the runs that did not pass.
std::vector<std::string> text_report(const ReportHead& head, const Summary& summary, std::size_t columns);

/// JUnit XML: a suite for each variant, a test case for each run.
std::string junit_report(const ReportHead& head, const Summary& summary);

/// An HTML file without scripts and without anything from elsewhere. The cells of its table name the runs and
/// the commands that show them.
std::string html_report(const ReportHead& head, const Summary& summary);

}  // namespace praxis::evals
