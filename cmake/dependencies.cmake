# All dependencies of Praxis, from Debian packages (docs/dependencies.md gives the reasons).
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
find_library(SECCOMP_STATIC libseccomp.a REQUIRED)
if(PROJECT_IS_TOP_LEVEL)
  find_package(mimalloc 2.0 REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(fmt REQUIRED)
endif()

# Boost is used as headers: the parts that must be compiled are compiled into the library (beast_impl.cpp,
# boost_json.cpp). This target only sets how Beast, and the parts of Asio that it includes, are compiled.
add_library(praxis_asio INTERFACE)
target_compile_definitions(praxis_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE
                                                 BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
