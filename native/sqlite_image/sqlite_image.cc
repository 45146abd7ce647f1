#include "sqlite_image/sqlite_image.h"

#include <array>
#include <cstring>
#include <utility>

namespace framedex::sqlite_image {
namespace {

constexpr size_t kPageSize = 32768;
constexpr size_t kFileHeaderSize = 100;
constexpr uint8_t kTableLeaf = 0x0D;
constexpr uint8_t kTableInterior = 0x05;
constexpr size_t kMaxRowSize = 64 * 9 + 64 + 32;

// Writes big-endian, as everything in the file.
void put(char* target, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) target[i] = static_cast<char>(value >> 8 * (bytes - 1 - i));
}

// Writes a value below 2^56, with seven bits per byte.
size_t put_varint(char* target, uint64_t value) {
  std::array<char, 10> digits;  // of base 128, the last one first
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>(value & 0x7F);
    value >>= 7;
  } while (value != 0);
  for (size_t i = 0; i < count; ++i) target[i] = static_cast<char>(digits[count - 1 - i] | (i + 1 < count ? 0x80 : 0));
  return count;
}

// The storage class of a value.
struct SerialType {
  char type;
  uint8_t bytes;
};

SerialType serial_type(int64_t value) {
  if (value == kNull) return {0, 0};
  if (value == 0) return {8, 0};
  if (value == 1) return {9, 0};
  uint64_t size = static_cast<uint64_t>(value < 0 ? ~value : value);
  if (size < 0x80) return {1, 1};
  if (size < 0x8000) return {2, 2};
  if (size < 0x800000) return {3, 3};
  if (size < 0x80000000u) return {4, 4};
  if (size < 0x800000000000u) return {5, 6};
  return {6, 8};
}

class Pages {
 public:
  Pages() : bytes_(kPageSize, '\0') {}  // the schema's page, which finish() fills

  // Adds a row to the last leaf.
  void add(int64_t key, const char* payload, size_t size) {
    std::array<char, kMaxRowSize> cell;
    size_t length = put_varint(cell.data(), size);
    length += put_varint(cell.data() + length, static_cast<uint64_t>(key));
    std::memcpy(cell.data() + length, payload, size);
    length += size;
    if (open_ == 0 || room() < length + 2) begin_leaf();
    content_ -= length;
    std::memcpy(&bytes_[open_ + content_], cell.data(), length);
    put(&bytes_[open_ + kLeafHeader + 2 * cells_], content_, 2);
    ++cells_;
    last_key_ = key;
  }

