#include "tpu_legacy/shape.h"

#include <algorithm>
#include <cstdio>

namespace framedex::tpu_legacy {
namespace {

// Allocates the list's elements by its size; jaxlib frees them with delete[].
template <typename List>
Element<List>* make_room(List& list) {
  return is_inlined(list) ? list.inlined : list.heap = new Element<List>[static_cast<size_t>(list.size)];
}

template <typename List>
List copy(const List& list) {
  List made{};
  made.size = list.size;
  std::copy_n(elements(list), list.size, make_room(made));
  return made;
}

template <typename List>
void destroy_list(List& list) {
  if (!is_inlined(list)) delete[] list.heap;
}

TileList copy_tiles(const TileList& list) {
  TileList made{};
  made.size = list.size;
  XLA_Tile* tiles = make_room(made);
  for (int64_t i = 0; i < list.size; ++i) tiles[i].dimensions = copy(elements(list)[i].dimensions);
  return made;
}

XLA_Layout copy_layout(const XLA_Layout& layout) {
  XLA_Layout made{};
  made.minor_to_major = copy(layout.minor_to_major);
  made.dim_level_types = copy(layout.dim_level_types);
  made.dim_unique = copy(layout.dim_unique);
  made.dim_ordered = copy(layout.dim_ordered);
  made.tiles = copy_tiles(layout.tiles);
  made.index_primitive_type = layout.index_primitive_type;
  made.pointer_primitive_type = layout.pointer_primitive_type;
  made.element_size_in_bits = layout.element_size_in_bits;
  made.memory_space = layout.memory_space;
  made.dynamic_shape_metadata_prefix_bytes = layout.dynamic_shape_metadata_prefix_bytes;
  return made;
}

XLA_Layout make_row_major(int64_t rank) {
  XLA_Layout layout{};
  Int64List& order = layout.minor_to_major;
  order.size = rank;
  int64_t* dimensions = make_room(order);
  for (int64_t i = 0; i < rank; ++i) dimensions[i] = rank - 1 - i;
  return layout;
}

// Writes a text of bounded size.
class Text {
 public:
  Text(char* start, size_t capacity) : start_(start), capacity_(capacity) {}

  size_t size() const { return size_; }
  void add(const char* text) {
    while (*text != '\0' && size_ < capacity_) start_[size_++] = *text++;
  }
  void add(int64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), "%lld", static_cast<long long>(value));
    add(digits);
  }

 private:
  char* start_;
  size_t capacity_;
  size_t size_ = 0;
};

void add(Text& text, const Int64List& list) {
  for (int64_t i = 0; i < list.size; ++i) {
    if (i > 0) text.add(",");
    text.add(elements(list)[i]);
  }
}

void add(Text& text, const XLA_Shape& shape) {
  if (is_tuple(shape)) {
    text.add("(");
    for (int i = 0; i < shape.ntuple_shapes; ++i) {
      if (i > 0) text.add(", ");
      add(text, shape.tuple_shapes[i]);
    }
    return text.add(")");
  }
  const char* name = element_type_name(shape.element_type);
  if (name != nullptr) {
    text.add(name);
  } else {
    text.add(shape.element_type);
  }
  text.add("[");
  add(text, shape.dimensions);
  text.add("]");
  if (!shape.has_layout || shape.layout.minor_to_major.size == 0) return;
  text.add("{");
  add(text, shape.layout.minor_to_major);
  text.add("}");
}

}  // namespace

int64_t element_size(int element_type) {
  switch (element_type) {
    case TpuPrimitiveType_PRED:
    case TpuPrimitiveType_S8:
    case TpuPrimitiveType_U8:
    case TpuPrimitiveType_F8E4M3FN:
    case TpuPrimitiveType_F8E4M3B11FNUZ:
    case TpuPrimitiveType_F8E5M2:
      return 1;
    case TpuPrimitiveType_S16:
    case TpuPrimitiveType_U16:
    case TpuPrimitiveType_F16:
    case TpuPrimitiveType_BF16:
      return 2;
    case TpuPrimitiveType_S32:
    case TpuPrimitiveType_U32:
    case TpuPrimitiveType_F32:
      return 4;
    case TpuPrimitiveType_S64:
    case TpuPrimitiveType_U64:
    case TpuPrimitiveType_F64:
    case TpuPrimitiveType_C64:
      return 8;
    case TpuPrimitiveType_C128:
      return 16;
    default:
      return 0;
  }
}

int64_t byte_size(const XLA_Shape& shape) {
  if (is_tuple(shape)) return static_cast<int64_t>(sizeof(void*)) * shape.ntuple_shapes;
  int64_t bytes = element_size(shape.element_type);
  for (int64_t i = 0; i < shape.dimensions.size; ++i) bytes *= elements(shape.dimensions)[i];
  return bytes;
}

XLA_Shape copy_for_device(const XLA_Shape& shape) {
  XLA_Shape made{};
  made.element_type = shape.element_type;
  made.dimensions = copy(shape.dimensions);
  made.dynamic_dimensions = copy(shape.dynamic_dimensions);
  made.ntuple_shapes = shape.ntuple_shapes;
  if (shape.ntuple_shapes > 0) made.tuple_shapes = new XLA_Shape[static_cast<size_t>(shape.ntuple_shapes)];
  for (int i = 0; i < shape.ntuple_shapes; ++i) made.tuple_shapes[i] = copy_for_device(shape.tuple_shapes[i]);
  made.has_layout = shape.has_layout || element_size(shape.element_type) > 0;
  if (made.has_layout) {
    made.layout = shape.has_layout ? copy_layout(shape.layout) : make_row_major(shape.dimensions.size);
  }
  return made;
}

void destroy(XLA_Shape& shape) {
  destroy_list(shape.dimensions);
  destroy_list(shape.dynamic_dimensions);
  for (int i = 0; i < shape.ntuple_shapes; ++i) destroy(shape.tuple_shapes[i]);
  if (shape.ntuple_shapes > 0) delete[] shape.tuple_shapes;
  if (!shape.has_layout) return;
  XLA_Layout& layout = shape.layout;
  destroy_list(layout.minor_to_major);
  destroy_list(layout.dim_level_types);
  destroy_list(layout.dim_unique);
  destroy_list(layout.dim_ordered);
  XLA_Tile* tiles = is_inlined(layout.tiles) ? layout.tiles.inlined : layout.tiles.heap;
  for (int64_t i = 0; i < layout.tiles.size; ++i) destroy_list(tiles[i].dimensions);
  destroy_list(layout.tiles);
}

bool is_row_major(const XLA_Shape& shape) {
  if (!shape.has_layout) return true;
  const Int64List& order = shape.layout.minor_to_major;
  for (int64_t i = 0; i < order.size; ++i) {
    if (elements(order)[i] != order.size - 1 - i) return false;
  }
  return shape.layout.tiles.size == 0;
}

bool has_same_order(const XLA_Shape& one, const XLA_Shape& other) {
  if (!one.has_layout || !other.has_layout) return true;
  const Int64List& order = one.layout.minor_to_major;
  const Int64List& other_order = other.layout.minor_to_major;
  return std::equal(elements(order), elements(order) + order.size, elements(other_order),
                    elements(other_order) + other_order.size);
}

size_t write(const XLA_Shape& shape, char* text, size_t capacity) {
  Text written(text, capacity);
  add(written, shape);
  return written.size();
}

}  // namespace framedex::tpu_legacy
