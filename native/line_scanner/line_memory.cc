#include "line_scanner/line_memory.h"

#include <cstring>

#include "line_scanner/line_form.h"

namespace framedex::line_scanner {
namespace {

constexpr size_t kMaxKeptLength = 4096;  // bytes of a line
constexpr size_t kMaxLengthByWords = 1 << 16;
constexpr size_t kMaxEntries = 1 << 16;
constexpr size_t kOverhead = 150;  // of an entry, besides its texts

constexpr char kByForm = 'f';
constexpr char kAsItIs = 'l';

bool is_of_word(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_' ||
         static_cast<unsigned char>(byte) >= 0x80;
}

// Calls `word` for each word of a text until it returns true. Returns whether it did.
template <typename Word>
bool any_word(std::string_view text, const Word& word) {
  size_t position = 0;
  while (position < text.size()) {
    if (!is_of_word(text[position])) {
      ++position;
      continue;
    }
    const size_t begin = position;
    while (position < text.size() && is_of_word(text[position])) ++position;
    if (word(text.substr(begin, position - begin))) return true;
  }
  return false;
}

// Returns the end of the length-prefixed name at a position of a mangled name; 0 if there is none.
size_t source_name(std::string_view mangled, size_t position, std::string_view& name) {
  constexpr size_t kLongest = 4096;
  size_t length = 0;
  while (position < mangled.size() && mangled[position] >= '0' && mangled[position] <= '9' && length < kLongest) {
    length = length * 10 + static_cast<size_t>(mangled[position++] - '0');
  }
  if (length == 0 || length > mangled.size() - position) return 0;
  name = mangled.substr(position, length);
  return position + length;
}

// Calls `take` for each part of a mangled function name, `_Z3fooi` or `_ZN3foo3barEi` in the Itanium ABI, until it
// returns true. Returns whether it did. Also returns true for names with other components: templates, operators.
template <typename Take>
bool any_of_mangled(std::string_view mangled, const Take& take) {
  constexpr std::string_view kNested = "_ZN";
  const bool is_nested = mangled.substr(0, kNested.size()) == kNested;
  size_t position = is_nested ? kNested.size() : kNested.size() - 1;
  if (is_nested && position < mangled.size() && mangled[position] == 'K') ++position;
  std::string_view name;
  do {
    position = source_name(mangled, position, name);
    if (position == 0 || take(name)) return true;
  } while (is_nested && position < mangled.size() && mangled[position] != 'E');
  return is_nested && position == mangled.size();
}

// Returns whether a word may name a function whose name it does not contain: mangled names, operators, and names that
// nanobind changes.
bool hides_names(std::string_view word) {
  constexpr std::string_view kRenamed = "_exec";
  const std::string_view mark = word.substr(0, 2);
  return mark == "_Z" || mark == "_R" || word.substr(0, 3) == "__Z" || word == "operator" ||
         (word.size() >= kRenamed.size() && word.substr(word.size() - kRenamed.size()) == kRenamed);
}

template <typename Number>
void append_bytes(std::string& text, Number number) {
  std::array<char, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), &number, sizeof(Number));
  text.append(bytes.data(), bytes.size());
}

}  // namespace

Situation LineMemory::add_situation(bool is_open) {
  is_open_.push_back(is_open);
  return static_cast<Situation>(is_open_.size() - 1);
}

std::optional<UnknownLine> LineMemory::follow(std::string_view text, size_t position, size_t shown,
                                              const NoteOfWords& note_of_words, std::string& noted) {
  const auto show = [&](size_t end) {
    if (end <= shown) return;
    noted.append(text, shown, end - shown);
    shown = end;
  };
  while (position < text.size()) {
    Line line{};
    const bool is_open = is_open_[situation_];
    if (is_open) {
      line = whole_line(text, position);
    } else {
      std::optional<Line> next = scanner_.next(text, position);
      if (!next) break;
      line = std::move(*next);
      if (line.range.end - line.range.begin > kMaxLengthByWords) line.decided_by_words = false;
    }
    const std::string_view content = text.substr(line.range.begin, line.stop - line.range.begin);
    UnknownLine unknown{line.range, line.stop, line.decided_by_words, {}, false, false};
    if (line.decided_by_words) {
      const std::optional<std::string_view> note = note_of_words(line);
      if (!note) {
        unknown.words = std::move(line.words);
        show(line.range.begin);
        return unknown;
      }
      if (!note->empty()) {
        show(line.stop);
        noted.append(*note);
      }
      position = line.range.end;
      continue;
    }
    if (content.empty()) {
      position = line.range.end;
      continue;
    }
    const CachedLine* cached = find(situation_, content);
    const std::string* note = cached == nullptr ? nullptr : note_of(*cached, content);
    if (note == nullptr) {
      unknown.has_outcome = cached != nullptr;
      unknown.is_worth_keeping = content.size() <= kMaxKeptLength && was_seen();
      show(line.range.begin);
      return unknown;
    }
    ++number_;
    if (cached->outcome.has_frame) {
      set_last_frame(*cached, content);
      if (!frame_) frame_.emplace();
      frame_->before = situation_;
      frame_->number = number_;
      frame_->line.assign(content);
    }
    situation_ = cached->outcome.next;
    if (!note->empty()) {
      show(line.stop);
      noted.append(*note);
    }
    position = line.range.end;
  }
  show(text.size());
  return std::nullopt;
}

void LineMemory::read(Situation next, size_t number) {
  situation_ = next;
  number_ = number;
  frame_.reset();
}

