#include "pjrt/extension_chain.h"

#include <algorithm>

#include "pjrt/live_rules/objects.h"
#include "pjrt_enumerators.h"

namespace framedex::pjrt {
namespace {

bool is_in_chain(const PJRT_Extension_Base* chain, PJRT_Extension_Type type) {
  for (; chain != nullptr; chain = chain->next) {
    if (chain->type == type) return true;
  }
  return false;
}

// Returns a traced copy. Returns nullptr for extensions to leave as they are: unknown types, and extensions that are
// hidden by an earlier one of the same type.
PJRT_Extension_Base* copy_traced(const PJRT_Extension_Base* extension, const PJRT_Extension_Base* chain) {
  if (enumerator(extension->type) == nullptr) objects::expect_unseen_calls();
  size_t size = extension->struct_size;
  bool has_sane_size = size >= sizeof(PJRT_Extension_Base) && size <= kMaximumTableSize;
  bool is_traceable = has_sane_size && !is_in_chain(chain, extension->type);
  return is_traceable ? traced_extension(extension) : nullptr;
}

}  // namespace

std::vector<PJRT_Extension_Base*> extensions_of(PJRT_Extension_Base* first) {
  std::vector<PJRT_Extension_Base*> found;
  for (PJRT_Extension_Base* extension = first; extension != nullptr; extension = extension->next) {
    if (std::find(found.begin(), found.end(), extension) != found.end()) break;
    found.push_back(extension);
  }
  return found;
}

PJRT_Extension_Base* traced_chain(PJRT_Extension_Base* first) {
  PJRT_Extension_Base* chain = nullptr;
  PJRT_Extension_Base** end = &chain;
  PJRT_Extension_Base* untraced = nullptr;
  for (PJRT_Extension_Base* extension : extensions_of(first)) {
    PJRT_Extension_Base* copy = copy_traced(extension, chain);
    if (copy == nullptr) {
      if (untraced == nullptr) untraced = extension;
      continue;
    }
    copy->next = nullptr;
    *end = copy;
    end = &copy->next;
  }
  *end = untraced;
  return chain;
}

}  // namespace framedex::pjrt