  std::string finish(const std::string& statement) {
    if (open_ == 0) begin_leaf();
    end_leaf();
    uint32_t root = root_above(std::move(leaves_));
    add_schema(statement, root);
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kLeafHeader = 8;
  static constexpr size_t kInteriorHeader = 12;
  struct Child {
    uint32_t page;
    int64_t last_key;
  };

  size_t room() const { return content_ - (kLeafHeader + 2 * cells_); }

  uint32_t new_page() {
    bytes_.append(kPageSize, '\0');
    return static_cast<uint32_t>(bytes_.size() / kPageSize);
  }

  void begin_leaf() {
    if (open_ != 0) end_leaf();
    open_ = size_t{new_page() - 1} * kPageSize;
    content_ = kPageSize;
    cells_ = 0;
  }

  void end_leaf() {
    end_page(open_, kTableLeaf, cells_, content_);
    leaves_.push_back({static_cast<uint32_t>(open_ / kPageSize) + 1, last_key_});
  }

  void end_page(size_t begin, uint8_t type, size_t cells, size_t content) {
    bytes_[begin] = static_cast<char>(type);
    put(&bytes_[begin + 3], cells, 2);
    put(&bytes_[begin + 5], content, 2);
  }

  // Adds levels of pages above these until there is one root.
  uint32_t root_above(std::vector<Child> children) {
    while (children.size() > 1) {
      std::vector<Child> parents;
      for (size_t next = 0; next < children.size();) next = add_interior(children, next, &parents);
      children = std::move(parents);
    }
    return children.front().page;
  }

  // Adds a page above as many children as fit; the last of them is its right-most pointer. Returns the first remaining
  // child. A page takes at least two, because one child alone would leave it without a cell.
  size_t add_interior(const std::vector<Child>& children, size_t next, std::vector<Child>* parents) {
    uint32_t page = new_page();
    size_t begin = size_t{page - 1} * kPageSize;
    size_t content = kPageSize;
    size_t cells = 0;
    for (; next + 1 < children.size(); ++next) {
      std::array<char, 16> cell;
      put(cell.data(), children[next].page, 4);
      size_t length = 4 + put_varint(cell.data() + 4, static_cast<uint64_t>(children[next].last_key));
      bool is_full = content - (kInteriorHeader + 2 * cells) < length + 2 + 16;
      if (is_full && next + 2 < children.size()) break;
      content -= length;
      std::memcpy(&bytes_[begin + content], cell.data(), length);
      put(&bytes_[begin + kInteriorHeader + 2 * cells], content, 2);
      ++cells;
    }
    put(&bytes_[begin + 8], children[next].page, 4);
    end_page(begin, kTableInterior, cells, content);
    parents->push_back({page, children[next].last_key});
    return next + 1;
  }

  void add_schema(const std::string& statement, uint32_t root) {
    std::string row = schema_row(statement, root);
    std::array<char, 20> head;
    size_t length = put_varint(head.data(), row.size());
    length += put_varint(head.data() + length, 1);
    size_t content = kPageSize - length - row.size();
    std::memcpy(&bytes_[content], head.data(), length);
    std::memcpy(&bytes_[content + length], row.data(), row.size());
    put(&bytes_[kFileHeaderSize + kLeafHeader], content, 2);
    end_page(kFileHeaderSize, kTableLeaf, 1, content);
    put_file_header(root);
  }

  static std::string schema_row(const std::string& statement, uint32_t root) {
    const std::array<std::string, 3> texts{"table", "rows", "rows"};  // type, name, tbl_name
    std::array<char, 32> types;
    size_t length = 1;
    for (const std::string& text : texts) length += put_varint(&types[length], text.size() * 2 + 13);
    types[length++] = 4;  // rootpage: an integer of four bytes
    length += put_varint(&types[length], statement.size() * 2 + 13);
    types[0] = static_cast<char>(length);
    std::string row(types.data(), length);
    for (const std::string& text : texts) row += text;
    std::array<char, 4> page;
    put(page.data(), root, page.size());
    row.append(page.data(), page.size());
    return row + statement;
  }

  void put_file_header(uint32_t root) {
    char* header = bytes_.data();
    std::memcpy(header, "SQLite format 3", 16);
    put(header + 16, kPageSize, 2);
    header[18] = header[19] = 1;  // a rollback journal
    header[21] = 64;              // payload fractions, which are fixed
    header[22] = header[23] = 32;
    put(header + 24, 1, 4);  // the change counter; below, its value when the size was written
    put(header + 28, bytes_.size() / kPageSize, 4);
    // The schema cookie. A statement prepared for another image, with the table's root elsewhere, must detect the
    // change.
    put(header + 40, root, 4);
    put(header + 44, 4, 4);  // schema format
    put(header + 56, 1, 4);  // UTF-8
    put(header + 92, 1, 4);
    put(header + 96, 3040001, 4);  // version of an SQLite that supports this format
  }

  std::string bytes_;
  size_t open_ = 0;  // start of the leaf being filled; 0: none
  size_t content_ = 0;
  size_t cells_ = 0;
  int64_t last_key_ = 0;
  std::vector<Child> leaves_;
};

std::string statement_of(size_t columns) {
  std::string statement = "CREATE TABLE rows(c0 INTEGER PRIMARY KEY";
  for (size_t i = 1; i < columns; ++i) statement += ", c" + std::to_string(i) + " INTEGER";
  return statement + ")";
}

}  // namespace

std::string image_of(const std::vector<Column>& columns, size_t size) {
  Pages pages;
  std::array<char, kMaxRowSize> row;
  const size_t types = 1 + columns.size();  // the header, whose size is one byte
  row[0] = static_cast<char>(types);
  row[1] = 0;  // the key is stored as the row id
  for (size_t i = 0; i < size; ++i) {
    size_t length = types;
    for (size_t column = 1; column < columns.size(); ++column) {
      int64_t value = columns[column].values[i];
      SerialType type = serial_type(value);
      row[1 + column] = type.type;
      put(&row[length], static_cast<uint64_t>(value), type.bytes);
      length += type.bytes;
    }
    pages.add(columns[0].values[i], row.data(), length);
  }
  return pages.finish(statement_of(columns.size()));
}

}  // namespace framedex::sqlite_image
