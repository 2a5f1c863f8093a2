# Run by cpack when the files of the packages are in place: their modes become those of every build, with any umask.
# (CPack writes its own umask into the packages too, so `make package` sets it.)
execute_process(COMMAND chmod --recursive u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
