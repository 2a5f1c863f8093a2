#include "fault.hpp"

namespace praxis::faults {

Fault kill_fault();
Fault power_loss_fault();
Fault disk_full_fault();
Fault small_disk_fault();
Fault io_error_fault();
Fault tree_io_fault();
Fault tree_fault();
Fault files_fault();
Fault damage_fault();
Fault clock_fault();
Fault endpoint_fault();
Fault stale_owner_fault();
Fault simulation_fault();
Fault threads_fault();
Fault replay_fault();
Fault exhaustion_fault();
Fault waiting_fault();
Fault hostile_fault();
Fault races_fault();

std::vector<Fault> all_faults() {
  return {kill_fault(),       power_loss_fault(),  disk_full_fault(),  small_disk_fault(), io_error_fault(),
          tree_io_fault(),    tree_fault(),        files_fault(),      damage_fault(),     clock_fault(),
          endpoint_fault(),   stale_owner_fault(), simulation_fault(), threads_fault(),    replay_fault(),
          exhaustion_fault(), waiting_fault(),     hostile_fault(),    races_fault()};
}

}  // namespace praxis::faults
