#include "boundary/objects.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace framedex::boundary {
namespace {

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

// The folder of this library, with those of the recorder and the mock.
std::string_view own_folder() {
  static const std::string folder = [] {
    Dl_info info;
    bool is_known = dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0;
    return std::string(is_known ? folder_of(info.dli_fname) : "");
  }();
  return folder;
}

bool is_excluded(std::string_view path) {
  std::string_view file = path.substr(path.rfind('/') + 1);
  bool is_loader = file.substr(0, 3) == "ld-";
  return is_loader || (!own_folder().empty() && folder_of(path) == own_folder());
}

// The parts of an object's dynamic section that describe its slots.
struct Dynamic {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * relocations = nullptr;
  size_t relocation_bytes = 0;
  size_t relative_count = 0;  // of the first relocations, which have no symbol
  const ElfW(Rela) * calls = nullptr;
  size_t call_bytes = 0;
};

// The loader stores addresses in place of offsets, except in the kernel's object.
Dynamic read_dynamic(const ElfW(Dyn) * entry, uintptr_t base) {
  Dynamic found;
  auto pointer = [&](const ElfW(Dyn)* of) { return of->d_un.d_ptr < base ? base + of->d_un.d_ptr : of->d_un.d_ptr; };
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_STRTAB:
        found.strings = reinterpret_cast<const char*>(pointer(entry));
        break;
      case DT_SYMTAB:
        found.symbols = reinterpret_cast<const ElfW(Sym)*>(pointer(entry));
        break;
      case DT_RELA:
        found.relocations = reinterpret_cast<const ElfW(Rela)*>(pointer(entry));
        break;
      case DT_RELASZ:
        found.relocation_bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        found.relative_count = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        found.calls = reinterpret_cast<const ElfW(Rela)*>(pointer(entry));
        break;
      case DT_PLTRELSZ:
        found.call_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return found;
}

// Whether the pages of an address are writable without a change of their protection.
class ObjectView {
 public:
  explicit ObjectView(const dl_phdr_info& info) : base_(info.dlpi_addr) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr) & part = info.dlpi_phdr[i];
      uintptr_t begin = base_ + part.p_vaddr;
      if (part.p_type == PT_DYNAMIC) dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(begin);
      if (part.p_type == PT_GNU_RELRO) protected_ = {begin, begin + part.p_memsz};
      if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) code_ = {begin, begin + part.p_memsz};
    }
  }

  const ElfW(Dyn) * dynamic() const { return dynamic_; }
  bool has_code_at(const void* address) const { return code_.has(address); }
  // Stores a word; a protected page is made writable for that moment.
  void store(const void** place, const void* value) const {
    auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(place) & ~(page_size - 1));
    bool is_protected = protected_.has(place);
    if (is_protected && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    if (is_protected) mprotect(page, page_size, PROT_READ);
  }

 private:
  struct Span {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    bool has(const void* address) const {
      auto word = reinterpret_cast<uintptr_t>(address);
      return begin <= word && word < end;
    }
  };

  uintptr_t base_;
  const ElfW(Dyn) * dynamic_ = nullptr;
  Span protected_;
  Span code_;
};

void patch_relocations(const ObjectView& object, uintptr_t base, const Dynamic& dynamic, const ElfW(Rela) * from,
                       const ElfW(Rela) * to, const std::function<const void*(const SlotView&)>& patch) {
  for (; from < to; ++from) {
    auto type = ELF64_R_TYPE(from->r_info);
    bool is_slot =
        type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || (type == R_X86_64_64 && from->r_addend == 0);
    if (!is_slot) continue;
    const ElfW(Sym) & symbol = dynamic.symbols[ELF64_R_SYM(from->r_info)];
    auto* place = reinterpret_cast<const void**>(base + from->r_offset);
    bool is_lazy = type == R_X86_64_JUMP_SLOT && symbol.st_shndx == SHN_UNDEF && object.has_code_at(*place);
    const void* value = patch({dynamic.strings + symbol.st_name, place, is_lazy});
    if (value != nullptr) object.store(place, value);
  }
}

}  // namespace

Changes changes() {
  Changes found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<Changes*>(result) = {info->dlpi_adds, info->dlpi_subs};
        return 1;
      },
      &found);
  return found;
}

std::vector<Object> loaded_objects() {
  std::vector<Object> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        if (!is_excluded(info->dlpi_name)) {
          static_cast<std::vector<Object>*>(result)->push_back({info->dlpi_addr, info->dlpi_name});
        }
        return 0;
      },
      &found);
  return found;
}

void patch_slots(const std::function<bool(uintptr_t base)>& is_wanted,
                 const std::function<const void*(const SlotView&)>& patch) {
  struct Arguments {
    const std::function<bool(uintptr_t)>& is_wanted;
    const std::function<const void*(const SlotView&)>& patch;
  } arguments{is_wanted, patch};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* passed) {
        const auto& [wanted, patch] = *static_cast<const Arguments*>(passed);
        ObjectView object(*info);
        if (object.dynamic() == nullptr || is_excluded(info->dlpi_name) || !wanted(info->dlpi_addr)) return 0;
        Dynamic dynamic = read_dynamic(object.dynamic(), info->dlpi_addr);
        if (dynamic.symbols == nullptr || dynamic.strings == nullptr) return 0;
        size_t count = dynamic.relocation_bytes / sizeof(ElfW(Rela));
        size_t first = dynamic.relative_count < count ? dynamic.relative_count : count;
        patch_relocations(object, info->dlpi_addr, dynamic, dynamic.relocations + first, dynamic.relocations + count,
                          patch);
        const ElfW(Rela)* calls = dynamic.calls;
        size_t call_count = dynamic.call_bytes / sizeof(ElfW(Rela));
        patch_relocations(object, info->dlpi_addr, dynamic, calls, calls + call_count, patch);
        return 0;
      },
      &arguments);
}

}  // namespace framedex::boundary
