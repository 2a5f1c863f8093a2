#include "planners/six_steps.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace praxis::six_steps {
namespace {

using Results = std::span<const StepResult>;

constexpr const char* kClarifyPrompt =
    "Do not work on the request yet. First say whether it is ambiguous: whether you lack something that only "
    "the "
    "user can tell you, without which your work would probably be of no use. If so, ask for the most "
    "important "
    "thing in one short question. What you can find out, or sensibly assume, is no reason to ask.";
constexpr const char* kInformationPrompt =
    "Do not work on the request yet. Say whether critical information is missing: a fact that only the user "
    "can give and that you cannot do without, look up or sensibly assume. If so, ask for the most important "
    "one in one short question.";
constexpr const char* kSubQuestionsPrompt =
    "Do not work on the request yet. First say which parts of it are worth looking into separately. Name up "
    "to "
    "four questions that can be worked on at the same time, none needing the answer to another, and word "
    "each so "
    "that it is understood by itself. If the request is simple, name none.";
constexpr const char* kConcludePrompt =
    "Now give your final answer to the request. It stands by itself and brings together all that was found. "
    "If "
    "it depends on something uncertain that the user can settle, say so and ask for it in one short "
    "question; "
    "even then, give the best answer you can.";
constexpr const char* kMainWorkPrompt =
    "Work on the request now. Others work on the following parts of it at the same time; leave these to "
    "them, "
    "and do what is left:";

/// A question that the model answers with a flag and what to ask the user.
struct Decision {
  std::string_view purpose;
  std::string_view flag;
  std::string_view prompt;
  std::uint32_t rounds;  ///< the most questions to the user
};

std::string_view either(const std::string& own, std::string_view built_in) {
  return own.empty() ? built_in : std::string_view(own);
}

Json text_type() { return JsonObject{{"type", "string"}}; }
Json flag_type() { return JsonObject{{"type", "boolean"}}; }

/// Returns the schema of an object that requires all of these properties.
Json schema_of_answer(const JsonObject& properties) {
  JsonArray names;
  for (const auto& [name, type] : properties) names.emplace_back(name);
  return JsonObject{{"type", "object"},
                    {"properties", properties},
                    {"required", std::move(names)},
                    {"additionalProperties", false}};
}

Consult query(std::string_view purpose, std::string_view prompt, const JsonObject& properties) {
  return Consult{{std::string(purpose), std::string(prompt), schema_of_answer(properties)}};
}

PlanStep ask_for(const Decision& decision) {
  return query(decision.purpose, decision.prompt,
               JsonObject{{decision.flag, flag_type()}, {"question", text_type()}});
}
PlanStep ask_for_sub_questions(const SixSteps& settings) {
  const Json questions =
      JsonObject{{"type", "array"}, {"items", text_type()}, {"maxItems", settings.sub_questions}};
  return query(kSubQuestions, either(settings.sub_questions_prompt, kSubQuestionsPrompt),
               JsonObject{{"questions", questions}});
}
PlanStep ask_for_conclusion(const SixSteps& settings) {
  return query(kConclude, either(settings.conclude_prompt, kConcludePrompt),
               JsonObject{{"answer", text_type()}, {"uncertain", flag_type()}, {"question", text_type()}});
}

/// Whether this is a result of the plan itself, not of a tool that has the same name.
bool is_a(const StepResult& result, std::string_view what) {
  return result.call.empty() && result.tool == what;
}

const StepResult* first(Results results, std::string_view what) {
  const auto found = std::ranges::find_if(results, [&](const StepResult& r) { return is_a(r, what); });
  return found == results.end() ? nullptr : &*found;
}

const StepResult* last(Results results, std::string_view what) {
  const auto found =
      std::find_if(results.rbegin(), results.rend(), [&](const StepResult& r) { return is_a(r, what); });
  return found == results.rend() ? nullptr : &*found;
}

std::size_t count(Results results, std::string_view what) {
  return static_cast<std::size_t>(
      std::ranges::count_if(results, [&](const StepResult& r) { return is_a(r, what); }));
}

/// Returns the results after `result`, which is an element of `results`.
Results after(Results results, const StepResult* result) {
  return results.subspan(static_cast<std::size_t>(result - results.data()) + 1);
}

/// Returns the question in an answer of the model if its `flag` is set; empty if there is no question or the
/// answer does not have the requested form.
std::string question_in(const StepResult& answer, std::string_view flag) {
  if (!answer.ok || !json_bool(answer.value, flag)) return {};
  return json_string(answer.value, "question");
}

/// The prefix of the ids of calls that work on sub-questions.
std::string sub_question_prefix(const PlannerState& state) { return state.turn().str() + "-sub"; }

/// Returns the step to take until the user has answered `question`, given the results since it came up. Adds
/// the question as a message first, so that the conversation has the question as well as the answer.
std::optional<PlanStep> put_to_person(Results since, const std::string& question) {
  if (first(since, "ask") != nullptr) return std::nullopt;
  if (first(since, "message") == nullptr) return AddMessage{question};
  return AskPerson{question};
}

/// Adds `text` as a message, unless it was the last message of the plan, then ends the turn with it.
PlanStep finish_with(Results all, std::string text) {
  const auto spoken = std::find_if(
      all.rbegin(), all.rend(), [](const StepResult& r) { return is_a(r, "message") || is_a(r, "answer"); });
  const bool said = spoken != all.rend() && spoken->text == text;
  if (said || text.empty()) return Conclude{StopReason::kFinished, std::move(text), std::nullopt};
  return AddMessage{std::move(text)};
}

std::vector<std::string> sub_questions_in(const StepResult& answer) {
  std::vector<std::string> questions;
  const auto* given = answer.ok ? json_at(answer.value, "questions").if_array() : nullptr;
  if (given == nullptr) return questions;
  for (const Json& question : *given) {
    if (!question.get_string().empty()) questions.emplace_back(question.get_string());
  }
  return questions;
}

/// Returns the answer in a conclusion. An answer that is not in the requested form is used unchanged; broken
/// JSON is of no use to readers, so then it is the model's previous answer.
std::string answer_in(const StepResult& conclusion, const StepResult& before) {
  std::string answer = conclusion.ok ? json_string(conclusion.value, "answer") : conclusion.text;
  const bool usable = !answer.empty() && (conclusion.ok || !answer.starts_with('{'));
  return usable ? answer : before.text;
}

/// Returns how many questions to the user came from this decision.
std::size_t questions_of(Results results, std::string_view purpose) {
  std::size_t asked = 0;
  bool by_this = false;
  for (const StepResult& result : results) {
    for (const std::string_view other : {kClarify, kInformation, kConclude}) {
      if (is_a(result, other)) by_this = other == purpose;
    }
    if (by_this && is_a(result, "ask")) ++asked;
  }
  return asked;
}

/// Puts a decision to the model, and its question to the user, until the model needs nothing more or the
/// rounds are used up.
std::optional<PlanStep> decide(const Progress& progress, const Decision& decision) {
  const bool may_consult = questions_of(progress.all, decision.purpose) < decision.rounds &&
                           count(progress.all, decision.purpose) < 2 * std::size_t{decision.rounds};
  const StepResult* verdict = last(progress.current, decision.purpose);
  if (verdict == nullptr) return may_consult ? std::optional(ask_for(decision)) : std::nullopt;
  const std::string question = question_in(*verdict, decision.flag);
  if (question.empty()) return std::nullopt;
  const Results since = after(progress.current, verdict);
  if (auto step = put_to_person(since, question)) return step;
  if (!first(since, "ask")->ok) {
    return finish_with(progress.all,
                       "I stopped here, because I would have needed an answer to this: " + question);
  }
  return may_consult ? std::optional(ask_for(decision)) : std::nullopt;
}

std::string main_work(const SixSteps& settings, const std::vector<std::string>& questions) {
  std::string prompt(either(settings.main_work_prompt, kMainWorkPrompt));
  for (const std::string& question : questions) prompt += "\n- " + question;
  return prompt;
}

}  // namespace

