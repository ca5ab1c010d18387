#!/bin/sh
# Unpacks the newest kernel of a Debian suite, without installing anything.
#   fetch_kernel.sh SUITE DESTINATION        for example: fetch_kernel.sh trixie ~/.cache/kernel
# Afterwards DESTINATION/vmlinuz is it and DESTINATION/release tells which. The package comes from
# the mirror that apt is already set up with; apt's lists and sources are left as they are.
# A second run does nothing. Exit status 77, and the reason as the last line: there is none to have.
set -eu

if [ $# -ne 2 ]; then
  echo "usage: $0 SUITE DESTINATION" >&2
  exit 2
fi
suite=$1
destination=$2
# Small, boots fast in an emulator, and configured as the large ones where BPF is concerned.
meta=linux-image-cloud-amd64

if [ -f "$destination/vmlinuz" ] && [ -f "$destination/release" ]; then
  exit 0
fi

give_up() {
  echo "$*"
  exit 77
}

# The mirror of the main archive: Debian's, and not its security or updates suites.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }')
[ -n "$mirror" ] || give_up "apt is not set up with a Debian mirror"

mkdir -p "$destination"
work=$(mktemp -d "$destination/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
  >"$work/sources.list"
# A suite out of support has lists whose "valid until" passed; their signature is still checked.
cat >"$work/apt.conf" <<END
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "$work/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
APT::Architecture "amd64";
APT::Architectures "amd64";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
END
export APT_CONFIG="$work/apt.conf"
apt-get -qq -o APT::Update::Error-Mode=any update >"$work/log" 2>&1 ||
  give_up "apt cannot read suite $suite of $mirror: $(grep -m 1 '^E:' "$work/log")"

package=$(apt-cache depends "$meta" | awk '/Depends: linux-image-/ { print $2; exit }')
[ -n "$package" ] || give_up "suite $suite of $mirror has no $meta"
# Debian 14 puts the kernel itself into a package of its own.
binary=$(apt-cache depends "$package" | awk '/Depends: linux-binary-/ { print $2; exit }')
package=${binary:-$package}
(cd "$work" && apt-get -qq download "$package" >"$work/log" 2>&1) ||
  give_up "cannot download $package from $mirror: $(grep -m 1 '^E:' "$work/log")"
dpkg -x "$work"/linux-*.deb "$work/root"
mv "$(find "$work/root" -name 'vmlinuz*' -type f | head -n 1)" "$destination/vmlinuz"
dpkg-deb -f "$work"/linux-*.deb Package Version | sed 's/^[^:]*: //' | tr '\n' ' ' \
  >"$destination/release"
