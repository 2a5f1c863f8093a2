// The structured answer of a turn as a value of a type of the program, with its usage and cost.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "praxis/core/report.hpp"
#include "praxis/json/describe.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The result of a turn without its typed value.
struct TypedAnswer {
  SessionId session;
  Usage usage;    ///< of the turn, including its sub-agents
  MicroUsd cost;  ///< of `usage`
  /// Steps that wait for an approver or an answer. As long as there are any, there is no value: decide them
  /// and resume the session.
  std::vector<ParkedStep> pending;
};

/// `value` is empty only while `pending` is not.
template <DescribedStruct T>
struct Typed : TypedAnswer {
  std::optional<T> value;
};

/// Returns the parts of `result` other than the value. Error: the reason why the turn has no answer and will
/// not get one.
Result<TypedAnswer> typed_answer(const Result<AgentResult>& result);

/// Reads the structured answer of a turn. Errors: as `typed_answer`; `kInput` for an answer that is not a
/// `T`.
template <DescribedStruct T>
Result<Typed<T>> typed(const Result<AgentResult>& result) {
  auto answer = typed_answer(result);
  if (!answer) return fail(std::move(answer.error()));
  Typed<T> typed{*std::move(answer), std::nullopt};
  if (!result->success) return typed;
  auto value = from_json_as<T>(result->structured);
  if (!value) return fail(std::move(value.error()));
  typed.value = *std::move(value);
  return typed;
}

}  // namespace praxis
#pragma GCC visibility pop
