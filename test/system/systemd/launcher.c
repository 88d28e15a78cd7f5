/*
 * Starts a program as systemd starts the unit's: limits, capabilities, a read-only file system, and the seccomp filter.
 *
 *   launcher FILTER OPEN_FILES USER WRITABLE PROGRAM [ARGUMENT...]
 *
 * FILTER is a file of struct sock_filter (test/system/systemd/unit.ts writes it), OPEN_FILES the limit of LimitNOFILE, USER
 * the numeric id to run as, WRITABLE the only folder that may be written. What only root can apply (mounts,
 * capabilities, the user) is applied where root runs the tests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void must(int result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "launcher: %s: %s\n", what, strerror(errno));
  exit(127);
}

static void set_read_only(const char *path, unsigned flags, int is_read_only) {
  struct mount_attr attributes = {0};
  if (is_read_only) attributes.attr_set = MOUNT_ATTR_RDONLY;
  else attributes.attr_clr = MOUNT_ATTR_RDONLY;
  must(mount_setattr(AT_FDCWD, path, flags, &attributes, sizeof attributes), path);
}

/* ProtectSystem=strict, ProtectHome=yes, ProtectProc=invisible. */
static void close_file_system(const char *writable) {
  must(unshare(CLONE_NEWNS), "unshare");
  must(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
  must(mount(writable, writable, NULL, MS_BIND, NULL), "bind mount");
  set_read_only("/", AT_RECURSIVE, 1);
  set_read_only(writable, 0, 0);
  must(mount("none", "/home", "tmpfs", 0, "mode=000"), "/home");
  must(mount("none", "/root", "tmpfs", 0, "mode=000"), "/root");
  must(mount("proc", "/proc", "proc", 0, "hidepid=invisible"), "/proc");
  must(chdir(writable), "chdir");
}

/* User=, CapabilityBoundingSet=, AmbientCapabilities=. */
static void drop_privileges(uid_t user) {
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
    must(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "capabilities");
  }
  must(setgroups(0, NULL), "setgroups");
  must(setresgid(user, user, user), "setresgid");
  must(setresuid(user, user, user), "setresuid");
}

static void install_filter(const char *file) {
  static struct sock_filter instructions[BPF_MAXINSNS];
  int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  must(descriptor, file);
  ssize_t size = read(descriptor, instructions, sizeof instructions);
  must((int)size, file);
  close(descriptor);
  struct sock_fprog program = {(unsigned short)(size / sizeof *instructions), instructions};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  must((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), "seccomp");
}

int main(int count, char **arguments) {
  if (count < 6) return 127;
  struct rlimit limit;
  must(getrlimit(RLIMIT_NOFILE, &limit), "RLIMIT_NOFILE");
  rlim_t open_files = strtoul(arguments[2], NULL, 10);
  /* The hard limit is not always ours to raise. */
  if (open_files < limit.rlim_max) limit.rlim_max = open_files;
  limit.rlim_cur = limit.rlim_max;
  must(setrlimit(RLIMIT_NOFILE, &limit), "RLIMIT_NOFILE");
  umask(0077);
  if (geteuid() == 0) {
    close_file_system(arguments[4]);
    drop_privileges((uid_t)strtoul(arguments[3], NULL, 10));
  }
  install_filter(arguments[1]);
  execv(arguments[5], arguments + 5);
  must(-1, arguments[5]);
}
