# src/<room>/*_test.cpp become one program per room, tests/*_test.cpp a single program.
find_package(GTest REQUIRED)
pkg_check_modules(vterm REQUIRED IMPORTED_TARGET vterm)  # the emulator that judges screens
include(GoogleTest)

# The precompiled headers of all test programs. OFF rather than the project's ON, because the compiler refuses
# to use them in programs if they were made for shared objects.
file(WRITE ${PROJECT_BINARY_DIR}/tests_pch.cpp "")
add_library(praxis_tests_pch OBJECT ${PROJECT_BINARY_DIR}/tests_pch.cpp)
set_target_properties(praxis_tests_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_link_libraries(praxis_tests_pch PRIVATE praxis_options Boost::headers GTest::gtest GTest::gmock Threads::Threads)
praxis_precompile(praxis_tests_pch HEADERS <gmock/gmock.h> <gtest/gtest.h>)

if(PRAXIS_SANITIZE)
  set(sanitized 1)
else()
  set(sanitized 0)
endif()

# ThreadSanitizer is for code whose threads meet. It neither builds nor runs these tests (AddressSanitizer does): rooms that
# have no threads, and tests of texts, files and rules, in which no two threads of Praxis work at the same time, or none that
# tests of the runtime, servers, trees, teams, chats and clients do not have too.
set(files_of_one_thread
  "src/(cli|core|domain|driver|evals|json|logs|planners|policy|prompts|redact|snapshots|tui)/"
  "src/models/(catalog|wire)/"
  "src/(app/sealed_stores|journal/log_evidence|memory/documents|runtime/bypass)_test"
  "tests/(canaries|columns|container_files|damage|designs_page|docs|docs_blocks|format|hostile_repository|layer_sizes|layers)_test"
  "tests/(librarian|provider_cases|replay|retrieval_example|run_hashes|sandbox|sandbox_folders|support_desk_example)_test"
  "tests/(tree_crash|wrong_inputs)_test"
  "tests/cli_(again|agent_change|agents|audit|cassette|completion|config|damage|denials|doctor|files|filters|help|home)_test"
  "tests/cli_(hostile_calls|input|instructions|journal|json|memory|models|modes|named_files|notes|policy|prompts|redact|replay|reports)_test"
  "tests/cli_(runs|sandbox|schedule|screens|seal|seal_stores|secrets|show|skills|tokens|trust)_test")
# The same of files whose other tests have threads.
string(JOIN ":" tests_of_one_thread HostileCalls.* Property/* CliFaults.* Crash/Kill.* FolderIndexTest.ManyFolders_*
       PromptFilters.BoundOfARequest* */Memory.AnyBytes_* RedisMemory.OldEffects_* RedisMemory.Search_*)

# praxis_test(NAME SOURCES [LINK LIBRARIES]): a program of tests, and its tests.
function(praxis_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(PRAXIS_SANITIZE STREQUAL thread)
    foreach(files IN LISTS files_of_one_thread)
      list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${files}")
    endforeach()
    if(NOT sources)
      return()
    endif()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE src tests)
  target_link_libraries(${name} PRIVATE praxis praxis_options GTest::gtest GTest::gmock GTest::gtest_main
                                        OpenSSL::SSL OpenSSL::Crypto SQLite::SQLite3 ZLIB::ZLIB ${arg_LINK})
  target_compile_definitions(${name} PRIVATE PRAXIS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PRAXIS_BINARY_DIR="${PROJECT_BINARY_DIR}" PRAXIS_SANITIZED=${sanitized})
  praxis_precompile(${name} OWNER praxis_tests_pch)
  praxis_unity(${name})
  if(PRAXIS_SANITIZE AND name MATCHES "^(json|redact|domain|core|models|prompts|policy|planners|driver|logs)_test$")
    praxis_test_in_one(${name} ${name} *)
    return()
  endif()
  # What needs a server, and what is run again below, in one program for all.
  set(elsewhere */postgres:*/Postgres:*/PostgresVector:Postgres*:CliPostgres.*:*/Redis:*RedisMemory*:ServerMemory/*)
  if(PRAXIS_SANITIZE STREQUAL thread)
    string(APPEND elsewhere ":${tests_of_one_thread}")
  elseif(PRAXIS_SANITIZE AND name STREQUAL whole_test)
    praxis_test_in_one(properties ${name} Property/*)
    # The probes of the sandbox are programs without a sanitizer; other tests build the same sandbox. Tests that run for root
    # and for an ordinary user: which of them finds no other error of memory.
    string(APPEND elsewhere ":Property/*:SandboxTest.EveryProbeFailsInsideAndSucceedsOutside:Users/*/Ordinary")
  endif()
  # Each starts some hundreds of programs: for a chat at several sizes of terminal, for each hostile probe or repository; or
  # runs as many cases, and is killed in between.
  if(name STREQUAL whole_test)
    set(of_many_starts Of/ChatSessions.*:CliEvalKills.*)
    if(NOT PRAXIS_SANITIZE)
      string(APPEND of_many_starts ":SandboxTest.EveryProbeFailsInsideAndSucceedsOutside:Users/HostileRepository.*")
    endif()
    gtest_discover_tests(${name} TEST_FILTER ${of_many_starts} TEST_LIST whole_sessions DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT 600)
    string(APPEND elsewhere ":${of_many_starts}")
  endif()
  gtest_discover_tests(${name} TEST_FILTER -${elsewhere} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()

# A program with a sanitizer takes longer to start than most tests take: the tests of `program` that match
# `filter` share one start, which comes first. Further arguments are properties of the test.
function(praxis_test_in_one name program filter)
  if(NOT TARGET ${program})
    return()
  endif()
  if(PRAXIS_SANITIZE STREQUAL thread)
    string(APPEND filter ":-${tests_of_one_thread}")
  endif()
  add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 COST 1000 ${ARGN})
endfunction()

set(tested_rooms base json seal net store redact process domain core journal models tools snapshots memory mcp acp engines prompts policy planners driver logs runtime app)
foreach(room ${tested_rooms})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/${room}/*_test.cpp)
  if(sources)
    praxis_test(${room}_test ${sources})
  endif()
endforeach()
# The tests with a PostgreSQL or Redis server share one, which a program starts first.
praxis_test_in_one(journal_postgres journal_test */postgres:Postgres*)
praxis_test_in_one(memory_postgres memory_test */Postgres:*/PostgresVector:PostgresMemory.*:ServerMemory/Postgres.*)
praxis_test_in_one(memory_redis memory_test */Redis:*RedisMemory*:ServerMemory/Redis.*)
praxis_test_in_one(app_postgres app_test */Postgres)
praxis_test_in_one(tools_postgres tools_test */postgres:Postgres*)
# The runtime tests again, with all memory dropped at every effect and sessions restored from the records. The many calls of
# BypassCases do so only without a sanitizer: the rules that deny them are the same.
if(PRAXIS_SANITIZE MATCHES address)
  praxis_test_in_one(suspended runtime_test -BypassCases.* ENVIRONMENT PRAXIS_SUSPEND=true)
elseif(PRAXIS_SANITIZE)  # a third of them: they differ in what they test, not in their threads
  praxis_test_in_one(suspended runtime_test * ENVIRONMENT "PRAXIS_SUSPEND=true;GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX=0")
elseif(NOT PRAXIS_SANITIZE)
  gtest_discover_tests(runtime_test TEST_PREFIX Suspended. TEST_LIST runtime_suspended DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 120 ENVIRONMENT PRAXIS_SUSPEND=true)
endif()
foreach(room cli server protocols tui evals telemetry)
  file(GLOB sources CONFIGURE_DEPENDS src/${room}/*_test.cpp)
  set(more "")
  if(room STREQUAL tui)
    set(more PkgConfig::vterm)
  endif()
  praxis_test(${room}_test ${sources} LINK praxis_commands ${more})
endforeach()
praxis_test_in_one(server_postgres server_test Postgres*)
# The C interface, by its header and its shared library alone.
file(GLOB sources CONFIGURE_DEPENDS src/capi/*_test.cpp)
add_executable(capi_test ${sources})
target_include_directories(capi_test PRIVATE src)
target_link_libraries(capi_test PRIVATE praxis_c praxis_options GTest::gtest GTest::gmock GTest::gtest_main)
praxis_precompile(capi_test OWNER praxis_tests_pch)
praxis_unity(capi_test)
gtest_discover_tests(capi_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
if(NOT PRAXIS_SANITIZE)
  add_test(NAME c_program COMMAND ${PROJECT_SOURCE_DIR}/tests/capi/check ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}
                                  $<TARGET_FILE:praxis_c>)
  set_tests_properties(c_program PROPERTIES TIMEOUT 60)
  find_program(PYTHON3 python3 REQUIRED)
  foreach(name schema praxis async examples)
    add_test(NAME python_${name} COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/python/tests/test_${name}.py)
    set_tests_properties(python_${name} PROPERTIES TIMEOUT 120 ENVIRONMENT
      "PYTHONPATH=${PROJECT_SOURCE_DIR}/python;PRAXIS_LIBRARY=$<TARGET_FILE:praxis_c>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
file(GLOB sources CONFIGURE_DEPENDS tests/designs/*_test.cpp)
praxis_test(designs_test ${sources})  # the programs of docs/designs.md
file(GLOB sources CONFIGURE_DEPENDS tests/*_test.cpp)
if(sources)
  add_executable(crash_runner tests/crash_runner.cpp)  # what the crash tests kill
  target_include_directories(crash_runner PRIVATE src)
  target_link_libraries(crash_runner PRIVATE praxis praxis_options SQLite::SQLite3)
  file(GLOB wire_sources CONFIGURE_DEPENDS tests/wire/*.cpp)
  add_library(praxis_wire STATIC ${wire_sources})  # reads recorded exchanges
  target_include_directories(praxis_wire PUBLIC src tests)
  target_link_libraries(praxis_wire PUBLIC praxis praxis_options OpenSSL::Crypto)
  praxis_unity(praxis_wire)
  add_executable(wire_check tests/wire_check.cpp)
  target_link_libraries(wire_check PRIVATE praxis_wire)
  praxis_test(whole_test ${sources} tests/recorded_run.cpp tests/scenarios.cpp tests/scenario_list.cpp
              tests/scenario_flows.cpp tests/scenario_sessions.cpp LINK praxis_wire PkgConfig::vterm)
  add_dependencies(whole_test crash_runner)
  target_compile_definitions(whole_test PRIVATE PRAXIS_CRASH_RUNNER="$<TARGET_FILE:crash_runner>")
  # Injects faults; docs/reliability.md lists them. It replaces functions that sanitizers replace too.
  if(NOT PRAXIS_SANITIZE)
    file(GLOB fault_sources CONFIGURE_DEPENDS tests/faults/*.cpp)
    add_executable(praxis_faults ${fault_sources} tests/recorded_run.cpp tests/scenarios.cpp tests/scenario_list.cpp)
    target_include_directories(praxis_faults PRIVATE src tests)
    target_link_libraries(praxis_faults PRIVATE praxis praxis_options GTest::gtest GTest::gmock SQLite::SQLite3)
    target_compile_definitions(praxis_faults PRIVATE PRAXIS_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                               PRAXIS_BINARY_DIR="${PROJECT_BINARY_DIR}" PRAXIS_CRASH_RUNNER="$<TARGET_FILE:crash_runner>")
    praxis_precompile(praxis_faults OWNER praxis_tests_pch)
    praxis_unity(praxis_faults)
    add_dependencies(praxis_faults crash_runner)
  endif()
  add_dependencies(whole_test praxis_cli)
  praxis_test_in_one(whole_postgres whole_test Postgres*:CliPostgres.*)
  # The sandbox again as an ordinary user, for whom it has other means: folders are not lent, bubblewrap makes all mounts, and
  # memory is measured where the user can make no control group.
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user EQUAL 0 AND NOT PRAXIS_SANITIZE)
    add_test(NAME sandbox_ordinary COMMAND setpriv --reuid=65534 --regid=65534 --clear-groups -- $<TARGET_FILE:whole_test>
                                           --gtest_brief=1 --gtest_filter=SandboxTest.*)
    set_tests_properties(sandbox_ordinary PROPERTIES TIMEOUT 600 COST 1000)
  endif()
  # The tests of the binary and of killed processes again, likewise.
  if(NOT PRAXIS_SANITIZE)
    gtest_discover_tests(whole_test TEST_PREFIX Suspended. TEST_LIST whole_suspended DISCOVERY_TIMEOUT 60
                         TEST_FILTER "Cli*:*Crash*:ReleaseNotes*:Birthday*:StopTest*:-CrashDamage*:CliPostgres.*:CliEvalKills.*"
                         PROPERTIES TIMEOUT 120 ENVIRONMENT PRAXIS_SUSPEND=true)
    gtest_discover_tests(whole_test TEST_PREFIX Suspended. TEST_LIST whole_suspended_sessions DISCOVERY_TIMEOUT 60
                         TEST_FILTER CliEvalKills.* PROPERTIES TIMEOUT 600 ENVIRONMENT PRAXIS_SUSPEND=true)
  endif()
endif()

# A test that lacks a part of the machine is skipped, but fails where PRAXIS_NO_SKIPS is set.
if(NOT PRAXIS_SANITIZE)
  add_test(NAME missing_part_is_skipped COMMAND json_test --gtest_filter=JsonSchemaSuite.*)
  add_test(NAME missing_part_fails_without_skips COMMAND json_test --gtest_filter=JsonSchemaSuite.*)
  set_tests_properties(missing_part_is_skipped PROPERTIES ENVIRONMENT "PRAXIS_SCHEMA_SUITE=/nonexistent;PRAXIS_NO_SKIPS=0"
                       PASS_REGULAR_EXPRESSION "SKIPPED.* 1 test")
  set_tests_properties(missing_part_fails_without_skips PROPERTIES WILL_FAIL ON
                       ENVIRONMENT "PRAXIS_SCHEMA_SUITE=/nonexistent;PRAXIS_NO_SKIPS=1")
endif()

# The training for the optimised build (bench/training.cpp) must run to its end.
if(NOT PRAXIS_SANITIZE)
  add_test(NAME training COMMAND praxis_training)
  set_tests_properties(training PROPERTIES TIMEOUT 120)
endif()
# What including the public headers costs, by counting.
if(NOT PRAXIS_SANITIZE)
  add_test(NAME header_cost
           COMMAND ${PROJECT_SOURCE_DIR}/tests/headers/check ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}/include)
  set_tests_properties(header_cost PROPERTIES TIMEOUT 60)
endif()
# Wrong programs: one error each, which says what to write instead.
if(NOT PRAXIS_SANITIZE)
  add_test(NAME compiler_errors COMMAND ${PROJECT_SOURCE_DIR}/tests/wrong_programs/check ${CMAKE_CXX_COMPILER}
                                        ${PROJECT_SOURCE_DIR}/include)
  set_tests_properties(compiler_errors PROPERTIES TIMEOUT 300 COST 1000)
endif()
# Installs to a scratch folder, then builds and runs a program against it. Not with a sanitizer, which that
# program would need too.
if(NOT PRAXIS_SANITIZE)
  add_test(NAME install_consumer
           COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/check ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
                   ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR})
  set_tests_properties(install_consumer PROPERTIES LABELS install TIMEOUT 300 COST 1000)
endif()
