# Read by cpack before it packs: the time that goes into the archives (CPack and dpkg read it from the environment).
set(ENV{SOURCE_DATE_EPOCH} ${CPACK_PRAXIS_TIME})