Progress progress_of(const PlannerState& state, const SixSteps& settings) {
  return {settings, state, state.results(), state.results_for_request()};
}

std::optional<PlanStep> clarify(const Progress& progress) {
  return decide(progress, {kClarify, "ambiguous", either(progress.settings.clarify_prompt, kClarifyPrompt),
                           progress.settings.clarify_rounds});
}

std::optional<PlanStep> complete(const Progress& progress) {
  return decide(progress,
                {kInformation, "missing", either(progress.settings.information_prompt, kInformationPrompt),
                 progress.settings.information_rounds});
}

std::optional<PlanStep> find_sub_questions(const Progress& progress) {
  if (progress.state.agent().find_tool(kFork) == nullptr) return std::nullopt;
  if (first(progress.current, kSubQuestions) != nullptr) return std::nullopt;
  if (count(progress.all, kSubQuestions) >= kMaxDivisions) return std::nullopt;
  if (progress.settings.sub_questions == 0) return std::nullopt;
  return ask_for_sub_questions(progress.settings);
}

std::optional<PlanStep> work_in_parallel(const Progress& progress) {
  const StepResult* named = first(progress.current, kSubQuestions);
  // All forks have settled together, so any later result means that this step is done.
  if (named == nullptr || !after(progress.current, named).empty()) return std::nullopt;
  std::vector<std::string> prompts = sub_questions_in(*named);
  if (prompts.empty()) return std::nullopt;
  if (progress.settings.main_work) prompts.push_back(main_work(progress.settings, prompts));
  UseTools forks;
  for (const std::string& prompt : prompts) {
    // Unique among the calls of the turn.
    const std::size_t number = progress.all.size() + forks.calls.size();
    const std::string id = sub_question_prefix(progress.state) + std::to_string(number);
    forks.calls.push_back(
        {CallId{id}, std::string(kFork), to_json_text(JsonObject{{"prompt", prompt}}), true, nullptr});
  }
  return forks;
}

std::vector<CallId> open_sub_questions(const PlannerState& state) {
  const std::string prefix = sub_question_prefix(state);
  std::vector<CallId> open = state.open_calls();
  std::erase_if(open, [&](const CallId& call) { return !call.str().starts_with(prefix); });
  return open;
}

std::optional<PlanStep> work_on_request(const Progress& progress) {
  const auto& answer = progress.state.answer();
  if (answer && answer->finish != FinishReason::kPause) return std::nullopt;
  return AskModel{};
}

PlanStep conclude(const Progress& progress) {
  const StepResult* work = last(progress.all, "answer");
  const StepResult* conclusion = last(after(progress.all, work), kConclude);
  if (conclusion == nullptr) return ask_for_conclusion(progress.settings);
  const std::string answer = answer_in(*conclusion, *work);
  const std::string question = question_in(*conclusion, "uncertain");
  const StepResult* first_conclusion = first(progress.all, kConclude);
  const bool asked_before =
      first_conclusion != conclusion && first({first_conclusion, conclusion}, "ask") != nullptr;
  if (question.empty() || asked_before) return finish_with(progress.all, answer);
  const Results since = after(progress.all, conclusion);
  if (auto step = put_to_person(since, question)) return *std::move(step);
  if (first(since, "ask")->ok) return ask_for_conclusion(progress.settings);
  return finish_with(progress.all, answer + "\n\nThis stayed open: " + question);
}

}  // namespace praxis::six_steps