void LineMemory::keep(Situation before, std::string_view line, bool by_form, Outcome outcome) {
  set_key(before, line);
  const bool has_form = key_.back() == kByForm;
  if (!has_form || by_form) {
    weight_ += key_.size() + kOverhead;
    outcomes_[key_] = CachedLine{by_form, next_id_++, std::move(outcome)};
    return;
  }
  // The entry of the form marks that lines of this form are stored verbatim.
  weight_ += 2 * (key_.size() + kOverhead);
  outcomes_[key_] = CachedLine{false, next_id_++, {}};
  key_.clear();
  append_bytes(key_, before);
  key_.append(line);
  key_.push_back(kAsItIs);
  outcomes_[key_] = CachedLine{false, next_id_++, std::move(outcome)};
}

void LineMemory::keep_note(Situation before, std::string_view line, std::string note) {
  const CachedLine* cached = find(before, line);
  if (cached == nullptr || cached->outcome.counted.empty()) return;
  set_note_key(*cached, line);
  weight_ += key_.size() + note.size() + kOverhead;
  notes_[key_] = std::move(note);
}

void LineMemory::read_frame(Situation before, std::string_view line) {
  const CachedLine* cached = find(before, line);
  if (cached != nullptr) {
    set_last_frame(*cached, line);
    return;
  }
  last_frame_.assign(1, kAsItIs);
  last_frame_.append(line);
}

void LineMemory::set_known_names(const std::vector<std::string>& texts) {
  names_.clear();
  missing_paths_.clear();
  knows_names_ = true;
  for (const std::string& text : texts) {
    any_word(text, [&](std::string_view word) {
      names_.emplace(word);
      return false;
    });
  }
}

void LineMemory::clear() {
  is_open_.clear();
  outcomes_.clear();
  notes_.clear();
  frame_.reset();
  last_frame_.clear();
  weight_ = 0;
  next_id_ = 0;
}

// Returns the stored outcome of a line in a state of the readers. Sets `key_` to the key of its form, or to the key of
// the line if the form's outcome varies.
const LineMemory::CachedLine* LineMemory::find(Situation situation, std::string_view line) {
  set_key(situation, line);
  auto found = outcomes_.find(key_);
  if (found == outcomes_.end()) return nullptr;
  if (key_.back() == kAsItIs || found->second.by_form) return &found->second;
  key_.clear();
  append_bytes(key_, situation);
  key_.append(line);
  key_.push_back(kAsItIs);
  found = outcomes_.find(key_);
  return found == outcomes_.end() ? nullptr : &found->second;
}

const std::string* LineMemory::note_of(const CachedLine& cached, std::string_view line) {
  static const std::string kNothing;
  const Outcome& outcome = cached.outcome;
  if (outcome.counted.empty()) return &kNothing;
  set_note_key(cached, line);
  const auto found = notes_.find(key_);
  if (found != notes_.end()) return &found->second;
  if (outcome.names.empty() && outcome.paths.empty()) return nullptr;
  if (knows_names_) return has_no_note(cached, line) ? &kNothing : nullptr;
  ++names_seen_;
  return nullptr;
}

bool LineMemory::has_no_note(const CachedLine& cached, std::string_view line) const {
  for (const Range& range : cached.outcome.paths) {
    if (missing_paths_.count(std::string(line.substr(range.begin, range.end - range.begin))) == 0) return false;
  }
  for (const Range& range : cached.outcome.names) {
    if (has_known_name(line.substr(range.begin, range.end - range.begin))) return false;
  }
  return true;
}

bool LineMemory::has_known_name(std::string_view text) const {
  bool has_words = false;
  const auto is_known = [&](std::string_view name) {
    return hides_names(name) || names_.count(std::string(name)) != 0;
  };
  const bool may_be_known = any_word(text, [&](std::string_view word) {
    has_words = true;
    if (word.substr(0, 2) == "_Z") return any_of_mangled(word, is_known);
    return is_known(word);
  });
  return may_be_known || !has_words;
}

void LineMemory::set_key(Situation situation, std::string_view line) {
  key_.clear();
  append_bytes(key_, situation);
  if (append_form(line, key_)) {
    key_.push_back(kByForm);
  } else {
    key_.append(line);
    key_.push_back(kAsItIs);
  }
}

void LineMemory::set_note_key(const CachedLine& cached, std::string_view line) {
  key_.clear();
  append_bytes(key_, cached.id);
  for (const Range& range : cached.outcome.counted) {
    append_bytes(key_, static_cast<uint32_t>(range.end - range.begin));
    key_.append(line.substr(range.begin, range.end - range.begin));
  }
  if (cached.outcome.depends_on_frame) key_.append(last_frame_);
}

void LineMemory::set_last_frame(const CachedLine& cached, std::string_view line) {
  last_frame_.assign(1, kByForm);
  append_bytes(last_frame_, cached.id);
  for (const Range& range : cached.outcome.counted) {
    append_bytes(last_frame_, static_cast<uint32_t>(range.end - range.begin));
    last_frame_.append(line.substr(range.begin, range.end - range.begin));
  }
}

// Returns whether the last key was seen before: a line that occurs once is not worth storing. Hash collisions cause a
// few false positives.
bool LineMemory::was_seen() {
  if (seen_keys_.empty()) seen_keys_.resize(kMaxEntries);
  const size_t hash = std::hash<std::string>{}(key_) | 1;
  size_t& known = seen_keys_[(hash >> 1) % kMaxEntries];
  if (known == hash) return true;
  known = hash;
  return false;
}

}  // namespace framedex::line_scanner
