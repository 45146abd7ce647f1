// Generated from native/abi; do not edit.
#pragma once
namespace framedex::recorder {
struct PythonLayout {
  int minor;
  int bytes_data;
  int bytes_size;
  int cframe_current_frame;
  int cframe_previous;
  int code_filename;
  int code_first_line;
  int code_instructions;
  int code_line_table;
  int code_local_count;
  int code_qualname;
  int code_stack_size;
  int code_version;
  int frame_code;
  int frame_instruction;
  int frame_is_entry;
  int frame_owned_by_c_stack;
  int frame_owned_by_thread;
  int frame_owner;
  int frame_previous;
  int frame_specials;
  int object_type;
  int text_ascii_data;
  int text_ascii_mask;
  int text_compact_data;
  int text_compact_mask;
  int text_kind_mask;
  int text_length;
  int text_state;
  int thread_cframe;
  int thread_current_frame;
  int thread_datastack_chunk;
  int thread_datastack_limit;
  int thread_datastack_top;
  int type_deallocate;
};
inline constexpr PythonLayout kPythonLayouts[] = {
    {11, 32, 16, 8, 16, 112, 72, 184, 136, 76, 128, 68, -1, 32, 56, 68, -1, 0, 69, 48, 9, 8, 48, 64, 72, 32, 28, 16, 32, 56, -1, 296, 312, 304, 48},
    {12, 32, 16, 0, -1, 112, 68, 192, 136, 72, 128, 64, 92, 0, 56, -1, 3, 0, 70, 8, 9, 8, 40, 64, 56, 32, 28, 16, 32, 56, -1, 232, 248, 240, -1},
    {13, 32, 16, -1, -1, 112, 68, 200, 136, 72, 128, 64, 92, 0, 56, -1, 3, 0, 70, 8, 9, 8, 40, 64, 56, 32, 28, 16, 32, -1, 72, 232, 248, 240, -1},
};
}  // namespace framedex::recorder
