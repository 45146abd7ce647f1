// Fuzzes the formatting of FFI calls, with arbitrary numbers, names and nesting of arguments and attributes.
#include <deque>
#include <vector>

#include "ffi/call_text.h"
#include "ffi/frame_contents.h"
#include "fuzz/input.h"
#include "recorder/arguments.h"

namespace {

using framedex::fuzz::Input;

// The structs that XLA would pass, with their targets.
class Frame {
 public:
  explicit Frame(Input& input) : input_(input) {
    fill(frame_.args, frame_.args.args);
    fill(frame_.rets, frame_.rets.rets);
    attributes(frame_.attrs, 0);
  }
  const XLA_FFI_CallFrame& frame() const { return frame_; }

 private:
  template <typename List>
  void fill(List& list, void**& values) {
    using Type = std::remove_reference_t<decltype(*list.types)>;
    list.size = input_.number<uint8_t>() % 8;
    auto& types = keep(std::vector<Type>(static_cast<size_t>(list.size) + 1), &type_lists(Type{}));
    auto& pointers = keep(std::vector<void*>(static_cast<size_t>(list.size) + 1), &pointers_);
    for (size_t i = 0; i < static_cast<size_t>(list.size); ++i) {
      types[i] = static_cast<Type>(input_.number<uint8_t>() % 8 == 0 ? 7 : 1);
      pointers[i] = &buffer();
    }
    list.types = types.data();
    values = pointers.data();
  }
  std::deque<std::vector<XLA_FFI_ArgType>>& type_lists(XLA_FFI_ArgType) { return argument_types_; }
  std::deque<std::vector<XLA_FFI_RetType>>& type_lists(XLA_FFI_RetType) { return result_types_; }

  XLA_FFI_Buffer& buffer() {
    XLA_FFI_Buffer& made = keep(XLA_FFI_Buffer{}, &buffers_);
    made.dtype = static_cast<XLA_FFI_DataType>(input_.number<int8_t>());
    auto& dims = keep(std::vector<int64_t>(input_.number<uint8_t>() % 8), &dims_);
    for (int64_t& dim : dims) dim = input_.number<int64_t>();
    made.rank = static_cast<int64_t>(dims.size());
    made.dims = dims.data();
    return made;
  }

  void attributes(XLA_FFI_Attrs& made, int depth) {
    size_t count = depth > 16 ? 0 : input_.number<uint8_t>() % 6;
    auto& types = keep(std::vector<XLA_FFI_AttrType>(count + 1), &attribute_types_);
    auto& names = keep(std::vector<XLA_FFI_ByteSpan*>(count + 1), &names_);
    auto& values = keep(std::vector<void*>(count + 1), &pointers_);
    for (size_t i = 0; i < count; ++i) {
      types[i] = static_cast<XLA_FFI_AttrType>(input_.number<uint8_t>() % 5);
      names[i] = &span();
      values[i] = attribute(types[i], depth);
    }
    made.size = static_cast<int64_t>(count);
    made.types = types.data();
    made.names = names.data();
    made.attrs = values.data();
  }
  void* attribute(XLA_FFI_AttrType type, int depth) {
    switch (type) {
      case XLA_FFI_AttrType_ARRAY: {
        XLA_FFI_Array& array = keep(XLA_FFI_Array{}, &arrays_);
        array.dtype = static_cast<XLA_FFI_DataType>(input_.number<int8_t>());
        std::string& data = keep(input_.text(), &texts_);
        array.size = data.size() / 8;
        array.data = data.data();
        return &array;
      }
      case XLA_FFI_AttrType_DICTIONARY: {
        XLA_FFI_Attrs& dictionary = keep(XLA_FFI_Attrs{}, &dictionaries_);
        attributes(dictionary, depth + 1);
        return &dictionary;
      }
      case XLA_FFI_AttrType_SCALAR: {
        XLA_FFI_Scalar& scalar = keep(XLA_FFI_Scalar{}, &scalars_);
        scalar.dtype = static_cast<XLA_FFI_DataType>(input_.number<int8_t>());
        scalar.value = &keep(input_.number<uint64_t>(), &words_);
        return &scalar;
      }
      default:
        return &span();
    }
  }
  XLA_FFI_ByteSpan& span() {
    std::string& text = keep(input_.text(), &texts_);
    XLA_FFI_ByteSpan& made = keep(XLA_FFI_ByteSpan{}, &spans_);
    made.ptr = text.data();
    made.len = text.size();
    return made;
  }

  template <typename Value>
  static Value& keep(Value value, std::deque<Value>* kept) {
    return kept->emplace_back(std::move(value));
  }

  Input& input_;
  XLA_FFI_CallFrame frame_{};
  std::deque<std::vector<XLA_FFI_ArgType>> argument_types_;
  std::deque<std::vector<XLA_FFI_RetType>> result_types_;
  std::deque<std::vector<XLA_FFI_AttrType>> attribute_types_;
  std::deque<std::vector<void*>> pointers_;
  std::deque<std::vector<XLA_FFI_ByteSpan*>> names_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<XLA_FFI_Buffer> buffers_;
  std::deque<XLA_FFI_Array> arrays_;
  std::deque<XLA_FFI_Attrs> dictionaries_;
  std::deque<XLA_FFI_Scalar> scalars_;
  std::deque<XLA_FFI_ByteSpan> spans_;
  std::deque<std::string> texts_;
  std::deque<uint64_t> words_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Frame built(input);
  framedex::ffi::CallText text = framedex::ffi::describe_call(built.frame());
  for (const std::string& part : {text.arguments, text.results, text.attributes}) {
    framedex::fuzz::require(part.size() <= framedex::recorder::ArgumentWriter::kMaximumText);
  }
  framedex::fuzz::require(text.shapes == framedex::ffi::shapes_of(built.frame()));
  return 0;
}
