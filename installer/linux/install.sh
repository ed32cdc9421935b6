#!/bin/sh
# Installs Weir Studio for one person, without root; runs in the folder that the .run unpacked.
#   --headless   without the window and Qt        --prefix DIR   instead of ~/.local
#   --stage      only beside what is there: an update by the Studio, which switches later
# PREFIX/opt/weir-studio/<version> is written beside what is there, tried, and switched to by one
# rename: a power cut leaves the old version or the new one. What runs keeps running.
set -eu

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 1; }
# Removes what came with a version, by its list; what a person put there stays, and is named.
remove_version() {
  if [ -f "$1/files.txt" ]; then
    # The list goes last: a kill before leaves what the next removal needs.
    (cd "$1" && tr '\n' '\0' < files.txt | xargs -0 rm -f --)
    find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || :
    rm -f "$1/files.txt"
  fi
  rmdir "$1" 2>/dev/null || :
  [ ! -d "$1" ] || say "note: $1 holds files that are not ours, and stays."
}

here=$(cd "$(dirname "$0")" && pwd)
version=$(cat "$here/VERSION")
prefix=${WEIR_PREFIX:-$HOME/.local}
headless=
stage=
while [ $# -gt 0 ]; do
  case $1 in
    --headless) headless=1 ;;
    --stage) stage=1 ;;
    --prefix) [ $# -gt 1 ] || fail "--prefix wants a folder." "For example: --prefix ~/.local"
              prefix=$2; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    -h|--help) say "usage: weir-studio-$version.run [-- --headless] [-- --prefix DIR]"; exit 0 ;;
    *) fail "The option $1 is not known." "Known are --headless and --prefix DIR." ;;
  esac
  shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

# A folder that is copied to a cloud or another machine breaks programs that are in use.
place=$prefix
while :; do
  for mark in "$place"/.dropbox.cache "$place"/.stfolder "$place"/.nextcloudsync.log \
              "$place"/.owncloudsync.log "$place"/.sync_*.db; do
    [ ! -e "$mark" ] || fail "$place is copied by a sync service ($mark says so)." \
      "That breaks programs in use. Choose a folder outside of it: --prefix DIR"
  done
  case $place in /|.) break ;; esac
  place=$(dirname "$place")
done

program=$prefix/opt/weir-studio
target=$program/$version
[ ! -e "$target" ] || [ -x "$target/weir" ] \
  || fail "$target is there already and is not ours." "Move it away; nothing in it was touched."
mkdir -p "$program" 2>/dev/null \
  || fail "$program cannot be made." "Choose a folder of your own: --prefix DIR"

# One at a time; a lock whose owner is gone is no lock.
lock=$program/.installing
if ! mkdir "$lock" 2>/dev/null; then
  owner=$(cat "$lock/pid" 2>/dev/null || echo)
  # Not by its number alone: another program may have it, or init has not waited for it yet.
  if { tr '\0' ' ' < "/proc/${owner:-none}/cmdline" | grep -q 'install\.sh'; } 2>/dev/null; then
    fail "Another installation is under way (process $owner)." "Wait until it has ended."
  fi
  rm -rf "$lock"; mkdir "$lock"
fi
echo $$ > "$lock/pid"
in_use() { readlink "$program/current" 2>/dev/null || :; }
switch_to() {
  ln -sfn "$1" "$program/.current.new"
  mv -T "$program/.current.new" "$program/current" 2>/dev/null \
    || { rm -f "$program/current"; mv "$program/.current.new" "$program/current"; }
}
before=$(in_use)
part=$version.part
[ "$before" != "$part" ] || part=$version.new # where a power cut left it in use
cleanup() { rm -rf "$lock"; [ "$(in_use)" = "$part" ] || rm -rf "${program:?}/$part"; }
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

need=$(cat "$here/KILOBYTES")
free=$(df -Pk "$program" | awk 'NR == 2 { print $4 }')
[ "$free" -ge $((need + 20480)) ] \
  || fail "$program has $((free / 1024)) MB free; $((need / 1024 + 20)) MB are needed." \
          "Free some space, or choose another disk: --prefix DIR"

new=$program/$part
rm -rf "$new"
cp -R "$here/weir-studio" "$new" \
  || fail "The files could not be copied to $new." "The lines above say why."
if [ -n "$headless" ]; then
  [ -f "$new/window.txt" ] || fail "$new/window.txt is missing." "Fetch the file again."
  (cd "$new" && tr '\n' '\0' < window.txt | xargs -0 rm -rf --)
