#include "pjrt/mock/arrays/shape.h"

#include <utility>

#include "pjrt/element_size.h"

namespace framedex::mock {

Shape::Shape(PJRT_Buffer_Type element_type, const std::vector<int64_t>& dimensions)
    : Shape(element_type, dimensions, row_major_layout(dimensions.size())) {}

Shape::Shape(PJRT_Buffer_Type element_type, std::vector<int64_t> dimensions, Layout answered_layout)
    : type(element_type),
      dims(std::move(dimensions)),
      layout(std::move(answered_layout)),
      bytes(pjrt::dense_bytes(type, dims.data(), dims.size())) {}

}  // namespace framedex::mock
