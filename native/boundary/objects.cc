#include "boundary/objects.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "architecture/architecture.h"
#include "recorder/process/loader_lock.h"

namespace framedex::boundary {
namespace {

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

// The folder of this library, which also contains the recorder and the mock. Never destroyed: calls come after static
// destructors.
std::string_view own_folder() {
  static const auto* folder = [] {
    Dl_info info;
    bool is_known = dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0;
    return new std::string(is_known ? folder_of(info.dli_fname) : "");
  }();
  return *folder;
}

// Excludes the loader and libgcc_s, which call functions such as malloc while they hold locks that the recorder takes.
bool is_excluded(std::string_view path) {
  std::string_view file = path.substr(path.rfind('/') + 1);
  bool has_locks = file.substr(0, 3) == "ld-" || file.substr(0, 9) == "libgcc_s.";
  return has_locks || (!own_folder().empty() && folder_of(path) == own_folder());
}

uintptr_t page_size() { return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)); }
uintptr_t page_of(uintptr_t address) { return address & ~(page_size() - 1); }

}  // namespace

// The parts of an object's dynamic section that describe its slots.
struct Object::Dynamic {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Half) * versions = nullptr;   // the version numbers of the symbols
  const ElfW(Verneed) * needed = nullptr;  // the names of these versions
  const ElfW(Rela) * relocations = nullptr;
  size_t relocation_bytes = 0;
  size_t relative_count = 0;  // number of relative relocations, which come first and have no symbol
  const ElfW(Rela) * calls = nullptr;
  size_t call_bytes = 0;

  Dynamic(const ElfW(Dyn) * entry, uintptr_t base);
  const char* version_of(size_t symbol) const;
};

// The loader replaces some offsets in these entries by addresses, except in the vDSO.
Object::Dynamic::Dynamic(const ElfW(Dyn) * entry, uintptr_t base) {
  auto assign = [&](auto*& target) {
    uintptr_t word = entry->d_un.d_ptr;
    target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(word < base ? base + word : word);
  };
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_STRTAB:
        assign(strings);
        break;
      case DT_SYMTAB:
        assign(symbols);
        break;
      case DT_VERSYM:
        assign(versions);
        break;
      case DT_VERNEED:
        assign(needed);
        break;
      case DT_RELA:
        assign(relocations);
        break;
      case DT_RELASZ:
        relocation_bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        relative_count = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        assign(calls);
        break;
      case DT_PLTRELSZ:
        call_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
}

// Returns the version of a symbol that another object defines; empty if any version matches.
const char* Object::Dynamic::version_of(size_t symbol) const {
  constexpr ElfW(Half) kHidden = 0x8000;
  if (versions == nullptr || needed == nullptr) return "";
  auto behind = [](const auto* part, size_t bytes) {
    return reinterpret_cast<decltype(part)>(reinterpret_cast<const char*>(part) + bytes);
  };
  for (const ElfW(Verneed)* file = needed;; file = behind(file, file->vn_next)) {
    auto* version = reinterpret_cast<const ElfW(Vernaux)*>(behind(reinterpret_cast<const char*>(file), file->vn_aux));
    for (size_t i = 0; i < file->vn_cnt; ++i, version = behind(version, version->vna_next)) {
      if (((version->vna_other ^ versions[symbol]) & ~kHidden) == 0) return strings + version->vna_name;
    }
    if (file->vn_next == 0) return "";
  }
}

std::optional<Object> Object::open(const ListedObject& listed) {
  const char* path = listed.path.empty() ? nullptr : listed.path.c_str();
  Handle handle(dlopen(path, RTLD_LAZY | RTLD_NOLOAD), dlclose);
  link_map* map = nullptr;
  bool is_known = handle != nullptr && dlinfo(handle.get(), RTLD_DI_LINKMAP, &map) == 0;
  if (!is_known || map->l_addr != listed.base) return {};
  return Object(listed, std::move(handle));
}

void Object::each_slot(const std::function<void(const Slot&)>& visit) const {
  for (size_t i = 0; i < listed_.part_count; ++i) {
    const ElfW(Phdr) & part = listed_.parts[i];
    if (part.p_type != PT_DYNAMIC) continue;
    Dynamic dynamic(reinterpret_cast<const ElfW(Dyn)*>(base() + part.p_vaddr), base());
    if (dynamic.symbols == nullptr || dynamic.strings == nullptr) continue;
    size_t count = dynamic.relocation_bytes / sizeof(ElfW(Rela));
    size_t first = dynamic.relative_count < count ? dynamic.relative_count : count;
    each_slot(dynamic, dynamic.relocations + first, count - first, visit);
    each_slot(dynamic, dynamic.calls, dynamic.call_bytes / sizeof(ElfW(Rela)), visit);
  }
}

void Object::each_slot(const Dynamic& dynamic, const ElfW(Rela) * first, size_t count,
                       const std::function<void(const Slot&)>& visit) const {
  for (const ElfW(Rela)* each = first; each < first + count; ++each) {
    auto type = ELF64_R_TYPE(each->r_info);
    bool is_slot = type == architecture::kJumpSlot || type == architecture::kGlobalData ||
                   (type == architecture::kAbsolute && each->r_addend == 0);
    if (!is_slot) continue;
    size_t number = ELF64_R_SYM(each->r_info);
    const ElfW(Sym) & symbol = dynamic.symbols[number];
    auto* address = reinterpret_cast<const void**>(base() + each->r_offset);
    const void* value = __atomic_load_n(address, __ATOMIC_ACQUIRE);
    bool is_lazy = type == architecture::kJumpSlot && symbol.st_shndx == SHN_UNDEF && has_code_at(value);
    visit({dynamic.strings + symbol.st_name, is_lazy ? dynamic.version_of(number) : "", address, value, is_lazy});
  }
}

bool Object::has_code_at(const void* address) const {
  uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base();
  for (size_t i = 0; i < listed_.part_count; ++i) {
    const ElfW(Phdr) & part = listed_.parts[i];
    bool is_code = part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0;
    if (is_code && part.p_vaddr <= offset && offset < part.p_vaddr + part.p_memsz) return true;
  }
  return false;
}

// Whether the loader has made the page of an address read-only after it filled the slots. The last, incomplete page
// stays writable.
bool Object::protects(const void* address) const {
  auto word = reinterpret_cast<uintptr_t>(address);
  for (size_t i = 0; i < listed_.part_count; ++i) {
    const ElfW(Phdr) & part = listed_.parts[i];
    uintptr_t begin = base() + part.p_vaddr;
    if (part.p_type == PT_GNU_RELRO && page_of(begin) <= word && word < page_of(begin + part.p_memsz)) return true;
  }
  return false;
}

void Object::store(const Slot& slot, const void* value) const {
  auto* page = reinterpret_cast<void*>(page_of(reinterpret_cast<uintptr_t>(slot.address)));
  bool is_protected = protects(slot.address);
  if (is_protected && mprotect(page, page_size(), PROT_READ | PROT_WRITE) != 0) return;
  const void* expected = slot.value;
  __atomic_compare_exchange_n(slot.address, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (is_protected) mprotect(page, page_size(), PROT_READ);
}

std::vector<ListedObject> list_objects() {
  std::vector<ListedObject> found;
  own_folder();  // computed before the walk, because dladdr takes another of the loader's locks
  recorder::LoaderLock lock;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        if (!is_excluded(info->dlpi_name)) {
          auto* listed = static_cast<std::vector<ListedObject>*>(result);
          listed->push_back({info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum});
        }
        return 0;
      },
      &found);
  return found;
}

}  // namespace framedex::boundary
