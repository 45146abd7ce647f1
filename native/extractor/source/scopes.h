#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace framedex::extractor {

inline constexpr std::string_view kAnonymous = "(anonymous namespace)";
inline constexpr std::string_view kLambda = "(lambda)";

// In characters. Names of scopes within scopes grow with the square of a file, so that a small file could take all
// memory; the longest in XLA and JAX have 313 and 1,347.
inline constexpr size_t kLongestPath = 512;
inline constexpr size_t kLongestParameters = 2048;

enum class ScopeKind { kNamespace, kClass, kFunction };

// Something that names are inside of: where it ends, the path to it, and the definition that calls in it belong to.
struct Scope {
  uint32_t end;
  ScopeKind kind;
  int definition;      // -1: none
  std::string path;    // `a::S`
  std::string lookup;  // what lambdas in it are looked up by: its last name
};

// The scopes open at the current place of a walk in order of position.
class Scopes {
 public:
  Scopes() : open_{{UINT32_MAX, ScopeKind::kNamespace, -1, {}, {}}} {}

  void leave(uint32_t position) {
    while (open_.size() > 1 && open_.back().end <= position) open_.pop_back();
  }
  // Enters a scope. One whose path is too long is left out of the paths of what is in it.
  void enter(Scope scope) {
    if (scope.end > open_.back().end) scope.end = open_.back().end;
    if (scope.path.size() > kLongestPath) scope.path = open_.back().path;
    if (scope.lookup.size() > kLongestPath) scope.lookup.clear();
    open_.push_back(std::move(scope));
  }
  const Scope& inner() const { return open_.back(); }

  // The innermost open scope that is no class: the friend functions that a class defines belong to it.
  const Scope& around_classes() const {
    size_t i = open_.size() - 1;
    while (i > 0 && open_[i].kind == ScopeKind::kClass) --i;
    return open_[i];
  }

 private:
  std::vector<Scope> open_;
};

}  // namespace framedex::extractor
