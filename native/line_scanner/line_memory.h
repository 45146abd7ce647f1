// Remembers how lines of a log were parsed, so that similar lines need not be parsed again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "line_scanner/line_scanner.h"

namespace framedex::line_scanner {

// The parser state on which the next line's outcome depends: the open stack, and the readers' memory. The caller
// assigns the numbers.
using Situation = uint32_t;

// The outcome of a line with a form, in a state of the readers. `counted` are the bytes that determine the line's note;
// a line without such bytes has no note. With `depends_on_frame`, the note also depends on the previous frame, its
// caller. A line with function `names` and `paths` has a note only in two cases: a name is known, or a path is not
// known to be missing.
struct Outcome {
  Situation next;
  bool has_frame;  // this line becomes the last frame
  std::vector<Range> counted;
  std::vector<Range> names;
  std::vector<Range> paths;
  bool depends_on_frame = false;
};

// The last frame, if its line was found in the cache rather than parsed. To restore the frame, parse the line in the
// readers' state `before`.
struct FollowedFrame {
  Situation before;
  size_t number;  // of the line
  std::string line;
};

// An unknown line, which must be parsed.
struct UnknownLine {
  Range range;
  size_t stop;            // before its line break
  bool decided_by_words;  // see `Line`
  std::vector<Range> words;
  bool has_outcome;       // its outcome is stored; only its note is unknown
  bool is_worth_keeping;  // a line of this form was seen before in this situation
};

// Caches the outcomes of lines, and annotates a log as far as its lines are known.
//
// A line is recognised by its form (`line_form.h`) and the readers' state. Its note is recognised by the bytes that
// determine it. So each kind of line is parsed only once, although its addresses and numbers differ.
class LineMemory {
 public:
  // Returns the note of a line by its words, if known; see `Line::words`.
  using NoteOfWords = std::function<std::optional<std::string_view>(const Line&)>;

  explicit LineMemory(const LineScanner& scanner) : scanner_(scanner) {}

  Situation add_situation(bool is_open);

  // Appends the text from `shown` on to `noted`, and inserts the note of each line before its line break. Starts at
  // `position`, the beginning of a line, and stops at the first unknown line. Returns nothing at the end of the text.
  std::optional<UnknownLine> follow(std::string_view text, size_t position, size_t shown,
                                    const NoteOfWords& note_of_words, std::string& noted);

  // The readers' state before the next line, and the number of lines so far.
  Situation situation() const { return situation_; }
  size_t number() const { return number_; }
  const std::optional<FollowedFrame>& followed_frame() const { return frame_; }

  // Records that the caller has parsed a line. `next` is the readers' state after it.
  void read(Situation next, size_t number);

  // Stores the outcome of a line; with `by_form`, the outcome of every line of its form.
  void keep(Situation before, std::string_view line, bool by_form, Outcome outcome);

  // Stores the note of a line whose outcome is stored.
  void keep_note(Situation before, std::string_view line, std::string note);

  // Sets the last frame to a line that was parsed in the readers' state `before`. Call after its own note is stored.
  void read_frame(Situation before, std::string_view line);

  // Makes all words of these texts known names, and all other words unknown. Does not affect paths.
  void set_known_names(const std::vector<std::string>& texts);

  // Marks a path as missing.
  void add_missing_path(std::string path) { missing_paths_.insert(std::move(path)); }

  // Returns the number of candidate names seen while no names were known.
  size_t names_seen() const { return names_seen_; }

  // Forgets everything, including situations.
  void clear();

  // Returns the approximate number of stored bytes.
  size_t weight() const { return weight_; }

 private:
  struct CachedLine {
    bool by_form;  // whether the outcome is that of all lines of the form; else lines are stored verbatim
    uint32_t id;
    Outcome outcome;
  };

  const CachedLine* find(Situation situation, std::string_view line);
  const std::string* note_of(const CachedLine& cached, std::string_view line);
  bool has_no_note(const CachedLine& cached, std::string_view line) const;
  bool has_known_name(std::string_view text) const;
  void set_key(Situation situation, std::string_view line);
  void set_note_key(const CachedLine& cached, std::string_view line);
  void set_last_frame(const CachedLine& cached, std::string_view line);
  bool was_seen();

  const LineScanner& scanner_;
  std::vector<bool> is_open_;
  std::unordered_map<std::string, CachedLine> outcomes_;  // by situation and form, or situation and line
  std::unordered_map<std::string, std::string> notes_;    // by outcome and determining bytes
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> missing_paths_;
  bool knows_names_ = false;
  size_t names_seen_ = 0;
  uint32_t next_id_ = 0;
  size_t weight_ = 0;
  std::vector<size_t> seen_keys_;  // hashes of keys
  std::string key_;                // the latest key looked up

  Situation situation_ = 0;
  size_t number_ = 0;
  std::optional<FollowedFrame> frame_;
  std::string last_frame_;  // the bytes that determine the note of its line, or the whole line
};

}  // namespace framedex::line_scanner
