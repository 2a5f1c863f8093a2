# Which parts of the library are built: its core, and the components named in PRAXIS_COMPONENTS.
include(cmake/praxisComponents.cmake)
set(PRAXIS_COMPONENTS "http;sqlite;tools;mcp;app" CACHE STRING "Components beside `core`: http, sqlite, tools, mcp, app (needs the others)")
foreach(component IN LISTS PRAXIS_COMPONENTS)
  if(NOT component IN_LIST praxis_all_components)
    message(FATAL_ERROR "PRAXIS_COMPONENTS: there is no component `${component}`; choose from ${praxis_all_components}.")
  endif()
endforeach()
praxis_with_needs(praxis_components "${PRAXIS_COMPONENTS}")

# The sources of each component; all others are the core's.
set(praxis_sources_http "/src/net/(beast_impl|byte_stream|egress_proxy[a-z_]*|http_client|http_connection|http_request_parser|http_server[a-z_]*|reply_queue|tls_files|web_socket)\\.cpp$")
set(praxis_sources_sqlite "/src/seal/|/src/store/|/src/tools/sqlite_[a-z]*\\.cpp$|/src/memory/(memory_file|sqlite_[a-z]*)\\.cpp$|/src/prompts/sqlite_log\\.cpp$|/src/journal/(accept_loss|acknowledged|blob_sweep|group_commit|inbox_store|journal_file|log_evidence|owners|read_attempts|reseal|sealed_values|journal_keys|session_labels|session_removal|session_store|shrink|sqlite_journal)\\.cpp$")
set(praxis_sources_tools "/src/process/|/src/tools/(editor_files|file_[a-z_]*|python_[a-z_]*|shell_tool|skill_[a-z_]*)\\.cpp$|/src/prompts/(renderer_image|template_renderer)\\.cpp$")
set(praxis_sources_mcp "/src/mcp/|/src/acp/|/src/runtime/mcp_(tools|input|prompts)\\.cpp$")
set(praxis_sources_app "/src/(app|snapshots)/")

# Removes from the list `sources` what belongs to components that are not built.
function(praxis_remove_other_components sources)
  set(kept ${${sources}})
  foreach(component IN LISTS praxis_all_components)
    if(NOT component IN_LIST praxis_components)
      list(FILTER kept EXCLUDE REGEX "${praxis_sources_${component}}")
    endif()
  endforeach()
  set(${sources} ${kept} PARENT_SCOPE)
endfunction()

# The component that a source belongs to; `core` for tests.
function(praxis_component_of out source)
  set(${out} core PARENT_SCOPE)
  if(source MATCHES "_test\\.cpp$")
    return()
  endif()
  foreach(component http sqlite tools mcp app)
    if(source MATCHES "${praxis_sources_${component}}")
      set(${out} ${component} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The programs and the tests need all components.
set(PRAXIS_COMPLETE ON)
foreach(component IN LISTS praxis_all_components)
  if(NOT component IN_LIST praxis_components)
    set(PRAXIS_COMPLETE OFF)
  endif()
endforeach()
