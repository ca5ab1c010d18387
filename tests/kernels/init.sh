#!/bin/busybox sh
# The first process of an emulated kernel: records puppets and prints what came out, in sections
# that tests/kernels/guest.py takes apart: "@@@ begin NAME", the text, "@@@ end NAME STATUS".
export PATH=/bin HOME=/
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs trace /sys/kernel/tracing
echo 1 >/proc/sys/kernel/printk # the console is ours
exec </dev/null 2>&1

section() { # section NAME COMMAND...
  local name=$1
  shift
  echo "@@@ begin $name"
  "$@"
  echo "@@@ end $name $?"
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
  section "report-$name" lumbre report "/out/$name" --limit 8
  kill $pid
  wait $pid
  rm /tmp/words
}

# What the verifier of this kernel says to each program: a line with its effort, or its complaint.
verify() {
  timeout 120 bpftool prog loadall /lumbre_bpf.o /sys/fs/bpf/lumbre >/tmp/verifier 2>&1
  local status=$?
  if [ $status -eq 0 ]; then
    grep '^processed' /tmp/verifier
  else
    grep -v '^libbpf: \(loading\|elf\|map\|sec\|CO-RE\|prog .*: relo\|prog .*: found\|extern\)' \
      /tmp/verifier | tail -n 60
  fi
  return $status
}

section kernel uname -r
section doctor lumbre doctor
section verifier verify
record checked "--self-check 1" /puppets/split 60
record split "" /puppets/split 60
record deep "" /puppets/deep 60 100
[ -x /usr/bin/python3 ] && record python "" /usr/bin/python3 -I /puppets/python_loop.py 60
echo "@@@ done"
poweroff -f
