/* What the current task is about to wait for: from the system call that it is in and the file
 * behind its descriptor, never from names. Runs in sched_switch, so everything here is a handful of
 * loads. */
#ifndef LUMBRE_CORE_WAIT_REASON_H
#define LUMBRE_CORE_WAIT_REASON_H

#include <bpf/bpf_core_read.h>

#include "bpf/abi/waits.h"
#include "bpf/core/task.h"

/* arch/x86/entry/syscalls/syscall_64.tbl */
enum lumbre_system_call {
  CALL_READ = 0, CALL_WRITE = 1, CALL_POLL = 7, CALL_IOCTL = 16, CALL_PREAD = 17, CALL_PWRITE = 18,
  CALL_READV = 19, CALL_WRITEV = 20, CALL_SELECT = 23, CALL_MSYNC = 26, CALL_NANOSLEEP = 35,
  CALL_SENDFILE = 40, CALL_CONNECT = 42, CALL_ACCEPT = 43, CALL_SENDTO = 44, CALL_RECVFROM = 45,
  CALL_SENDMSG = 46, CALL_RECVMSG = 47, CALL_CLONE = 56,
  CALL_VFORK = 58, CALL_WAIT4 = 61, CALL_FSYNC = 74, CALL_FDATASYNC = 75,
  CALL_FTRUNCATE = 77, CALL_GETDENTS = 78, CALL_SYNC = 162, CALL_READAHEAD = 187,
  CALL_FUTEX = 202, CALL_EPOLL_WAIT_OLD = 215, CALL_GETDENTS64 = 217, CALL_FADVISE = 221,
  CALL_CLOCK_NANOSLEEP = 230, CALL_EPOLL_WAIT = 232, CALL_WAITID = 247, CALL_PSELECT = 270,
  CALL_PPOLL = 271, CALL_SPLICE = 275, CALL_TEE = 276, CALL_SYNC_RANGE = 277, CALL_VMSPLICE = 278,
  CALL_EPOLL_PWAIT = 281, CALL_FALLOCATE = 285, CALL_ACCEPT4 = 288, CALL_PREADV = 295,
  CALL_PWRITEV = 296, CALL_RECVMMSG = 299, CALL_SYNCFS = 306, CALL_SENDMMSG = 307,
  CALL_COPY_RANGE = 326, CALL_PREADV2 = 327, CALL_PWRITEV2 = 328, CALL_CLONE3 = 435,
  CALL_EPOLL_PWAIT2 = 441,
  CALL_FUTEX_WAITV = 449, CALL_FUTEX_WAIT = 455,
};

#define LUMBRE_FILE_TYPE_MASK 0170000
#define LUMBRE_FILE_SOCKET 0140000
#define LUMBRE_FILE_BLOCK 0060000
#define LUMBRE_FILE_CHARACTER 0020000
#define LUMBRE_FILE_PIPE 0010000
#define LUMBRE_FILE_REGULAR 0100000
#define LUMBRE_FILE_FOLDER 0040000
/* Documentation/admin-guide/devices.txt; nvidia-uvm, kfd and others have dynamic numbers. */
#define LUMBRE_MAJOR_NVIDIA 195
#define LUMBRE_MAJOR_DRM 226
#define LUMBRE_MINOR_BITS 20

/* What a wait on this descriptor of the task waits for; *inode tells files apart. */
static __always_inline __u32 reason_of_descriptor(struct task_struct *task, __u32 descriptor,
                                                  __u64 *inode) {
  struct files_struct *open = task->files;
  if (!open || descriptor >= open->fdt->max_fds) {
    return LUMBRE_WAIT_OTHER;
  }
  struct file *file = 0;
  bpf_probe_read_kernel(&file, sizeof(file), open->fdt->fd + descriptor);
  struct inode *node = BPF_CORE_READ(file, f_inode);
  if (!node) {
    return LUMBRE_WAIT_OTHER;
  }
  *inode = BPF_CORE_READ(node, i_ino);
  __u32 major = BPF_CORE_READ(node, i_rdev) >> LUMBRE_MINOR_BITS;
  switch (BPF_CORE_READ(node, i_mode) & LUMBRE_FILE_TYPE_MASK) {
    case LUMBRE_FILE_SOCKET:
      return LUMBRE_WAIT_NET;
    case LUMBRE_FILE_PIPE:
      return LUMBRE_WAIT_PIPE;
    case LUMBRE_FILE_REGULAR:
    case LUMBRE_FILE_FOLDER:
    case LUMBRE_FILE_BLOCK:
      return LUMBRE_WAIT_DISK;
    case LUMBRE_FILE_CHARACTER:
      return major == LUMBRE_MAJOR_NVIDIA || major == LUMBRE_MAJOR_DRM ? LUMBRE_WAIT_GPU
                                                                      : LUMBRE_WAIT_OTHER;
    default:
      return LUMBRE_WAIT_OTHER;
  }
}

