#include "capture_reader/call_records.h"

namespace framedex::capture {

bool read_start(const Record& record, CallStart* start) {
  Body body = record.body;
  auto call = body.read<CallRecord>();
  *start = {call.sequence, call.time, call.function, call.stack, body};
  return !body.is_broken();
}

bool read_end(const Record& record, CallEnd* end) {
  Body body = record.body;
  auto back = body.read<ReturnRecord>();
  *end = {back.sequence, back.time, back.error, body};
  return !body.is_broken();
}

}  // namespace framedex::capture
