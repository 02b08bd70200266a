#!/usr/bin/env bash
# Installs what building and testing needs, through apt, and says what it does.
#
#   tools/setup.sh           install what is missing
#   tools/setup.sh --check   only say what is missing (exit 1 if anything is)
#
# Works as root or with sudo. Does nothing, and needs no network, when all is
# there. Set TILE_SKIP_SETUP=1 to build against tools found some other way.
set -euo pipefail

LLVM=22
REQUIRED=(
  cmake ninja-build                                    # build system
  clang-$LLVM lld-$LLVM                                # compiler and linker
  llvm-$LLVM-dev libmlir-$LLVM-dev mlir-$LLVM-tools    # LLVM and MLIR
  llvm-$LLVM-tools python3                             # FileCheck, lit and its interpreter
  libzstd-dev zlib1g-dev libxml2-dev                   # what LLVM's CMake files ask for
  libcurl4-openssl-dev libedit-dev libffi-dev
  libfmt-dev libgtest-dev                              # formatting, unit tests
  xz-utils pkgconf                                     # release bundles, and a test of them
)
OPTIONAL=(
  ccache                                               # quick rebuilds
  clang-format-$LLVM clang-tidy-$LLVM                  # source checks
  libclang-rt-$LLVM-dev                                # sanitizers and coverage: presets asan, tsan
)

say() { printf 'setup: %s\n' "$*"; }

# (The output is read whole: `grep -q` at the end of a pipe would stop reading at
# its match, and under pipefail the writer's broken pipe then counts as "no".)
installed() { [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]; }
available() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }

missing_of() {
  for package in "$@"; do
    installed "$package" || printf '%s ' "$package"
  done
}

# What to do when apt does not know some packages.
explain_unavailable() {
  local codename
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-CODENAME}")
  say "not available from the configured apt sources: $*"
  cat <<TEXT
LLVM and MLIR $LLVM are in
  - Debian 12 and 13: the distribution's own archive, security section included;
  - other Debian and Ubuntu releases: LLVM's repository, https://apt.llvm.org .
To use the latter, as root:
  wget -O /etc/apt/trusted.gpg.d/apt.llvm.org.asc https://apt.llvm.org/llvm-snapshot.gpg.key
  echo 'deb http://apt.llvm.org/$codename/ llvm-toolchain-$codename-$LLVM main' \\
      > /etc/apt/sources.list.d/llvm.list
  apt-get update
and run this script again. Everything else is in the distribution.
TEXT
}

if [ "${TILE_SKIP_SETUP:-}" = 1 ]; then
  say "skipped, TILE_SKIP_SETUP is set"
  exit 0
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  say "this is not Debian or Ubuntu; install by other means, then set TILE_SKIP_SETUP=1:"
  say "  ${REQUIRED[*]}"
  exit 1
fi

read -ra required <<<"$(missing_of "${REQUIRED[@]}")" || true
read -ra optional <<<"$(missing_of "${OPTIONAL[@]}")" || true

if [ "${1:-}" = --check ]; then
  [ ${#optional[@]} -eq 0 ] || say "missing, optional: ${optional[*]}"
  if [ ${#required[@]} -ne 0 ]; then
    say "missing: ${required[*]}"
    exit 1
  fi
  say "all required packages are installed"
  exit 0
fi

if [ ${#required[@]} -eq 0 ]; then
  say "all required packages are installed"
  exit 0
fi

SUDO=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    say "neither root nor sudo; have an administrator run:"
    say "  apt-get install ${required[*]}"
    exit 1
  fi
  SUDO=(sudo)
fi
apt() { "${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null; }

say "reading package lists"
apt update >/dev/null || say "apt-get update failed; going on with the lists at hand"

unavailable=()
for package in "${required[@]}"; do
  available "$package" || unavailable+=("$package")
done
if [ ${#unavailable[@]} -ne 0 ]; then
  explain_unavailable "${unavailable[@]}"
  exit 1
fi

wanted=("${required[@]}")
for package in "${optional[@]}"; do
  if available "$package"; then wanted+=("$package"); fi
done
say "installing: ${wanted[*]}"
apt install --no-install-recommends "${wanted[@]}" >/dev/null
say "done"
