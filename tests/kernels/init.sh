#!/bin/busybox sh
# The first process of an emulated kernel: records puppets and prints what came out, in sections
# that tests/kernels/guest.py takes apart: "@@@ begin NAME", the text, "@@@ end NAME STATUS".
set -eu
export PATH=/bin HOME=/
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t bpf bpf /sys/fs/bpf
echo 1 >/proc/sys/kernel/printk # the console is ours
exec </dev/null 2>&1

section() { # section NAME COMMAND...
  local name=$1 status=0
  shift
  echo "@@@ begin $name"
  "$@" || status=$?
  echo "@@@ end $name $status"
}

# record NAME "LUMBRE'S OPTIONS" PROGRAM ARGUMENT...
record() {
  local name=$1 options=$2 pid
  shift 2
  "$@" >/tmp/words &
  pid=$!
  until [ -s /tmp/words ]; do sleep 0.2; done
  # shellcheck disable=SC2086
  section "record-$name" lumbre record -p $pid -d 3 -F 199 -o "/out/$name" $options
  section "summary-$name" cat "/out/$name/summary.json"
  section "report-$name" lumbre report "/out/$name" --limit 30
  kill $pid
  wait $pid || true # by our signal
  rm /tmp/words
}

# The verifier's complaint about the usual programs, where it has one.
verify() {
  timeout 300 bpftool prog loadall /lumbre_bpf.o /sys/fs/bpf/lumbre >/tmp/verifier 2>&1 && return 0
  grep -v '^libbpf: \(loading\|elf\|map\|sec\|CO-RE\|prog .*: relo\|prog .*: found\|extern\)' \
    /tmp/verifier | tail -n 60
  return 1
}

section kernel uname -r
section doctor lumbre doctor
section verifier verify
record checked "--self-check 1" /puppets/split 600
record split "" /puppets/split 600
record deep "" /puppets/deep 600 100
record syscalls "" /puppets/busy_syscalls 600
if [ -x /usr/bin/python3 ]; then
  record python "" /usr/bin/python3 -I /puppets/python_loop.py 600
fi
export LUMBRE_KERNEL_PROGRAMS=classic
record classic "--self-check 1" /puppets/split 600
echo "@@@ done"
poweroff -f
