#include "pjrt/mock/extensions/memory_descriptions.h"

#include "pjrt/mock/machine/tpu_kind.h"

namespace framedex::mock {
namespace {

const MemorySpaceKind* own(const PJRT_MemoryDescription* description) {
  return reinterpret_cast<const MemorySpaceKind*>(description);
}

// Returns the memory descriptions, which are the same for every device.
const std::vector<const PJRT_MemoryDescription*>& descriptions() {
  static const std::vector<const PJRT_MemoryDescription*> all = [] {
    std::vector<const PJRT_MemoryDescription*> made;
    for (const MemorySpaceKind& kind : kMemorySpaceKinds) {
      made.push_back(reinterpret_cast<const PJRT_MemoryDescription*>(&kind));
    }
    return made;
  }();
  return all;
}

PJRT_Error* memories_of_device(PJRT_DeviceDescription_MemoryDescriptions_Args* args) {
  args->memory_descriptions = descriptions().data();
  args->num_memory_descriptions = descriptions().size();
  args->default_memory_index = 0;
  return nullptr;
}

PJRT_Error* kind(PJRT_MemoryDescription_Kind_Args* args) {
  args->kind = own(args->memory_description)->name.data();
  args->kind_size = own(args->memory_description)->name.size();
  args->kind_id = own(args->memory_description)->kind_id;
  return nullptr;
}

}  // namespace

PJRT_Extension_Base* memory_descriptions_extension() {
  static PJRT_MemoryDescriptions_Extension extension{
      {PJRT_MemoryDescriptions_Extension_STRUCT_SIZE, PJRT_Extension_Type_MemoryDescriptions, nullptr},
      memories_of_device,
      kind};
  return &extension.base;
}

}  // namespace framedex::mock
