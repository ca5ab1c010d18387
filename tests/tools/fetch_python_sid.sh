#!/bin/sh
# Unpacks a CPython that only Debian's unstable suite has, without installing anything.
#   fetch_python_sid.sh VERSION DESTINATION        for example: fetch_python_sid.sh 3.14 /opt/python
# Afterwards DESTINATION/bin/pythonVERSION runs it, on unstable's own C library. The packages come
# from the mirror that apt is already set up with; apt's lists and sources are left as they are.
# A second run does nothing. Exit status 77: apt has no Debian mirror here.
set -eu

if [ $# -ne 2 ]; then
  echo "usage: $0 VERSION DESTINATION" >&2
  exit 2
fi
version=$1
destination=$2
wrapper=$destination/bin/python$version

if [ -x "$wrapper" ] && "$wrapper" -c 'import ctypes' 2>/dev/null; then
  exit 0
fi

# The mirror of the main archive: Debian's, and not its security or updates suites.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }')
if [ -z "$mirror" ]; then
  echo "$0: apt is not set up with a Debian mirror, so there is no Python $version to fetch" >&2
  exit 77
fi

mkdir -p "$destination"
work=$(mktemp -d "$destination/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/packages" "$work/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror unstable main" \
  >"$work/sources.list"
cat >"$work/apt.conf" <<EOF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
EOF
export APT_CONFIG="$work/apt.conf"
apt-get -qq update

# The C library, what the interpreter itself links, and libffi for ctypes.
(cd "$work/packages" &&
  apt-get -qq download "python$version-minimal" "libpython$version-minimal" \
    "libpython$version-stdlib" "python$version" \
    libc6 libgcc-s1 zlib1g libexpat1 libffi8)
for package in "$work"/packages/*.deb; do
  dpkg -x "$package" "$work/root"
done

rm -rf "$destination/root"
mv "$work/root" "$destination/root"
root=$(cd "$destination/root" && pwd)
loader=$(find -L "$root" -name 'ld-linux*.so.*' -type f | head -n 1)
libraries=$(find "$root" -name 'libc.so.6' -exec dirname {} \; | head -n 1)
mkdir -p "$destination/bin"
cat >"$wrapper" <<EOF
#!/bin/sh
PYTHONHOME=$root/usr exec $loader --library-path $libraries $root/usr/bin/python$version "\$@"
EOF
chmod 755 "$wrapper"
"$wrapper" -c 'import ctypes, sys; print(sys.version)'
