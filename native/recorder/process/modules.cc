#include "recorder/process/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "recorder/process/loader_lock.h"

namespace framedex::recorder {
namespace {

constexpr size_t kBlocks = 64;
constexpr size_t kBlockSize = 4096;

struct Search {
  uintptr_t address;
  ModuleInfo* module;
};

bool covers(const dl_phdr_info& object, uintptr_t address) {
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = object.dlpi_phdr[i];
    uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin <= address && address < begin + segment.p_memsz) return true;
  }
  return false;
}

size_t padded_note(uint32_t size) { return (size_t{size} + 3) / 4 * 4; }

std::string resolve_path(const char* name) {
  std::array<char, PATH_MAX> path;
  // The executable itself has no name.
  const char* file = name[0] == '\0' ? "/proc/self/exe" : name;
  return realpath(file, path.data()) != nullptr ? path.data() : name;
}

int visit(dl_phdr_info* object, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  if (!covers(*object, search.address)) return 0;
  ModuleInfo& module = *search.module;
  module.path = resolve_path(object->dlpi_name);
  module.base = object->dlpi_addr;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) module.size = std::max<uint64_t>(module.size, segment.p_vaddr + segment.p_memsz);
    if (segment.p_type == PT_NOTE && module.build_id.empty()) {
      const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
      module.build_id = build_id_in({notes, segment.p_memsz});
    }
  }
  return 1;
}

int64_t nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec; }

uint64_t fnv1a(uint64_t hash, const char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3u;
  return hash;
}

}  // namespace

std::string build_id_in(std::string_view notes) {
  constexpr char kGnu[] = "GNU";  // includes the zero byte, as names of notes do
  ElfW(Nhdr) header;
  while (notes.size() >= sizeof(header)) {
    std::memcpy(&header, notes.data(), sizeof(header));
    notes.remove_prefix(sizeof(header));
    std::string_view name = notes.substr(0, header.n_namesz);
    notes.remove_prefix(std::min(padded_note(header.n_namesz), notes.size()));
    if (header.n_descsz > notes.size()) break;
    bool is_gnu = name == std::string_view(kGnu, sizeof(kGnu));
    if (header.n_type == NT_GNU_BUILD_ID && is_gnu) return std::string(notes.substr(0, header.n_descsz));
    notes.remove_prefix(std::min(padded_note(header.n_descsz), notes.size()));
  }
  return {};
}

bool find_module(uintptr_t address, ModuleInfo* module) {
  Search search{address, module};
  LoaderLock lock;
  return dl_iterate_phdr(visit, &search) != 0;
}

LoaderChanges loader_changes() {
  LoaderChanges changes;
  auto read = [](dl_phdr_info* object, size_t, void* result) {
    *static_cast<LoaderChanges*>(result) = {object->dlpi_adds, object->dlpi_subs};
    return 1;
  };
  LoaderLock lock;
  dl_iterate_phdr(read, &changes);
  return changes;
}

std::string fingerprint(const std::string& path) { return mark_file(path).fingerprint; }

FileMark mark_file(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  struct stat status{};
  uint64_t hash = 0xCBF29CE484222325u;
  bool ok = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  auto size = ok ? static_cast<uint64_t>(status.st_size) : 0;
  std::array<char, kBlockSize> block;
  for (uint64_t i = 0; ok && i < kBlocks; ++i) {
    uint64_t last = size > kBlockSize ? size - kBlockSize : 0;
    auto offset = static_cast<off_t>(last / (kBlocks - 1) * i + last % (kBlocks - 1) * i / (kBlocks - 1));
    ssize_t count = pread(file, block.data(), block.size(), offset);
    ok = count >= 0;
    if (ok) hash = fnv1a(hash, block.data(), static_cast<size_t>(count));
  }
  close(file);
  if (!ok) return {};
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%llx-%016llx", static_cast<unsigned long long>(size),
                static_cast<unsigned long long>(hash));
  return {size, status.st_ino, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim), text.data()};
}

}  // namespace framedex::recorder
