#include "tpu_legacy/program.h"

#include <dlfcn.h>

#include <mutex>

#include "tpu_legacy/status.h"

namespace framedex::tpu_legacy {
namespace {

namespace python = mock::python;
using python::Reference;

constexpr char kPackage[] = "tpu_legacy";          // the folder beside this library
constexpr char kModule[] = "framedex_tpu_legacy";  // its unique name in sys.modules

std::string package_folder() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&package_folder), &library) == 0) return kPackage;
  std::string path = library.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + kPackage;
}

// Sets the status from the Python exception. Call with the GIL.
bool fail_with_exception(TF_Status* status) {
  mock::Status error = python::take_error();
  fail(status, static_cast<TpuStatusCode>(error.code), error.message);
  return false;
}

bool check_python(TF_Status* status) {
  if (python::is_usable()) return true;
  fail(status, TpuStatusCode_failed_precondition,
       "framedex's mock TPU compiles and runs programs with the jaxlib of the process's Python; there is none that "
       "runs.");
  return false;
}

// Returns the package's compile function; null with the reason in `status`. The first caller imports it, under a lock
// for which no thread waits while it holds the GIL.
python::Object* compiling_function(TF_Status* status) {
  static std::mutex mutex;
  static auto* const function = new python::OwnedReference;
  python::WithoutGil without_gil;
  std::lock_guard lock(mutex);
  if (*function) return function->get();
  python::Gil gil;
  Reference package = python::import_from(package_folder(), kModule);
  Reference compile = package ? python::attribute(package.get(), "compile_program") : Reference();
  if (!compile) {
    fail_with_exception(status);
    return nullptr;
  }
  *function = std::move(compile);
  return function->get();
}

}  // namespace

bool Program::compile(std::string_view module, TF_Status* status) {
  if (!check_python(status)) return false;
  python::Object* compile = compiling_function(status);
  if (compile == nullptr) return false;
  python::Gil gil;
  Reference bytes = python::bytes(module);
  Reference program = bytes ? python::call(compile, {bytes.get()}) : Reference();
  Reference execute = program ? python::attribute(program.get(), "execute") : Reference();
  if (!execute) return fail_with_exception(status);
  execute_ = std::move(execute);
  return true;
}

bool Program::execute(const std::vector<const void*>& arguments, std::vector<std::string>& results,
                      TF_Status* status) const {
  if (!check_python(status)) return false;
  python::Gil gil;
  Reference addresses = python::new_list(arguments.size());
  for (size_t i = 0; addresses && i < arguments.size(); ++i) {
    python::set_item(addresses.get(), i, python::integer(reinterpret_cast<intptr_t>(arguments[i])));
  }
  Reference list = addresses ? python::call(execute_.get(), {addresses.get()}) : Reference();
  if (!list) return fail_with_exception(status);
  for (size_t i = 0; i < python::size(list.get()); ++i) {
    Reference item = python::item(list.get(), i);
    std::optional<std::string> bytes = item ? python::to_bytes(item.get()) : std::nullopt;
    if (!bytes) return fail_with_exception(status);
    results.push_back(std::move(*bytes));
  }
  return true;
}

}  // namespace framedex::tpu_legacy