fi

said=$("$new/weir" --version 2>&1) || fail "The new version does not start: $said" \
  "It needs Linux with glibc 2.35 or newer. What was installed before is untouched."
[ "$said" = "weir $version" ] || fail "The new version says \`$said\` instead of its number." \
  "Fetch the file again. What was installed before is untouched."

old=$target.old
[ ! -d "$old" ] || remove_version "$old"
[ ! -e "$old" ] || old=$target.old.$$
# The same version again: the link leads to the new files while their place is exchanged.
[ "$before" != "$version" ] || switch_to "$part"
[ ! -e "$target" ] || mv "$target" "$old"
if [ "$(in_use)" = "$part" ]; then
  rm -rf "$target.copy"
  cp -al "$new" "$target.copy" 2>/dev/null || { rm -rf "$target.copy"; cp -R "$new" "$target.copy"; }
  mv "$target.copy" "$target"
  switch_to "$version"
else
  mv "$new" "$target"
fi
[ ! -d "$old" ] || remove_version "$old"
if [ -n "$stage" ]; then say "Weir Studio $version lies in $target."; exit 0; fi

switch_to "$version"

# Links and entries outside; what is not ours is left alone.
: > "$program/installed.new"
own() { printf '%s\n' "$1" >> "$program/installed.new"; }
mkdir -p "$prefix/bin"
link=$prefix/bin/weir
if [ ! -e "$link" ] && [ ! -L "$link" ] || [ "$(readlink "$link")" = "$program/current/weir" ]; then
  ln -sfn "$program/current/weir" "$link"; own "$link"
else
  say "note: $link is not ours and stays; start $program/current/weir instead."
fi
if [ -z "$headless" ]; then
  share=$prefix/share
  mkdir -p "$share/applications" "$share/icons/hicolor/scalable/apps"
  command=$(printf '%s' "$program/current/weir" | sed 's/[\\"$`]/\\\\&/g; s/%/%%/g')
  sed "s|@WEIR@|\"$(printf '%s' "$command" | sed 's/[&|\\]/\\&/g')\"|" \
    "$here/weir-studio.desktop" > "$share/applications/.weir-studio.desktop.new"
  mv "$share/applications/.weir-studio.desktop.new" "$share/applications/weir-studio.desktop"
  cp "$here/weir-studio.svg" "$share/icons/hicolor/scalable/apps/weir-studio.svg"
  own "$share/applications/weir-studio.desktop"
  own "$share/icons/hicolor/scalable/apps/weir-studio.svg"
  # Where the program itself looks: some of them came along.
  missing=$(LD_LIBRARY_PATH=$target/_internal \
    ldd "$target/_internal/PySide6/Qt/plugins/platforms/libqxcb.so" 2>/dev/null \
    | awk '/not found/ { print $1 }' | sort -u | tr '\n' ' ')
  [ -z "$missing" ] || say "note: The window needs libraries that are missing here: ${missing% }." \
    "On Debian and Ubuntu: sudo apt install libgl1 libegl1 libfontconfig1 libxcb1 libx11-6." \
    "The command line works without."
fi
mv "$program/installed.new" "$program/installed"

# The version before stays for the way back; older ones go, unless something of them runs. The same
# version again has none before it: all that is whole stays.
again=
case $before in "$version"|"$version.part"|"$version.new") again=1 ;; esac
for old in "$program"/*/; do
  old=${old%/}; name=${old##*/}
  case $name in
    "$version"|"$part"|current) continue ;;
    *.part|*.new|*.copy|*.old|*.old.*) ;; # left of an installation that was cut off
    "$before") continue ;;
    *) [ -z "$again" ] || [ ! -x "$old/weir" ] || continue ;;
  esac
  ! rmdir "$old" 2>/dev/null || continue
  [ -f "$old/files.txt" ] || [ -x "$old/weir" ] || continue
  running=
  for exe in /proc/[0-9]*/exe; do
    case $(readlink "$exe" 2>/dev/null || echo) in "$old"/*) running=1; break ;; esac
  done
  [ -n "$running" ] || remove_version "$old"
done

say "Weir Studio $version is installed in $target."
case :$PATH: in
  *:"$prefix/bin":*) say "Start it: weir ui, or weir up on a box without a screen." ;;
  *) say "Start it: $prefix/bin/weir ui (that folder is not in your PATH)." ;;
esac
say "Remove it: weir uninstall"
