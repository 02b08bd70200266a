# Writes a C string literal with a hash of sources: what names the compiler in
# cache keys, so that a cached result never outlives the code that made it.
#
#   cmake -DROOT=dir -DFOLDERS=a,b -DPREFIX=text -DOUT=file -P HashSources.cmake
#
# Touches OUT only when it changes.
string(REPLACE "," ";" FOLDERS "${FOLDERS}")
set(listing "")
foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${folder}/*)
  list(SORT sources)
  foreach(source IN LISTS sources)
    file(SHA256 ${ROOT}/${source} hash)
    string(APPEND listing "${hash} ${source}\n")
  endforeach()
endforeach()
string(SHA256 hash "${listing}")
string(SUBSTRING ${hash} 0 16 hash)
set(text "\"${PREFIX}-${hash}\"\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
