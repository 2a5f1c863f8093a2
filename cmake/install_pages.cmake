# Run by `cmake --install`: the built binary prints its own man page and completion scripts.
function(install_page path)
  set(file "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/${path}")
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${PRAXIS_BINARY}" ${ARGN} OUTPUT_FILE "${file}" COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Installing: ${file}")
endfunction()

install_page(man/man1/praxis.1 man)
execute_process(COMMAND gzip -9nf "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/man/man1/praxis.1" COMMAND_ERROR_IS_FATAL ANY)
install_page(bash-completion/completions/praxis completion bash)
install_page(zsh/site-functions/_praxis completion zsh)
install_page(fish/vendor_completions.d/praxis.fish completion fish)
