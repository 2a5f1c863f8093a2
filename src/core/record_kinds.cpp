// Names and origin of the kinds of records.
#include <string_view>
#include <variant>

#include "base/variant_impl.hpp"
#include "praxis/core/records.hpp"

namespace praxis {

template class Variant<AnyRecord>;
namespace {

struct KindName {
  std::string_view operator()(const records::SessionCreated&) const { return "session_created"; }
  std::string_view operator()(const records::TurnStarted&) const { return "turn_started"; }
  std::string_view operator()(const records::MessageAppended&) const { return "message_appended"; }
  std::string_view operator()(const records::EffectIntended&) const { return "effect_intended"; }
  std::string_view operator()(const records::EffectSettled&) const { return "effect_settled"; }
  std::string_view operator()(const records::Parked&) const { return "parked"; }
  std::string_view operator()(const records::Decided&) const { return "decided"; }
  std::string_view operator()(const records::Intervened&) const { return "intervened"; }
  std::string_view operator()(const records::Compacted&) const { return "compacted"; }
  std::string_view operator()(const records::StatusChanged&) const { return "status_changed"; }
  std::string_view operator()(const records::TurnSettled&) const { return "turn_settled"; }
  std::string_view operator()(const records::CallProposed&) const { return "call_proposed"; }
  std::string_view operator()(const records::ChildSpawned&) const { return "child_spawned"; }
  std::string_view operator()(const records::ChildSettled&) const { return "child_settled"; }
  std::string_view operator()(const records::SpeakerSet&) const { return "speaker_set"; }
};

struct IsDerived {
  bool operator()(const records::MessageAppended& r) const {
    return r.source == MessageSource::kPlan || r.source == MessageSource::kRuntime ||
           r.source == MessageSource::kSteer;
  }
  bool operator()(const records::EffectIntended&) const { return true; }
  bool operator()(const records::EffectSettled& r) const { return r.by == "recovery"; }
  // Rules and hooks of the host decide what needs approval; the other kinds follow from the state alone.
  bool operator()(const records::Parked& r) const { return r.step.kind != ParkKind::kApproval; }
  bool operator()(const records::Compacted&) const { return true; }
  bool operator()(const records::TurnSettled&) const { return true; }
  bool operator()(const records::SessionCreated&) const { return false; }
  bool operator()(const records::TurnStarted&) const { return false; }
  bool operator()(const records::Decided&) const { return false; }
  bool operator()(const records::Intervened&) const { return false; }
  bool operator()(const records::StatusChanged&) const { return false; }
  bool operator()(const records::CallProposed&) const { return false; }
  bool operator()(const records::ChildSpawned&) const { return false; }
  bool operator()(const records::ChildSettled&) const { return false; }
  bool operator()(const records::SpeakerSet&) const { return false; }
};

}  // namespace

std::string_view kind_name(const RecordBody& body) { return std::visit(KindName{}, body); }
bool is_derived(const RecordBody& body) { return std::visit(IsDerived{}, body); }

}  // namespace praxis
