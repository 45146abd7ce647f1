// Inserts this number of rows, like those of calls and objects, into a new database with prepared statements. This is
// the minimum time of SQLite for single rows.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void run(sqlite3* database, const char* statements) {
  char* error = NULL;
  if (sqlite3_exec(database, statements, NULL, NULL, &error) != SQLITE_OK) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

static void insert(sqlite3_stmt* statement, const sqlite3_int64* values, int count) {
  for (int i = 0; i < count; ++i) {
    if (values[i] < 0) {
      sqlite3_bind_null(statement, i + 1);
    } else {
      sqlite3_bind_int64(statement, i + 1, values[i]);
    }
  }
  if (sqlite3_step(statement) != SQLITE_DONE) exit(1);
  sqlite3_reset(statement);
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  sqlite3_int64 calls = atoll(arguments[2]);
  sqlite3_int64 objects = atoll(arguments[3]);
  sqlite3* database;
  unlink(arguments[1]);
  if (sqlite3_open(arguments[1], &database) != SQLITE_OK) return 1;
  run(database,
      "PRAGMA journal_mode = wal; PRAGMA synchronous = normal;"
      "CREATE TABLE call_rows(id INTEGER PRIMARY KEY, kind, inside, start, duration, arguments);"
      "CREATE TABLE object_rows(id INTEGER PRIMARY KEY, type, number, address, born, created_call, first_call, "
      "last_call,"
      " deleted_call, destroyed_call, uses, client, size);"
      "CREATE INDEX by_address ON object_rows(address); BEGIN");
  sqlite3_stmt* call;
  sqlite3_stmt* object;
  sqlite3_prepare_v2(database, "INSERT INTO call_rows VALUES (?, ?, ?, ?, ?, ?)", -1, &call, NULL);
  sqlite3_prepare_v2(database, "INSERT INTO object_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1, &object,
                     NULL);
  for (sqlite3_int64 i = 0; i < calls; ++i) {
    sqlite3_int64 values[] = {i + 1, i % 9, i % 9 == 3 ? 1 : -1, 1000000000 + 2500 * i, 200 + i % 1000, i % 48};
    insert(call, values, 6);
  }
  for (sqlite3_int64 i = 0; i < objects; ++i) {
    sqlite3_int64 row = i * calls / objects;
    sqlite3_int64 address = 0x7f0000000000 + 64 * (i % 8);
    sqlite3_int64 values[] = {i + 1,   i % 2, i / 2, address, 1000000000 + 2500 * row, row, row, row + 7, -1,
                              row + 7, 3,     1,     24};
    insert(object, values, 13);
  }
  sqlite3_finalize(call);
  sqlite3_finalize(object);
  run(database, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  return sqlite3_close(database) == SQLITE_OK ? 0 : 1;
}
