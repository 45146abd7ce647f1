// An SQLite database, as the bytes of its file, with one table of integers: rows that are many come into an index this
// way, since copying them from a database that is attached takes SQLite a fifth of what inserting them takes.
// The format is described at https://www.sqlite.org/fileformat2.html.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace framedex::sqlite_image {

// A value that is NULL.
inline constexpr int64_t kNull = INT64_MIN;

// A column of a table: `size` values, of which each row has one.
struct Column {
  const int64_t* values;
};

// The database with a table `rows`, whose columns are `c0`, `c1`, ...; the first is its INTEGER PRIMARY KEY, in
// ascending order. At most 64 columns.
std::string image_of(const std::vector<Column>& columns, size_t size);

}  // namespace framedex::sqlite_image
