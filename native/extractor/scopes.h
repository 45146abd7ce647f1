#ifndef FRAMEDEX_EXTRACTOR_SCOPES_H_
#define FRAMEDEX_EXTRACTOR_SCOPES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace framedex::extractor {

inline constexpr std::string_view kAnonymous = "(anonymous namespace)";
inline constexpr std::string_view kLambda = "(lambda)";

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
  void enter(Scope scope) {
    if (scope.end > open_.back().end) scope.end = open_.back().end;
    open_.push_back(std::move(scope));
  }
  const Scope& inner() const { return open_.back(); }

  // The innermost that is no class: what the functions that a class befriends belong to.
  const Scope& around_classes() const {
    std::size_t i = open_.size() - 1;
    while (i > 0 && open_[i].kind == ScopeKind::kClass) --i;
    return open_[i];
  }

 private:
  std::vector<Scope> open_;
};

}  // namespace framedex::extractor

#endif  // FRAMEDEX_EXTRACTOR_SCOPES_H_
