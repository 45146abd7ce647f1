#include "pjrt/mock/program.h"

#include "pjrt/mock/strided_copy.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {

Shape::Shape(PJRT_Buffer_Type element_type, std::vector<int64_t> dimensions)
    : Shape(element_type, dimensions, row_major_order(dimensions.size())) {}

Shape::Shape(PJRT_Buffer_Type element_type, std::vector<int64_t> dimensions, std::vector<int64_t> layout)
    : type(element_type),
      dims(std::move(dimensions)),
      minor_to_major(std::move(layout)),
      bytes(pjrt::dense_bytes(type, dims.data(), dims.size())) {}

}  // namespace framedex::mock
