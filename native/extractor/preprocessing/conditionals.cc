#include "extractor/preprocessing/conditionals.h"

#include <cstring>

#include "extractor/source/text.h"

namespace framedex::extractor {
namespace {

constexpr size_t kDeepest = 200;  // nested conditionals; deeper ones are not processed

bool is_foreign(std::string_view condition) {
  const std::string_view bare = condition.substr(skip_space(condition, 0));
  if (!bare.empty() && bare[0] == '0' && (bare.size() == 1 || !is_word(bare[1]))) return true;
  if (bare.find('!') != std::string_view::npos) return false;
  for (const char* system : {"_WIN32", "_MSC_VER", "__APPLE__", "_WIN64", "PLATFORM_WINDOWS", "__ANDROID__"}) {
    if (bare.find(system) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

int Conditionals::directive(std::string_view text, size_t begin, size_t end, int depth, char last) {
  const size_t start = skip_space(text, begin + 1);
  const size_t stop = find_word_end(text, start);
  const std::string_view keyword = text.substr(start, stop - start);
  if (starts_with(keyword, "if")) {
    if (open_.size() >= kDeepest) return depth;
    open_.push_back({depth, {}, end, keyword != "ifndef" && is_foreign(text.substr(stop, end - stop))});
  } else if (!open_.empty() && (starts_with(keyword, "el"))) {
    Conditional& conditional = open_.back();
    close_branch(conditional, begin, depth, last);
    conditional.begin = end;
    conditional.is_foreign = keyword != "else" && is_foreign(text.substr(stop, end - stop));
    return conditional.depth;
  } else if (!open_.empty() && keyword == "endif") {
    close_branch(open_.back(), begin, depth, last);
    depth = choose(open_.back());
    open_.pop_back();
  }
  return depth;
}

void Conditionals::close_branch(Conditional& conditional, size_t at, int depth, char last) {
  const bool is_whole = std::strchr(";{},:\n", last) != nullptr;
  conditional.branches.push_back(
      {{conditional.begin, at}, depth - conditional.depth, is_whole, conditional.is_foreign});
}

int Conditionals::choose(const Conditional& conditional) {
  const std::vector<Branch>& branches = conditional.branches;
  bool are_whole = true;
  for (const Branch& branch : branches) are_whole &= branch.depth == 0 && branch.is_whole;
  if (branches.size() == 1 || are_whole) return conditional.depth + (branches.size() == 1 ? branches[0].depth : 0);
  size_t kept = 0;
  while (kept + 1 < branches.size() && branches[kept].is_foreign) ++kept;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (i != kept) dropped_.push_back(branches[i].span);
  }
  return conditional.depth + branches[kept].depth;
}

}  // namespace framedex::extractor
