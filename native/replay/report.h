// The results of a replay: records on a pipe, each a line of words whose last is the size of the bytes that follow.
//
//   client 0 DEVICES MINOR SIZE             the platform's name; the minor version of the plug-in's API
//   begin ID 0                              an operation that may crash begins
//   failed ID CODE SIZE                     the message of its error
//   skipped ID 0                            its executable or one of its buffers is missing
//   read ID DEVICE INDEX TYPE DIMENSIONS CONTENT SIZE      the content of a buffer; no bytes if it is as recorded
//   output ID DEVICE INDEX TYPE DIMENSIONS CONTENT SIZE    the same for a result of an execution
//   inexact ID COUNT 0                     FFI handlers got arguments other than the recorded ones COUNT times
//   unusable 0 CODE SIZE                   the reason why the plan or the plug-in cannot be used
//   end 0 0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace framedex::replay {

class Report {
 public:
  explicit Report(int descriptor) : descriptor_(descriptor) {}
  // Throws std::system_error if the reader is gone.
  void write(std::initializer_list<std::string> words, std::string_view bytes = {});

 private:
  void write_all(std::string_view bytes);

  int descriptor_;
};

}  // namespace framedex::replay
