#!/bin/sh
# Installs Skep @VERSION@ from @URL@:
#   sh install.sh [--dir DIR] [--from DIR-OR-ADDRESS]
# Checks the signature of the release before anything is written. Needs curl (or files in a folder), openssl 3, tar.
set -eu

from='@URL@'
dir=
while [ $# -gt 0 ]; do
  case "$1" in
  --dir) dir=${2:?"--dir needs a folder"}; shift 2 ;;
  --from) from=${2:?"--from needs a folder or an address"}; shift 2 ;;
  *) echo "install: $1 is not an option; there are --dir and --from" >&2; exit 2 ;;
  esac
done

die() { echo "install: $1" >&2; exit 1; }

case "$(uname -s)" in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) die "Skep runs on Linux and macOS, not on $(uname -s)" ;;
esac
case "$(uname -m)" in
x86_64 | amd64) machine=x64 ;;
aarch64 | arm64) machine=arm64 ;;
*) die "there is no executable for $(uname -m)" ;;
esac
if [ "$system" = linux ] && ! ldd --version 2>&1 | grep -qiE 'glibc|gnu libc'; then
  die "Skep needs glibc; on Alpine and other musl systems, use the container image"
fi
archive=skep-@VERSION@-$system-$machine.tar.gz

if [ -z "$dir" ]; then
  if [ "$(id -u)" = 0 ]; then dir=/usr/local/bin; else dir=$HOME/.local/bin; fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

get() {
  case "$from" in
  http://* | https://*)
    command -v curl >/dev/null || die "curl is missing; install it, or download the release and name its folder with --from"
    curl -fsSL --retry 3 --output "$work/$1" "$from/$1" || die "$from/$1 cannot be downloaded"
    ;;
  *) cp "$from/$1" "$work/$1" 2>/dev/null || die "$from/$1 is not there" ;;
  esac
}

command -v openssl >/dev/null || die "openssl is missing; it checks the signature"
openssl version | grep -q '^OpenSSL [3-9]' || die "openssl 3 or newer is needed to check the signature; this is $(openssl version)"
get SHA256SUMS
get SHA256SUMS.sig
cat >"$work/key.pem" <<'END'
@PUBLIC_KEY@
END
openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/SHA256SUMS" -sigfile "$work/SHA256SUMS.sig" >/dev/null 2>&1 ||
  die "the signature of SHA256SUMS is not by the release key; nothing was installed"
get "$archive"
wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
[ -n "$wanted" ] || die "SHA256SUMS does not name $archive"
got=$({ sha256sum "$work/$archive" 2>/dev/null || shasum -a 256 "$work/$archive"; } | cut -d ' ' -f 1)
[ "$wanted" = "$got" ] || die "$archive is damaged: its digest is $got, not $wanted"

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$dir" || die "$dir cannot be made"
# Beside the old one, then in its place in one step: a server that runs keeps the file that it was started with.
cp "$work/skep-@VERSION@/skep" "$dir/.skep.new" && chmod 755 "$dir/.skep.new" && mv "$dir/.skep.new" "$dir/skep" ||
  die "$dir cannot be written; name another folder with --dir, or use sudo"
echo "Skep @VERSION@ is installed as $dir/skep."
case ":$PATH:" in *":$dir:"*) ;; *) echo "$dir is not in your PATH." ;; esac
echo "Next: skep init"
