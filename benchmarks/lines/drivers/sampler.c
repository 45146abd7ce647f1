/* Writes stacks at malloc and free to the file LINES_RECORD, as benchmarks/lines/calls.py reads them.
 *
 * Loaded by LD_PRELOAD. The first calls are all recorded, then every second, fourth and so on, so that a short workload
 * gives enough and a long one not too much; after 15 s of a processor the workload is ended. Addresses count from where their module is loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 60, MOST_STACKS = 40000, ROUND = 4000, MOST_MODULES = 200, MOST_SECONDS = 15 };

extern void* __libc_malloc(size_t);
extern void __libc_free(void*);

struct stack {
  int count;
  void* frames[MOST_FRAMES];
};

static struct stack* stacks;
static int stored;
static long seen, stride = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;
static pid_t recorded;

static void write_record(void);

static void sample(void) {
  if (inside || !stacks) return;
  inside = 1;
  pthread_mutex_lock(&lock);
  int is_due = stored < MOST_STACKS && seen++ % stride == 0;
  pthread_mutex_unlock(&lock);
  if (is_due) {
    struct stack taken;
    taken.count = backtrace(taken.frames, MOST_FRAMES);
    pthread_mutex_lock(&lock);
    if (stored < MOST_STACKS) {
      stacks[stored++] = taken;
      if (stored % ROUND == 0) stride *= 4;
    }
    pthread_mutex_unlock(&lock);
    if (getpid() == recorded && clock() > MOST_SECONDS * CLOCKS_PER_SEC) {
      write_record();
      _exit(0);
    }
  }
  inside = 0;
}

void* malloc(size_t size) {
  sample();
  return __libc_malloc(size);
}

void free(void* memory) {
  sample();
  __libc_free(memory);
}

struct module {
  ElfW(Addr) start, end, base;
  char path[1024];
};

static struct module modules[MOST_MODULES];
static int module_count;

static int note(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  for (int i = 0; i < info->dlpi_phnum && module_count < MOST_MODULES; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    struct module* module = &modules[module_count++];
    module->base = info->dlpi_addr;
    module->start = info->dlpi_addr + part->p_vaddr;
    module->end = module->start + part->p_memsz;
    snprintf(module->path, sizeof module->path, "%s", info->dlpi_name);
  }
  return 0;
}

static void write_record(void) {
  const char* path = getenv("LINES_RECORD");
  if (!path || getpid() != recorded || !stored) return;
  inside = 1;
  module_count = 0;
  dl_iterate_phdr(note, NULL);
  char partial[4096];
  snprintf(partial, sizeof partial, "%s.partial", path);
  FILE* file = fopen(partial, "wb");
  if (!file) return;
  for (int i = 0; i < module_count; ++i) fprintf(file, "%s%d %s", i ? "\n" : "", i, modules[i].path);
  fputs("\n\n", file);
  for (int i = 0; i < stored; ++i) {
    long long count = stacks[i].count;
    fwrite(&count, sizeof count, 1, file);
    for (int j = 0; j < stacks[i].count; ++j) {
      ElfW(Addr) address = (ElfW(Addr))stacks[i].frames[j];
      long long pair[2] = {-1, (long long)address};
      for (int k = 0; k < module_count; ++k) {
        if (modules[k].start < address && address <= modules[k].end) {
          pair[0] = k;
          pair[1] = (long long)(address - modules[k].base);
        }
      }
      fwrite(pair, sizeof pair, 1, file);
    }
  }
  fclose(file);
  rename(partial, path);
}

__attribute__((constructor)) static void begin(void) {
  void* first[2];
  inside = 1;
  backtrace(first, 2); /* loads libgcc, which takes memory */
  recorded = getpid();
  stacks = __libc_malloc(sizeof *stacks * MOST_STACKS);
  atexit(write_record);
  inside = 0;
}
