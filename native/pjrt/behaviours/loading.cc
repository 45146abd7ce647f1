#include "pjrt/behaviours/loading.h"

#include <dlfcn.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "pjrt/behaviours/watched_call.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {
namespace {

namespace python = mock::python;

constexpr char kModule[] = "framedex_behaviour_loading";  // its unique name in sys.modules

// Returns the file of this library.
std::string library_path() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&load_from_environment), &library) == 0) return {};
  return library.dli_fname;
}

// Runs the files. Returns an error message, or an empty text for success. Needs the GIL.
std::string load(const std::string& files) {
  std::string library = library_path();
  std::string folder = library.substr(0, library.rfind('/') + 1) + "behaviour/loading";
  python::Reference module = python::import_from(folder, kModule);
  python::Reference load = module ? python::attribute(module.get(), "load") : python::Reference();
  python::Reference texts[] = {python::text(files), python::text(library)};
  python::Reference why = load ? python::call(load.get(), {texts[0].get(), texts[1].get()}) : python::Reference();
  if (!why) return python::take_error().message;
  return python::to_text(why.get()).value_or("");
}

std::string run_files(const std::string& files) {
  if (!python::is_usable())
    return "FRAMEDEX_BEHAVIOUR=" + files + " needs the program's Python; there is none that runs.";
  python::Gil gil;
  BehaviourScope inside;
  return load(files);
}

struct Loading {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread::id loader;
  bool is_done = false;
  std::string refusal;
};

Loading& loading() {
  static auto* const once = new Loading;  // never destroyed: tables are requested until the process ends
  return *once;
}

}  // namespace

std::string load_from_environment() {
  const char* files = std::getenv("FRAMEDEX_BEHAVIOUR");
  if (files == nullptr || *files == 0) return {};
  Loading& once = loading();
  {
    python::WithoutGil without_gil;
    std::unique_lock lock(once.mutex);
    if (once.loader == std::this_thread::get_id()) return once.refusal;
    if (once.loader != std::thread::id()) {
      once.changed.wait(lock, [&] { return once.is_done; });
      return once.refusal;
    }
    once.loader = std::this_thread::get_id();
  }
  std::string refusal = run_files(files);
  std::lock_guard lock(once.mutex);
  once.refusal = refusal;
  once.is_done = true;
  once.changed.notify_all();
  return refusal;
}

}  // namespace framedex::behaviours
