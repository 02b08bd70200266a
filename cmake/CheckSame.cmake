# cmake -DKEPT=a -DFRESH=b -DADVICE=text -P CheckSame.cmake: fails with the
# advice unless two files are the same.
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${KEPT} ${FRESH} RESULT_VARIABLE differ)
if(differ)
  message(FATAL_ERROR "${KEPT} is behind its source: ${ADVICE}")
endif()
