// Helpers for structs of the C APIs, which begin with their size. The caller or the plug-in may know fewer members.
#pragma once

namespace framedex::pjrt {

// Returns whether the caller's struct has the member: older callers pass shorter structs.
template <typename Struct, typename Member>
bool has(const Struct* arguments, Member Struct::* member) {
  const char* end = reinterpret_cast<const char*>(&(arguments->*member)) + sizeof(Member);
  return end <= reinterpret_cast<const char*>(arguments) + arguments->struct_size;
}

// Assigns to an output member if the caller's struct has it.
template <typename Struct, typename Member, typename Value>
void set(Struct* arguments, Member Struct::* member, Value value) {
  if (has(arguments, member)) arguments->*member = static_cast<Member>(value);
}

}  // namespace framedex::pjrt
