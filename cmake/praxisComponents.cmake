# The components of the library and what each one needs, for the build and, once installed, for find_package. A
# component is a part of the sources that has dependencies of its own. `core` is in every build.
set(praxis_all_components core http sqlite tools mcp app)

set(praxis_packages_core Threads "Boost 1.81" PkgConfig)
set(praxis_modules_core libsodium re2)
set(praxis_links_core Boost::headers PkgConfig::libsodium PkgConfig::re2 Threads::Threads)

set(praxis_packages_http "OpenSSL 3")
# The core refers to make_http_client weakly, so the linker would leave it out of a static program. --require-defined would
# also be an error if it were missing, but LLVM's linker and gold do not know it.
set(praxis_links_http OpenSSL::SSL OpenSSL::Crypto
  LINKER:--undefined=_ZN6praxis16make_http_clientENS_17HttpClientOptionsESt10shared_ptrINS_8ExecutorEE)

set(praxis_packages_sqlite "SQLite3 3.40")
set(praxis_links_sqlite SQLite::SQLite3)

set(praxis_packages_tools ZLIB PkgConfig)
set(praxis_modules_tools yaml-0.1)
set(praxis_links_tools ZLIB::ZLIB PkgConfig::yaml-0.1)

set(praxis_needs_mcp http tools)

set(praxis_packages_app tomlplusplus)
set(praxis_links_app tomlplusplus::tomlplusplus)
set(praxis_needs_app http sqlite tools mcp)

# Adds to `out` the components that `components` need, and `core`.
function(praxis_with_needs out components)
  set(all core ${components})
  foreach(component IN LISTS components)
    list(APPEND all ${praxis_needs_${component}})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# Adds to the target of a component, which already has the library, what must be linked after it: `static`
# everything; `shared` and `build` nothing that the library itself brings, so little more than the headers of Boost.
function(praxis_link_component target component linkage)
  foreach(link IN LISTS praxis_links_${component})
    if(link MATCHES "^LINKER:")
      if(NOT linkage STREQUAL shared)
        target_link_options(${target} INTERFACE ${link})
      endif()
    elseif(linkage STREQUAL static OR link STREQUAL Boost::headers)
      target_link_libraries(${target} INTERFACE ${link})
    endif()
  endforeach()
  foreach(need IN LISTS praxis_needs_${component})
    target_link_libraries(${target} INTERFACE praxis::${need})
  endforeach()
  if(NOT component STREQUAL core)
    target_link_libraries(${target} INTERFACE praxis::core)
  endif()
endfunction()
