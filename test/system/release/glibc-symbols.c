// What Debian's libstdc++ and libgcc_s take from glibc and musl does not have, so that a program for musl, which expects
// a libstdc++ of its own system, can be run on Debian (targets.sh).

// The same function, declared by <link.h> with a struct that is not declared everywhere.
#define _dl_find_object declared_dl_find_object
#define _GNU_SOURCE
#include <link.h>
#undef _dl_find_object
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded = 0;
unsigned __cpu_model[4];

int __cpu_indicator_init(void) {
  return 0;
}

unsigned long __getauxval(unsigned long type) {
  return getauxval(type);
}

unsigned arc4random(void) {
  unsigned number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}

size_t __strftime_l(char *text, size_t size, const char *format, const struct tm *time, void *locale) {
  (void)locale;
  return strftime(text, size, format, time);
}

// Destructors of a thread's variables are left out.
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) {
  (void)destroy, (void)object, (void)library;
  return 0;
}

// glibc's struct dl_find_object.
struct found {
  unsigned long long flags;
  void *start, *end;
  struct link_map *map;
  void *eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct found *found;
};

static int compare(struct dl_phdr_info *library, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  int holds = 0;
  void *eh_frame = NULL;
  for (int index = 0; index < library->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = library->dlpi_phdr + index;
    uintptr_t start = library->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) eh_frame = (void *)start;
    if (part->p_type != PT_LOAD || search->address < start || search->address >= end) continue;
    holds = 1;
    search->found->start = (void *)start;
    search->found->end = (void *)end;
  }
  if (!holds || !eh_frame) return 0;
  search->found->eh_frame = eh_frame;
  return 1;
}

// For C++ exceptions.
int _dl_find_object(void *address, struct found *found) {
  struct search search = {(uintptr_t)address, found};
  found->flags = 0;
  found->map = NULL;
  return dl_iterate_phdr(compare, &search) ? 0 : -1;
}
