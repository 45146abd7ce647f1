#include "pjrt/object_tables.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "recorder/base/readable_memory.h"

namespace framedex::pjrt {
namespace {

// The part of a loaded library that contains an address.
struct LoadedPart {
  uintptr_t address;
  CodeRange library{};
  int protection = 0;
  bool is_found = false;
};

int find_part(dl_phdr_info* info, size_t, void* data) {
  auto& part = *static_cast<LoadedPart*>(data);
  CodeRange library{UINTPTR_MAX, 0};
  bool is_read_only = false;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    bool contains = part.address - begin < header.p_memsz;
    if (header.p_type == PT_GNU_RELRO && contains) is_read_only = true;
    if (header.p_type != PT_LOAD) continue;
    library.begin = begin < library.begin ? begin : library.begin;
    library.end = begin + header.p_memsz > library.end ? begin + header.p_memsz : library.end;
    if (!contains) continue;
    part.is_found = true;
    part.protection = ((header.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                      ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  }
  if (!part.is_found) return 0;
  part.library = library;
  if (is_read_only) part.protection &= ~PROT_WRITE;
  return 1;
}

LoadedPart part_at(const void* address) {
  LoadedPart part{reinterpret_cast<uintptr_t>(address)};
  dl_iterate_phdr(find_part, &part);
  return part;
}

void store_words(const void* table, const void* words, size_t size) {
  auto* target = static_cast<uintptr_t*>(const_cast<void*>(table));
  auto* source = static_cast<const uintptr_t*>(words);
  for (size_t i = 0; i < size / sizeof(uintptr_t); ++i) {
    if (target[i] != source[i]) __atomic_store_n(target + i, source[i], __ATOMIC_RELEASE);
  }
}

}  // namespace

CodeRange own_code;

std::mutex object_tables_mutex;

const void* table_of_object(const void* object) {
  const void* table = nullptr;
  bool is_aligned = reinterpret_cast<uintptr_t>(object) % alignof(void*) == 0;
  return is_aligned && recorder::copy_readable(object, &table, sizeof(table)) == sizeof(table) ? table : nullptr;
}

bool read_table(const void* table, void* copy, size_t size, CodeRange* code) {
  bool is_aligned = reinterpret_cast<uintptr_t>(table) % alignof(void*) == 0;
  if (!is_aligned || recorder::copy_readable(table, copy, size) != size) return false;
  uintptr_t words[2];
  std::memcpy(words, copy, sizeof(words));
  if (words[0] < size || words[0] >= 64 * size) return false;  // struct_size: an older type of table is passed on
  // Tables end with functions, some of which may be null.
  constexpr size_t kWord = sizeof(void*);
  void* function = nullptr;
  for (size_t end = size; function == nullptr && end > 2 * kWord; end -= kWord) {
    std::memcpy(&function, static_cast<const char*>(copy) + end - kWord, kWord);
  }
  LoadedPart part = part_at(function);
  if (!part.is_found || (part.protection & PROT_EXEC) == 0) return false;
  *code = part.library;
  if (own_code.end == 0) own_code = part_at(&own_code).library;
  return true;
}

bool replace_table(const void* table, const void* words, size_t size) {
  LoadedPart part = part_at(table);
  if (part.is_found && (part.protection & PROT_WRITE) == 0) {
    auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    uintptr_t begin = part.address & ~(page - 1);
    size_t length = ((part.address + size + page - 1) & ~(page - 1)) - begin;
    if (mprotect(reinterpret_cast<void*>(begin), length, part.protection | PROT_WRITE) != 0) return false;
    store_words(table, words, size);
    mprotect(reinterpret_cast<void*>(begin), length, part.protection);
    return true;
  }
  // Memory outside of all libraries: only the kernel knows whether it is writable.
  uintptr_t first;
  if (recorder::copy_readable(table, &first, sizeof(first)) != sizeof(first)) return false;
  iovec from = {&first, sizeof(first)};
  iovec to = {const_cast<void*>(table), sizeof(first)};
  if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != static_cast<ssize_t>(sizeof(first))) return false;
  store_words(table, words, size);
  return true;
}

}  // namespace framedex::pjrt
