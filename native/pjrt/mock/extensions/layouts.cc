#include "pjrt/mock/extensions/layouts.h"

#include "pjrt/mock/arrays/layout.h"
#include "pjrt/mock/buffers/buffer.h"
#include "pjrt/mock/executables/executable.h"

namespace framedex::mock {
namespace {

PJRT_Layouts_MemoryLayout* new_layout(const Layout& layout, PJRT_Buffer_Type type) {
  return new PJRT_Layouts_MemoryLayout{to_text(layout, type)};
}

PJRT_Error* serialize(PJRT_Layouts_MemoryLayout_Serialize_Args* args) {
  auto* text = new std::string(args->layout->text);
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_layout = reinterpret_cast<PJRT_Layouts_SerializedLayout*>(text);
  args->serialized_layout_deleter = [](PJRT_Layouts_SerializedLayout* held) {
    delete reinterpret_cast<std::string*>(held);
  };
  return nullptr;
}

PJRT_Layouts_Extension make_extension() {
  PJRT_Layouts_Extension extension{};
  extension.base.struct_size = PJRT_Layouts_Extension_STRUCT_SIZE;
  extension.base.type = PJRT_Extension_Type_Layouts;
  extension.PJRT_Layouts_MemoryLayout_Destroy = [](PJRT_Layouts_MemoryLayout_Destroy_Args* args) -> PJRT_Error* {
    delete args->layout;
    return nullptr;
  };
  extension.PJRT_Layouts_MemoryLayout_Serialize = serialize;
  extension.PJRT_Layouts_PJRT_Client_GetDefaultLayout =
      [](PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args* args) -> PJRT_Error* {
    args->layout = new_layout(row_major_layout(args->num_dims), args->type);
    return nullptr;
  };
  extension.PJRT_Layouts_PJRT_Topology_GetDefaultLayout =
      [](PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args* args) -> PJRT_Error* {
    args->layout = new_layout(row_major_layout(args->num_dims), args->type);
    return nullptr;
  };
  extension.PJRT_Layouts_PJRT_Buffer_MemoryLayout =
      [](PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args* args) -> PJRT_Error* {
    args->layout = new_layout(args->buffer->shape->layout, args->buffer->shape->type);
    return nullptr;
  };
  extension.PJRT_Layouts_PJRT_Executable_GetOutputLayouts =
      [](PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args* args) -> PJRT_Error* {
    // The API is not const-correct: callers must not change the list.
    auto& layouts = const_cast<std::vector<PJRT_Layouts_MemoryLayout*>&>(args->executable->tables->result_layouts);
    args->layouts = layouts.data();
    args->num_outputs = layouts.size();
    return nullptr;
  };
  extension.PJRT_Layouts_PJRT_Executable_GetParameterLayouts =
      [](PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args* args) -> PJRT_Error* {
    auto& layouts = const_cast<std::vector<PJRT_Layouts_MemoryLayout*>&>(args->executable->tables->parameter_layouts);
    args->layouts = layouts.data();
    args->num_parameters = layouts.size();
    return nullptr;
  };
  return extension;
}

}  // namespace

PJRT_Extension_Base* layouts_extension() {
  static PJRT_Layouts_Extension extension = make_extension();
  return &extension.base;
}

}  // namespace framedex::mock
