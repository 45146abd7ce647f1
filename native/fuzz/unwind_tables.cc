// Fuzzes .eh_frame entries: they give a rule, or libgcc handles them.
#include "fuzz/input.h"
#include "recorder/walks/frame_rule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  framedex::fuzz::Input input(data, size);
  auto begin = input.number<uint64_t>();
  auto distance = input.number<uint32_t>();
  std::string common = input.text();
  std::string function(input.rest());
  framedex::recorder::FrameRule rule = framedex::recorder::rule_of_entry({common, function}, begin, begin + distance);
  framedex::fuzz::require(framedex::recorder::FrameRule::fits(rule.cfa_offset()));
  return 0;
}
