// The arguments of `audit` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"
#include "praxis/base/duration.hpp"

namespace praxis::cli {

inline constexpr const char* kAuditHelp =
    "List what was blocked, asked, edited, approved and changed, and sign or verify the journal";
inline constexpr const char* kAuditExamples =
    "  praxis audit --since 7d\n"
    "  praxis audit --json | jq .action\n"
    "  praxis audit --sign /mnt/usb/head.json\n"
    "  praxis audit --verify head.json";

inline void add_audit_flags(CLI::App* audit, AuditOptions& options) {
  add_parsed<Millis>(audit, "--since", options.since, "Only what happened within this time: 2h, 7d", "TIME",
                     parse_duration);
  CLI::Option* const sign =
      takes_path(audit->add_option("--sign", options.sign,
                                   "Write a signed head of the journal to this file, to be kept elsewhere"),
                 "FILE");
  takes_path(audit->add_option("--verify", options.verify,
                               "Compare the journal with a head: nothing that it names is gone or changed"),
             "FILE")
      ->excludes(sign);
  audit
      ->add_option("--key", options.key,
                   "For verify: the public key of the head's signer; default: that of your own key")
      ->type_name("KEY");
  add_json(audit, options.json, "action");
  add_place(audit, options.place);
}

}  // namespace praxis::cli