/* poll(2) of a single descriptor is a wait with a time limit on that one (Python's sockets do
 * that). */
static __always_inline __u32 reason_of_poll(struct task_struct *task, __u64 polled, __u64 many,
                                            __u64 *inode) {
  __u32 descriptor = 0; /* struct pollfd begins with it */
  if (many == 0) {
    return LUMBRE_WAIT_SLEEP;
  }
  /* Only the current task's memory is there to be read. */
  if (many != 1 || task != (void *)bpf_get_current_task_btf() || bpf_probe_read_user(&descriptor, sizeof(descriptor), (const void *)polled)) {
    return LUMBRE_WAIT_EPOLL;
  }
  __u32 reason = reason_of_descriptor(task, descriptor, inode);
  return reason == LUMBRE_WAIT_OTHER ? LUMBRE_WAIT_EPOLL : reason;
}

static __always_inline __u32 reason_of_futex(const struct lumbre_task *ids, __u64 address) {
  __u32 pid = ids->visible_pid;
  const struct lumbre_python_process *python = bpf_map_lookup_elem(&python_processes, &pid);
  return python && address - python->gil_address < python->gil_bytes ? LUMBRE_WAIT_GIL
                                                                     : LUMBRE_WAIT_FUTEX;
}

/* Of a task that waits, or is about to. */
static __always_inline __u32 wait_reason(struct task_struct *task, const struct lumbre_task *ids,
                                         __u64 *detail) {
  *detail = 0;
  /* Workers of io_uring and vhost have no system call: their registers are zeros. */
  if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
    return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? LUMBRE_WAIT_DISK : LUMBRE_WAIT_OTHER;
  }
  const struct lumbre_pt_regs *registers = (const void *)bpf_task_pt_regs(task);
  struct lumbre_pt_regs entry;
  if (bpf_probe_read_kernel(&entry, sizeof(entry), registers)) {
    return LUMBRE_WAIT_OTHER;
  }
  __u32 reason = LUMBRE_WAIT_OTHER;
  switch ((long)entry.orig_ax) {
    case -1: /* no system call: an exception, of which only page faults wait */
      return LUMBRE_WAIT_PAGEFAULT;
    case CALL_FUTEX:
    case CALL_FUTEX_WAIT:
      *detail = entry.di;
      return reason_of_futex(ids, entry.di);
    case CALL_FUTEX_WAITV:
      return LUMBRE_WAIT_FUTEX;
    case CALL_SELECT:
    case CALL_PSELECT:
      return entry.di ? LUMBRE_WAIT_EPOLL : LUMBRE_WAIT_SLEEP;
    case CALL_EPOLL_WAIT:
    case CALL_EPOLL_WAIT_OLD:
    case CALL_EPOLL_PWAIT:
    case CALL_EPOLL_PWAIT2:
      return LUMBRE_WAIT_EPOLL;
    case CALL_POLL:
    case CALL_PPOLL:
      return reason_of_poll(task, entry.di, entry.si, detail);
    case CALL_NANOSLEEP:
    case CALL_CLOCK_NANOSLEEP:
      return LUMBRE_WAIT_SLEEP;
    case CALL_WAIT4:
    case CALL_WAITID:
    case CALL_CLONE: /* of vfork: until the child has its own program */
    case CALL_VFORK:
    case CALL_CLONE3:
      return LUMBRE_WAIT_CHILD;
    case CALL_MSYNC:
    case CALL_SYNC:
      return LUMBRE_WAIT_DISK;
    case CALL_READ: case CALL_WRITE: case CALL_IOCTL: case CALL_PREAD: case CALL_PWRITE:
    case CALL_READV: case CALL_WRITEV: case CALL_SENDFILE: case CALL_CONNECT: case CALL_ACCEPT:
    case CALL_SENDTO: case CALL_RECVFROM: case CALL_SENDMSG: case CALL_RECVMSG: case CALL_FSYNC:
    case CALL_FDATASYNC: case CALL_FTRUNCATE: case CALL_GETDENTS: case CALL_READAHEAD:
    case CALL_GETDENTS64: case CALL_FADVISE: case CALL_SPLICE: case CALL_TEE:
    case CALL_SYNC_RANGE: case CALL_VMSPLICE: case CALL_FALLOCATE: case CALL_ACCEPT4:
    case CALL_PREADV: case CALL_PWRITEV: case CALL_RECVMMSG: case CALL_SYNCFS:
    case CALL_SENDMMSG: case CALL_COPY_RANGE: case CALL_PREADV2: case CALL_PWRITEV2:
      reason = reason_of_descriptor(task, entry.di, detail);
      break;
    default:
      break;
  }
  /* Calls that take a path, too, wait for block devices. */
  return reason == LUMBRE_WAIT_OTHER && BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait)
             ? LUMBRE_WAIT_DISK
             : reason;
}

#endif
