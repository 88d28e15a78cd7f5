// Preloaded into the binary (LD_PRELOAD), between it and the kernel. For the files below SHIM_DIR it
//   - writes every change and every sync to SHIM_TRACE, in the order in which they happened, together with
//     the answers that left through a socket, so that a power cut can be replayed at any point of it;
//   - fails calls: SHIM_FAULT=KIND:FIRST:COUNT fails COUNT calls from the FIRST on (counted from 1), where KIND is
//     EIO (reads, writes, syncs) or ENOSPC (what takes room). With SHIM_GATE, calls count only while that file exists.
//   - ends the process (SIGKILL) after the call number SHIM_KILL that changes a name or syncs, as kill -9 would;
//   - refuses hard links with SHIM_NO_LINKS, as some file systems do.
// SHIM_CLOCK adds so many seconds to the time of day.
// One lock round each call and its record: the trace's order is the order of the calls.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 65536
#define FILES 256
#define ANSWER_START "HTTP/1."

// As test/system/powercut/trace.ts reads them.
enum operation { NAME = 1, WRITE, SYNC, TRUNCATE, CREATE, UNLINK, DIRECTORY_SYNC, ANSWER };
enum need { READS, WRITES, TAKES_ROOM };

struct record {
  uint32_t operation;
  uint32_t file;
  uint64_t offset;
  uint64_t length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char directory[PATH_MAX];
static size_t directory_length;
static int trace = -1;
static const char *gate;
static int fault_error;
static long fault_first, fault_count, calls;
static long kill_at, steps;
static int no_links;
// 0: not ours. Otherwise the number of the file, or of the directory, plus 1.
static uint16_t file_of[DESCRIPTORS];
static char *names[FILES];
static unsigned name_count;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_close)(int);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_unlink)(const char *);
static int (*real_link)(const char *, const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);
static long clock_seconds;

static void start(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_pread = dlsym(RTLD_NEXT, "pread64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_send = dlsym(RTLD_NEXT, "send");
  real_sendmsg = dlsym(RTLD_NEXT, "sendmsg");
  real_open = dlsym(RTLD_NEXT, "open64");
  real_openat = dlsym(RTLD_NEXT, "openat64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_link = dlsym(RTLD_NEXT, "link");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
  const char *shift = getenv("SHIM_CLOCK");
  if (shift) clock_seconds = atol(shift);
  const char *watched = getenv("SHIM_DIR");
  if (!watched) return;
  snprintf(directory, sizeof directory, "%s", watched);
  directory_length = strlen(directory);
  const char *path = getenv("SHIM_TRACE");
  if (path) trace = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *fault = getenv("SHIM_FAULT");
  char kind[16];
  if (fault && sscanf(fault, "%15[A-Z]:%ld:%ld", kind, &fault_first, &fault_count) == 3)
    fault_error = strcmp(kind, "ENOSPC") == 0 ? ENOSPC : EIO;
  gate = getenv("SHIM_GATE");
  const char *killing = getenv("SHIM_KILL");
  if (killing) kill_at = atol(killing);
  no_links = getenv("SHIM_NO_LINKS") != NULL;
}

static void begin(void) {
  pthread_once(&once, start);
}

static void write_record(uint32_t operation, uint32_t file, uint64_t offset, const void *data, uint64_t length) {
  if (trace < 0) return;
  struct record record = {operation, file, offset, length};
  struct iovec parts[2] = {{&record, sizeof record}, {(void *)data, data ? length : 0}};
  if (real_writev(trace, parts, 2) < 0) abort();
}

/* The number of a path below the watched directory, 0 for any other. -shm files are memory: a power cut takes them. */
static uint16_t number_of(const char *path) {
  if (!directory_length || strncmp(path, directory, directory_length) != 0) return 0;
  const char *name = path + directory_length;
  if (*name == '/') name++;
  else if (*name) return 0;
  size_t length = strlen(name);
  if (length >= 4 && strcmp(name + length - 4, "-shm") == 0) return 0;
  for (unsigned index = 0; index < name_count; index++)
    if (strcmp(names[index], name) == 0) return (uint16_t)(index + 1);
  if (name_count == FILES) abort();
  names[name_count++] = strdup(name);
  write_record(NAME, name_count, 0, name, length);
  return (uint16_t)name_count;
}

static uint16_t ours(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? file_of[descriptor] : 0;
}

/* Nothing is made worse while the gate's file is not there. */
static int held_off(void) { return gate && access(gate, F_OK) != 0; }

/* Whether this call is one that has to fail. */
static int fails(enum need need) {
  if (!fault_error || (fault_error == ENOSPC && need != TAKES_ROOM)) return 0;
  if (held_off()) return 0;
  long call = ++calls;
  if (call < fault_first || call >= fault_first + fault_count) return 0;
  errno = fault_error;
  return 1;
}

/* To be called after each change of a name and each sync below the watched directory. */
static void step(void) {
  if (++steps == kill_at) kill(getpid(), SIGKILL);
}

static int opened(const char *path, int flags, int existed, int descriptor) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
  char resolved[PATH_MAX];
  char link[64];
  file_of[descriptor] = 0;
  (void)path;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, resolved, sizeof resolved - 1);
  if (length <= 0) return descriptor;
  resolved[length] = 0;
  file_of[descriptor] = number_of(resolved);
  if (file_of[descriptor] && (flags & O_CREAT) && !existed) {
    write_record(CREATE, file_of[descriptor], 0, NULL, 0);
    step();
  }
  if (file_of[descriptor] && (flags & O_TRUNC) && existed) write_record(TRUNCATE, file_of[descriptor], 0, NULL, 0);
  return descriptor;
}

