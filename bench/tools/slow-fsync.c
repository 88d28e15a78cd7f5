// LD_PRELOAD shim: every fsync and fdatasync takes SLOW_FSYNC_MICROSECONDS longer, as on a slower disk.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int slowly(const char *name, int file) {
  const char *microseconds = getenv("SLOW_FSYNC_MICROSECONDS");
  if (microseconds) usleep((useconds_t)atoi(microseconds));
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(file);
}

int fsync(int file) { return slowly("fsync", file); }

int fdatasync(int file) { return slowly("fdatasync", file); }
