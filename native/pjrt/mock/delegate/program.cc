#include "pjrt/mock/delegate/program.h"

#include "pjrt/mock/delegate/encoding.h"

namespace framedex::mock {
namespace {

template <typename Integer>
std::vector<Integer> integers(Decoder& decoder) {
  std::vector<Integer> values;
  decoder.each([&] { values.push_back(static_cast<Integer>(decoder.integer())); });
  return values;
}

Layout layout(Decoder& decoder) {
  Layout found{integers<int64_t>(decoder), {}, {}};
  decoder.each([&] {
    std::vector<int64_t> tile = integers<int64_t>(decoder);
    found.tile_ranks.push_back(tile.size());
    found.tile_dims.insert(found.tile_dims.end(), tile.begin(), tile.end());
  });
  return found;
}

std::vector<ProgramValue> values(Decoder& decoder) {
  std::vector<ProgramValue> found;
  decoder.each([&] {
    auto type = static_cast<PJRT_Buffer_Type>(decoder.integer());
    std::vector<int64_t> dims = integers<int64_t>(decoder);
    auto shape = std::make_shared<Shape>(type, std::move(dims), layout(decoder));
    found.push_back({std::move(shape), decoder.text()});
  });
  return found;
}

}  // namespace

int64_t Program::memory_size(std::string_view statistic) const {
  for (const auto& [known, bytes] : memory) {
    if (known == statistic) return bytes;
  }
  return 0;
}

bool read_description(std::string_view bytes, Program& program) {
  Decoder decoder(bytes);
  program.name = decoder.text();
  program.replicas = decoder.integer();
  program.partitions = decoder.integer();
  program.device_ids = integers<int>(decoder);
  program.cpu_ordinals = integers<int>(decoder);
  program.device_assignment = decoder.text();
  program.parameters = values(decoder);
  program.results = values(decoder);
  decoder.each([&] {
    auto parameter = static_cast<size_t>(decoder.integer());
    program.donated.emplace_back(parameter, decoder.integer());
  });
  program.is_written.resize(program.parameters.size());
  for (const auto& [parameter, result] : program.donated) {
    if (parameter >= program.parameters.size()) return false;
    program.is_written[parameter] = true;
  }
  program.optimized = decoder.text();
  decoder.each([&] {
    std::string name = decoder.text();
    program.costs.emplace_back(std::move(name), decoder.real());
  });
  decoder.each([&] {
    std::string name = decoder.text();
    program.memory.emplace_back(std::move(name), decoder.integer());
  });
  program.fingerprint = decoder.text();
  program.has_transfers = decoder.integer() != 0;
  return decoder.is_complete();
}

}  // namespace framedex::mock
