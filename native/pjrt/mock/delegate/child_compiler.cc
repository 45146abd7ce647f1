#include "pjrt/mock/delegate/child_compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <mutex>
#include <optional>

#include "pjrt/mock/delegate/delegate.h"
#include "pjrt/mock/delegate/encoding.h"
#include "pjrt/mock/delegate/execution_threads.h"

namespace framedex::mock {
namespace {

// A busy holder of the GIL yields it every 5 ms, so six such threads take 30 ms. Stopping too early costs only the
// start of a child, about 0.7 s.
constexpr std::chrono::milliseconds kGilTimeout{200};
constexpr size_t kShownOfStderr = 2000;  // characters, from the end

struct Interpreter {
  std::string executable;
  std::vector<std::string> path;  // sys.path
};

struct {
  std::mutex mutex;
  std::optional<Interpreter> interpreter;
} remembered;

std::optional<Interpreter> remembered_interpreter() {
  std::lock_guard lock(remembered.mutex);
  return remembered.interpreter;
}

// An in-memory file: it accepts any amount of data before a reader exists.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("framedex", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }

  // Writes the bytes and seeks to the start. Returns false if there is not enough memory.
  bool write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return lseek(descriptor_, 0, SEEK_SET) == 0;
  }

  std::string content() const {
    std::string bytes(static_cast<size_t>(std::max<off_t>(lseek(descriptor_, 0, SEEK_END), 0)), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      ssize_t got = pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

 private:
  const int descriptor_;
};

std::string request_for(const std::vector<PJRT_DeviceDescription*>& devices, const ProgramSource& source) {
  Encoder request;
  request.integer(static_cast<int64_t>(devices.size()));
  for (const PJRT_DeviceDescription* device : devices) {
    request.integer(device->id);
    request.integer(device->process_index);
  }
  std::vector<std::string> types = element_type_names();
  request.integer(static_cast<int64_t>(types.size()));
  for (const std::string& type : types) request.text(type);
  request.text(source.format);
  request.text(source.code);
  request.text(source.options);
  return request.bytes();
}

// Returns the program's environment, with XLA_FLAGS for example, but without the variables that would make the child
// open the mock or record.
std::vector<std::string> child_environment() {
  std::vector<std::string> kept = {"JAX_PLATFORMS=cpu", "FRAMEDEX_RECORD=0", "FRAMEDEX_FFI=0"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view variable(*entry);
    bool is_left_out = false;
    for (std::string_view prefix : {"FRAMEDEX_", "TPU_LIBRARY_PATH=", "JAX_PLATFORMS=", "LD_PRELOAD="}) {
      is_left_out = is_left_out || variable.substr(0, prefix.size()) == prefix;
    }
    if (!is_left_out) kept.emplace_back(variable);
  }
  return kept;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs mock_tpu/child.py to its end. Returns the reason for a failure, empty for success.
std::string run_child(const Interpreter& interpreter, const MemoryFile& input, const MemoryFile& output,
                      const MemoryFile& errors) {
  // -I: the child imports only from the program's sys.path, which is in its arguments.
  std::vector<std::string> arguments = {interpreter.executable, "-I", package_folder() + "/child.py",
                                        std::to_string(getpid())};
  arguments.insert(arguments.end(), interpreter.path.begin(), interpreter.path.end());
  std::vector<std::string> environment = child_environment();

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors.descriptor(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  int failure = posix_spawn(&child, interpreter.executable.c_str(), &files, &attributes, pointers_to(arguments).data(),
                            pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) return "could not be started: " + std::string(std::strerror(failure));

  int ending = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &ending, 0);
  } while (ended < 0 && errno == EINTR);
  // If the program waits for all children or ignores SIGCHLD, this child's exit status is not available.
  if (ended != child) return {};
  if (WIFSIGNALED(ending)) return "was ended by signal " + std::to_string(WTERMSIG(ending));
  return WEXITSTATUS(ending) == 0 ? std::string() : "ended with exit status " + std::to_string(WEXITSTATUS(ending));
}

Status missing_answer(const Interpreter& interpreter, const std::string& ending, const std::string& said) {
  std::string tail = said.substr(said.size() - std::min(said.size(), kShownOfStderr));
  return {PJRT_Error_Code_INTERNAL, "the process in which framedex's mock TPU compiles ahead of time (" +
                                        interpreter.executable + ") " +
                                        (ending.empty() ? "returned an incomplete answer" : ending) + ".\n" + tail};
}

}  // namespace

void remember_interpreter() {
  if (!python::is_usable()) return;
  Interpreter found;
  {
    python::Gil gil;
    python::Reference sys = python::loaded_module("sys");
    python::Reference executable = sys ? python::attribute(sys.get(), "executable") : python::Reference();
    python::Reference path = executable ? python::attribute(sys.get(), "path") : python::Reference();
    if (executable) found.executable = python::to_text(executable.get()).value_or("");
    for (size_t i = 0; path && i < python::size(path.get()); ++i) {
      python::Reference folder = python::item(path.get(), i);
      if (folder) found.path.push_back(python::to_text(folder.get()).value_or(""));
    }
    python::take_error();  // values that are not text are omitted
  }
  std::lock_guard lock(remembered.mutex);
  if (!found.executable.empty()) remembered.interpreter = std::move(found);
}

bool can_take_gil() {
  // Another thread requests the GIL, because this thread could not stop waiting for it. ExecutionThreads waits for such
  // threads when the interpreter exits.
  auto taken = std::make_shared<std::promise<void>>();
  std::future<void> is_taken = taken->get_future();
  python::WithoutGil without_gil;
  bool is_tried = ExecutionThreads::instance().run_if_open([taken] {
    if (python::is_usable()) python::Gil();
    taken->set_value();
  });
  return is_tried && is_taken.wait_for(kGilTimeout) == std::future_status::ready;
}

std::shared_ptr<const Program> compile_in_child(const std::vector<PJRT_DeviceDescription*>& devices,
                                                ProgramSource source, Status& status) {
  std::optional<Interpreter> interpreter = remembered_interpreter();
  if (!interpreter) {
    status = {
        PJRT_Error_Code_FAILED_PRECONDITION,
        "framedex's mock TPU cannot get the GIL of the process's Python to compile. It compiles in a child process "
        "only after a client was created."};
    return nullptr;
  }
  MemoryFile input;
  MemoryFile output;
  MemoryFile errors;
  if (output.descriptor() < 0 || errors.descriptor() < 0 || !input.write_all(request_for(devices, source))) {
    status = {PJRT_Error_Code_RESOURCE_EXHAUSTED,
              "no memory to pass a program to a child process: " + std::string(std::strerror(errno))};
    return nullptr;
  }
  std::string ending = run_child(*interpreter, input, output, errors);
  std::string answered = output.content();
  Decoder answer(answered);
  std::string refusal = answer.text();
  std::string description = answer.text();
  auto program = std::make_shared<Program>();
  if (answer.is_complete() && !refusal.empty()) {
    status = python::status_of(std::move(refusal));
    return nullptr;
  }
  if (!answer.is_complete() || !read_description(description, *program)) {
    status = missing_answer(*interpreter, ending, errors.content());
    return nullptr;
  }
  program->source = std::move(source);
  return program;
}

}  // namespace framedex::mock
