#!/usr/bin/env bash
# What binaries need to run: nothing but glibc, of a version that is out there. binaries.sh FILE...
# Of a bundle all are looked at (check.sh), of any build the libraries that stand alone in it.
set -euo pipefail
fail() { echo "package: $*" >&2; exit 1; }

glibc="libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1"
newest=2.34
for binary; do
  needs=$(readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  for needed in $needs; do
    # The compiler's library is opened by libtile, and calls it.
    [[ " $glibc " == *" $needed "* || ${binary##*/}:$needed == libtile_compiler.so.*:libtile.so.0 ]] ||
      fail "${binary##*/} needs $needed"
    # It is a third of the time that loading the runtime takes.
    [[ ${binary##*/}:$needed != libtile_rt.so*:libm.so.6 ]] || fail "${binary##*/} needs $needed for what?"
  done
  case $binary in # objects of a static library have no versions yet: who links it decides
    *.a) echo "package: ${binary##*/} needs nothing, $(du -hL "$binary" | cut -f1)"; continue ;;
  esac
  uses=$(readelf -V "$binary" | grep -o 'GLIBC_[0-9.]*' | sed s/GLIBC_// | sort -V | tail -1)
  [ "$(printf '%s\n%s\n' "$uses" "$newest" | sort -V | tail -1)" = "$newest" ] ||
    fail "${binary##*/} needs glibc $uses, more than $newest"
  echo "package: ${binary##*/} needs only glibc $uses, $(du -hL "$binary" | cut -f1)"
done
