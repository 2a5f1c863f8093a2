# Removes the compiler's intermediate code from ARCHIVE with OBJCOPY. Objects for link-time optimisation hold it in
# addition to machine code, and each program that links the archive would optimise the whole library again.
execute_process(COMMAND ${OBJCOPY} --wildcard --remove-section .gnu.lto_* --strip-symbol __gnu_lto_v1 ${ARCHIVE}
                COMMAND_ERROR_IS_FATAL ANY)
