#include "capture_reader/call_records.h"

#include "recorder/format/call_heads.h"

namespace framedex::capture {
namespace {

// Removes the head of a call or return from the front of the record's body, and unused bytes from its end.
template <typename Head>
bool take_head(const Record& record, Body* body, Head* head) {
  if (!record.is_short()) {
    *head = body->read<Head>();
  } else if (std::string_view bytes = body->take(kShortSize<Head>); record.base && !body->is_broken()) {
    read_short(bytes.data(), record.detail, *record.base, head);
  } else {
    return false;
  }
  body->drop(record.detail & kUnusedBytes);
  return !body->is_broken();
}

}  // namespace

bool read_start(const Record& record, CallStart* start) {
  Body body = record.body;
  CallRecord call;
  if (!take_head(record, &body, &call)) return false;
  *start = {call.sequence, call.time, call.function, call.stack, body};
  return true;
}

bool read_end(const Record& record, CallEnd* end) {
  Body body = record.body;
  ReturnRecord back;
  if (!take_head(record, &body, &back)) return false;
  *end = {back.sequence, back.time, back.error, body};
  return true;
}

}  // namespace framedex::capture