static int open_at(int base, const char *path, int flags, mode_t mode) {
  begin();
  if (!directory_length) return real_openat(base, path, flags, mode);
  pthread_mutex_lock(&lock);
  int existed = faccessat(base, path, F_OK, 0) == 0;
  int descriptor = opened(path, flags, existed, real_openat(base, path, flags, mode));
  int error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return descriptor;
}

#define MODE_OF(flags)                                        \
  mode_t mode = 0;                                            \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {                    \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    mode = va_arg(arguments, mode_t);                         \
    va_end(arguments);                                        \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int base, const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(base, path, flags, mode);
}

int close(int descriptor) {
  begin();
  if (descriptor >= 0 && descriptor < DESCRIPTORS) file_of[descriptor] = 0;
  return real_close(descriptor);
}

ssize_t pwrite64(int descriptor, const void *data, size_t length, off_t offset) {
  begin();
  if (!ours(descriptor)) return real_pwrite(descriptor, data, length, offset);
  pthread_mutex_lock(&lock);
  ssize_t written = -1;
  if (!fails(TAKES_ROOM)) written = real_pwrite(descriptor, data, length, offset);
  if (written > 0) write_record(WRITE, ours(descriptor), (uint64_t)offset, data, (uint64_t)written);
  int error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return written;
}

ssize_t pread64(int descriptor, void *data, size_t length, off_t offset) {
  begin();
  if (!fault_error || !ours(descriptor)) return real_pread(descriptor, data, length, offset);
  pthread_mutex_lock(&lock);
  int failed = fails(READS);
  pthread_mutex_unlock(&lock);
  return failed ? -1 : real_pread(descriptor, data, length, offset);
}

static int synced(int descriptor, int (*sync)(int)) {
  pthread_mutex_lock(&lock);
  int result = fails(WRITES) ? -1 : sync(descriptor);
  uint16_t file = ours(descriptor);
  struct stat status;
  if (result == 0 && fstat(descriptor, &status) == 0)
    write_record(S_ISDIR(status.st_mode) ? DIRECTORY_SYNC : SYNC, file, 0, NULL, 0);
  int error = errno;
  step();
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int fsync(int descriptor) {
  begin();
  return ours(descriptor) ? synced(descriptor, real_fsync) : real_fsync(descriptor);
}

int fdatasync(int descriptor) {
  begin();
  return ours(descriptor) ? synced(descriptor, real_fdatasync) : real_fdatasync(descriptor);
}

int ftruncate64(int descriptor, off_t size) {
  begin();
  if (!ours(descriptor)) return real_ftruncate(descriptor, size);
  pthread_mutex_lock(&lock);
  int result = fails(WRITES) ? -1 : real_ftruncate(descriptor, size);
  if (result == 0) write_record(TRUNCATE, ours(descriptor), (uint64_t)size, NULL, 0);
  int error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int ftruncate(int descriptor, off_t size) {
  return ftruncate64(descriptor, size);
}

int unlink(const char *path) {
  begin();
  pthread_mutex_lock(&lock);
  uint16_t file = number_of(path);
  int result = real_unlink(path);
  int error = errno;
  if (result == 0 && file) write_record(UNLINK, file, 0, NULL, 0);
  if (result == 0 && file) step();
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

/* Neither a link nor a rename is in the trace: what is traced makes none. */
static int renamed(const char *to, int result) {
  int error = errno;
  pthread_mutex_lock(&lock);
  if (result == 0 && number_of(to)) step();
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int link(const char *from, const char *to) {
  begin();
  if (no_links && directory_length && strncmp(to, directory, directory_length) == 0) {
    errno = EPERM;
    return -1;
  }
  return renamed(to, real_link(from, to));
}

int rename(const char *from, const char *to) {
  begin();
  return renamed(to, real_rename(from, to));
}

/* An answer counts from the moment it is handed to the kernel: its record comes before the call. */
static void answering(const void *data, size_t length) {
  if (trace < 0 || length < sizeof ANSWER_START || memcmp(data, ANSWER_START, sizeof ANSWER_START - 1) != 0) return;
  pthread_mutex_lock(&lock);
  write_record(ANSWER, 0, 0, data, length);
  pthread_mutex_unlock(&lock);
}

ssize_t write(int descriptor, const void *data, size_t length) {
  begin();
  if (ours(descriptor)) {
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    return offset < 0 ? real_write(descriptor, data, length)
                      : (lseek(descriptor, offset + (off_t)length, SEEK_SET), pwrite64(descriptor, data, length, offset));
  }
  answering(data, length);
  return real_write(descriptor, data, length);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  begin();
  if (trace >= 0 && count > 0) {
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
    size_t total = 0;
    for (int index = 0; index < count; index++) total += parts[index].iov_len;
    char *joined = malloc(total + 1);
    size_t at = 0;
    for (size_t index = 0; joined && index < message.msg_iovlen; index++) {
      memcpy(joined + at, parts[index].iov_base, parts[index].iov_len);
      at += parts[index].iov_len;
    }
    if (joined) answering(joined, total);
    free(joined);
  }
  return real_writev(descriptor, parts, count);
}

ssize_t send(int descriptor, const void *data, size_t length, int flags) {
  begin();
  answering(data, length);
  return real_send(descriptor, data, length, flags);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  begin();
  if (message->msg_iovlen == 1) answering(message->msg_iov->iov_base, message->msg_iov->iov_len);
  return real_sendmsg(descriptor, message, flags);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  begin();
  int result = real_clock_gettime(clock, time);
  if (result == 0 && clock_seconds && clock == CLOCK_REALTIME && !held_off()) time->tv_sec += clock_seconds;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  begin();
  int result = real_gettimeofday(time, zone);
  if (result == 0 && clock_seconds && !held_off()) time->tv_sec += clock_seconds;
  return result;
}
