// Inputs of callers: turns, records, commands, and requests to wait for a state.
#include <algorithm>

#include "driver/nothing_to_resume.hpp"
#include "driver/turn_driver.hpp"

namespace praxis::driver {

Error TurnDriver::input_error(std::string what) { return make_error(ErrorCode::kInput, std::move(what)); }

void TurnDriver::refuse(const Reader& reader, Error error) {
  emit(FinishReaders{{reader}, fail(std::move(error))});
}

void TurnDriver::on(TurnRequested input) {
  if (const auto error = refusal()) return refuse(input.reader, *error);
  if (turn_ending_) return held_turns_.push_back(std::move(input));
  if (state_->deleted) return refuse(input.reader, deleted_error());
  if (state_->turn) {
    Error error =
        input_error("session " + state_->id.str() + " is in the middle of a turn; wait, steer or enqueue");
    AgentResult refused;
    refused.session = state_->id;
    refused.error = error;
    emit(Publish{transient(events::TurnFailed{std::move(refused)}), {input.reader}, true});
    return refuse(input.reader, std::move(error));
  }
  readers_ = {input.reader};
  emit(ReadersChanged{});
  if (input.described)
    record(records::Intervened{CommandVerb::kSetAgent, {}, std::move(input.described), by_hook()});
  for (records::Decided& each : input.decided) record(std::move(each));
  record(
      records::TurnStarted{TurnId{"t" + std::to_string(state_->next_turn)}, std::move(input.output_schema)});
  for (std::size_t i = 0; i < input.messages.size(); ++i) {
    records::MessageAppended said{std::make_shared<const Message>(std::move(input.messages[i])),
                                  MessageSource::kUser};
    if (i < input.originals.size()) said.original = std::move(input.originals[i]);
    record(std::move(said));
  }
  advance();
}

void TurnDriver::on(ResumeRequested input) {
  if (auto error = refuses_resume()) return refuse(input.reader, *std::move(error));
  readers_.push_back(input.reader);
  emit(ReadersChanged{});
  // The record of a turn that begins tells it too.
  if (setup_.parent && state_->turn) emit(TellParent{ChildBegan{state_->id, setup_.parent->call}});
  if (state_->paused) record(records::Intervened{CommandVerb::kUnpause, {}, nullptr, by_library()});
  recover();
  for (RecordBody& body : input.records) record(std::move(body));
  advance();
}

std::optional<Error> TurnDriver::refuses_resume() const {
  if (!failure_ && !state_->turn && state_->queue.empty()) return nothing_to_resume();
  auto error = refusal();
  return error || state_->turn || !state_->deleted ? error : deleted_error();
}

/// Returns the error when no turn can start or resume here.
std::optional<Error> TurnDriver::refusal() const {
  if (failure_) return *failure_;
  if (!retired_) return std::nullopt;
  return input_error("sub-agent " + state_->id.str() +
                     " ended with the call that created it; no turn can start");
}

Error TurnDriver::nothing_to_resume() const {
  return nothing_to_resume_error("session " + state_->id.str() + " has no turn to resume");
}

Error TurnDriver::deleted_error() const {
  return input_error("session " + state_->id.str() + " was deleted by a command");
}

void TurnDriver::on(RecordsGiven input) {
  if (failure_) {
    if (input.waiter != 0) emit(AnswerWaiter{input.waiter, fail(*failure_)});
    return;
  }
  if (input.answer) log_.add(*std::move(input.answer));
  if (input.waiter != 0) log_.wait(input.waiter);
  take_records(std::move(input.records), input.resumes);
}

void TurnDriver::on(DurableAwaited input) {
  if (failure_) return emit(AnswerWaiter{input.waiter, fail(*failure_)});
  log_.wait(input.waiter);
  commit();
}

void TurnDriver::interrupt(Author author) {
  record(records::Intervened{CommandVerb::kInterrupt, {}, nullptr, std::move(author)});
  cancel_effects();
  advance();
}

void TurnDriver::on(InterruptRequested input) {
  const bool follows = input.reader == 0 || std::ranges::count(readers_, input.reader, &Reader::token) != 0;
  if (!failure_ && state_->turn && follows) interrupt(std::move(input.author));
}

void TurnDriver::on(WindDownRequested /*input*/) {
  winding_down_ = true;
  if (!failure_ && !inherited_ && state_->turn && !waits_for_people()) interrupt(by_library());
}

void TurnDriver::on(RestAwaited input) {
  rest_waiters_.push_back(input.waiter);
  failure_ ? notify_rest() : commit();
}

void TurnDriver::on(TurnEndAwaited input) {
  if (failure_ || (!state_->turn && !turn_ending_)) return emit(AnswerWaiter{input.waiter, log_.durable()});
  end_waiters_.push_back(input.waiter);
}

void TurnDriver::on(Retired /*input*/) { retired_ = true; }

/// A root that got no input is written all the same: its caller may open it again.
void TurnDriver::on(Abandoned /*input*/) {
  if (!failure_ && !setup_.parent && log_.lone_birth() != nullptr) write_log();
  give_up(shut_down_error(), false);
}

void TurnDriver::on(Faulted input) { give_up(std::move(input.why)); }

}  // namespace praxis::driver
