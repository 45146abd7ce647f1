#include "replay/plan.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "pjrt_enumerators.h"

namespace framedex::replay {
namespace {

constexpr std::string_view kHeader = "framedex-plan 1";
constexpr int kBufferTypes = 256;  // more than any version of the API has

// The words of a line. Its methods throw std::runtime_error if a word is missing or malformed.
class Words {
 public:
  Words(std::string_view line, size_t number) : line_(line), number_(number) {}

  [[noreturn]] void fail(const std::string& problem) const {
    throw std::runtime_error("line " + std::to_string(number_) + " of the plan: " + problem);
  }
  std::string_view word() {
    if (line_.empty()) fail("an operand is missing");
    size_t end = line_.find(' ');
    std::string_view word = line_.substr(0, end);
    line_ = end == std::string_view::npos ? std::string_view() : line_.substr(end + 1);
    if (word.empty()) fail("an operand is empty");
    return word;
  }
  int64_t number() {
    std::string_view text = word();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail(std::string(text) + " is not a number");
    return value;
  }
  // A number of words that follow, so it cannot exceed what is left of the line.
  size_t count() {
    int64_t value = number();
    if (value < 0 || static_cast<uint64_t>(value) > line_.size()) fail(std::to_string(value) + " is not a count");
    return static_cast<size_t>(value);
  }
  std::vector<int64_t> numbers(size_t count) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; ++i) values.push_back(number());
    return values;
  }
  bool is_at_end() const { return line_.empty(); }
  // The name of a file in the capture; never a path.
  std::string file() { return name_of("0123456789abcdef-"); }
  // The names of such files, with commas.
  std::string files() { return name_of("0123456789abcdef-,"); }
  // A percent-encoded text.
  std::string decoded() {
    std::string_view text = word();
    std::string bytes;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        bytes += text[i];
        continue;
      }
      unsigned value = 0;
      auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + std::min(i + 3, text.size()), value, 16);
      if (error != std::errc() || end != text.data() + i + 3) fail("a text is malformed");
      bytes += static_cast<char>(value);
      i += 2;
    }
    return bytes;
  }
  PJRT_Buffer_Type type() {
    std::string_view name = word();
    for (int value = 0; value < kBufferTypes; ++value) {
      const char* known = pjrt::enumerator(static_cast<PJRT_Buffer_Type>(value));
      if (known != nullptr && name == known) return static_cast<PJRT_Buffer_Type>(value);
    }
    fail(std::string(name) + " is not an element type");
  }
  void end() const {
    if (!line_.empty()) fail("it has too many operands");
  }

 private:
  std::string name_of(const char* characters) {
    std::string name(word());
    if (name.find_first_not_of(characters) != std::string::npos) fail(name + " is not the name of a content");
    return name;
  }

  std::string_view line_;
  size_t number_;
};

Action action_of(std::string_view name, const Words& words) {
  static constexpr std::pair<std::string_view, Action> kActions[] = {
      {"compile", Action::kCompile}, {"send", Action::kSend},     {"execute", Action::kExecute},
      {"copy", Action::kCopy},       {"read", Action::kRead},     {"delete", Action::kDelete},
      {"destroy", Action::kDestroy}, {"unload", Action::kUnload},
  };
  for (const auto& [known, action] : kActions) {
    if (name == known) return action;
  }
  words.fail(std::string(name) + " is not an operation");
}

void parse_callbacks(Words& words, Operation& operation) {
  operation.send_channels = words.numbers(words.count());
  operation.receive_channels = words.numbers(words.count());
  for (size_t count = words.count(); count > 0; --count) {
    CallbackResult& result = operation.callback_results.emplace_back();
    int64_t device = words.number();
    if (device < 0 || static_cast<size_t>(device) >= operation.devices) words.fail("an answer names an unknown device");
    result.device = static_cast<size_t>(device);
    result.channel = words.number();
    result.content = words.file();
  }
}

void parse_execution(Words& words, Operation& operation) {
  operation.executable = words.number();
  operation.launch = words.number();
  operation.device = words.number();
  operation.devices = words.count();
  operation.arguments = words.count();
  operation.outputs = words.count();
  size_t buffers = 0;
  if (__builtin_mul_overflow(operation.devices, operation.arguments + operation.outputs, &buffers)) {
    words.fail("it has too many buffers");
  }
  operation.buffers = words.numbers(buffers);
  operation.non_donatable = words.numbers(words.count());
  if (!words.is_at_end()) parse_callbacks(words, operation);
}

CreateOption parse_option(Words& words) {
  words.number();
  CreateOption option;
  option.name = words.decoded();
  option.kind = words.word();
  if (!words.is_at_end()) option.value = words.decoded();
  return option;
}

HandlerResult parse_handler_result(Words& words) {
  words.number();
  HandlerResult result;
  result.target = words.decoded();
  result.signature = words.number();
  result.arguments = words.file();
  result.content = words.file();
  return result;
}

Operation parse_operation(std::string_view name, Words& words) {
  Operation operation;
  operation.action = action_of(name, words);
  operation.id = words.number();
  switch (operation.action) {
    case Action::kCompile:
      operation.executable = words.number();
      operation.program = words.file();
      operation.options = words.file();
      operation.format = words.word();
      break;
    case Action::kSend:
      operation.buffer = words.number();
      operation.device = words.number();
      operation.memory = words.word();
      operation.type = words.type();
      operation.content = words.files();
      operation.dimensions = words.numbers(words.count());
      break;
    case Action::kExecute:
      parse_execution(words, operation);
      break;
    case Action::kCopy:
      operation.buffer = words.number();
      operation.source = words.number();
      operation.device = words.number();
      operation.memory = words.word();
      break;
    case Action::kRead:
      operation.buffer = words.number();
      operation.content = words.file();
      break;
    case Action::kDelete:
    case Action::kDestroy:
      operation.buffer = words.number();
      break;
    case Action::kUnload:
      operation.executable = words.number();
      break;
  }
  return operation;
}

void parse_line(Words words, Plan& plan) {
  std::string_view name = words.word();
  if (name == "option") {
    plan.options.push_back(parse_option(words));
  } else if (name == "answer") {
    plan.handler_results.push_back(parse_handler_result(words));
  } else {
    plan.operations.push_back(parse_operation(name, words));
  }
  words.end();
}

}  // namespace

Plan parse_plan(std::string_view text) {
  Plan plan;
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) throw std::runtime_error("the plan is truncated");
    std::string_view line = text.substr(0, end);
    text = text.substr(end + 1);
    if (number > 1) {
      parse_line(Words(line, number), plan);
    } else if (line != kHeader) {
      throw std::runtime_error("this is not a plan of version 1");
    }
  }
  return plan;
}

}  // namespace framedex::replay
