#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace framedex::extractor {

inline constexpr std::string_view kAnonymous = "(anonymous namespace)";
inline constexpr std::string_view kLambda = "(lambda)";

// The longest path of a scope, in characters. Nested names grow with the square of a file's size, so without a limit a
// small file could take all memory. The longest in XLA and JAX have 313 and 1,347.
inline constexpr size_t kMaxPathLength = 512;
inline constexpr size_t kMaxParametersLength = 2048;

enum class ScopeKind { kNamespace, kClass, kFunction };

// A scope of names: its end, its path, and the definition that owns the calls in it.
struct Scope {
  uint32_t end;
  ScopeKind kind;
  int definition;      // -1: none
  std::string path;    // `a::S`
  std::string lookup;  // its last name, the look-up key of lambdas in it
};

// The open scopes during a walk in source order.
class Scopes {
 public:
  Scopes() : open_{{UINT32_MAX, ScopeKind::kNamespace, -1, {}, {}}} {}

  void leave(uint32_t position) {
    while (open_.size() > 1 && open_.back().end <= position) open_.pop_back();
  }
  // Enters a scope. If its path is too long, paths inside this scope omit its name.
  void enter(Scope scope) {
    if (scope.end > open_.back().end) scope.end = open_.back().end;
    if (scope.path.size() > kMaxPathLength) scope.path = open_.back().path;
    if (scope.lookup.size() > kMaxPathLength) scope.lookup.clear();
    open_.push_back(std::move(scope));
  }
  const Scope& inner() const { return open_.back(); }

  // Returns the innermost open scope that is not a class. Friend functions defined in a class belong to that scope.
  const Scope& innermost_non_class() const {
    size_t i = open_.size() - 1;
    while (i > 0 && open_[i].kind == ScopeKind::kClass) --i;
    return open_[i];
  }

 private:
  std::vector<Scope> open_;
};

}  // namespace framedex::extractor
