#include "pjrt/behaviours/clients.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace framedex::behaviours {
namespace {

struct LiveClients {
  std::mutex mutex;
  std::vector<PJRT_Client*> clients;
};

LiveClients& live() {
  static auto* const all = new LiveClients;  // never destroyed: clients live until the process ends
  return *all;
}

const PJRT_Api* asked = nullptr;

}  // namespace

void add_client_functions(PJRT_Api& table, const PJRT_Api& plugin) {
  asked = &plugin;
  if (plugin.PJRT_Client_Create != nullptr) {
    table.PJRT_Client_Create = [](PJRT_Client_Create_Args* args) {
      PJRT_Error* error = asked->PJRT_Client_Create(args);
      if (error != nullptr) return error;
      std::lock_guard lock(live().mutex);
      live().clients.push_back(args->client);
      return error;
    };
  }
  if (plugin.PJRT_Client_Destroy != nullptr) {
    table.PJRT_Client_Destroy = [](PJRT_Client_Destroy_Args* args) {
      {
        std::lock_guard lock(live().mutex);
        std::vector<PJRT_Client*>& clients = live().clients;
        clients.erase(std::remove(clients.begin(), clients.end(), args->client), clients.end());
      }
      return asked->PJRT_Client_Destroy(args);
    };
  }
}

size_t live_clients(PJRT_Client** clients, size_t room) {
  std::lock_guard lock(live().mutex);
  const std::vector<PJRT_Client*>& all = live().clients;
  std::copy_n(all.begin(), std::min(room, all.size()), clients);
  return all.size();
}

}  // namespace framedex::behaviours
