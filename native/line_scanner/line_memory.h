// What lines of a log were, kept so that those like them are followed and not read again.
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

// What reading the next line of a log depends on beside the line: the stack that is open, and what its readers
// remember. Numbered by whoever reads.
using Situation = uint32_t;

// What a line of some form is in some situation. `counted` are the bytes on which its note depends; none: it has no
// note. One that `depends_on_frame` has one that depends on the last frame before it, too: that calls from there. What
// has `names`, of functions, and `paths` has a note only if one of the names is known, or one of the paths is not known
// to lead nowhere.
struct Outcome {
  Situation next;
  bool has_frame;  // the last frame is now one of this line
  std::vector<Range> counted;
  std::vector<Range> names;
  std::vector<Range> paths;
  bool depends_on_frame = false;
};

// The last frame, if it was followed and not read: what it is tells its line, read in the situation before it.
struct FollowedFrame {
  Situation before;
  size_t number;  // of the line
  std::string line;
};

// A line that is not known: it has to be read.
struct Unknown {
  Range range;
  size_t stop;            // before its line break
  bool decided_by_words;  // by these, see `Line`
  std::vector<Range> words;
  bool has_outcome;       // only its note is not known
  bool is_worth_keeping;  // a line of this form was met before, in this situation
};

// Remembers what lines were, and follows a log through those that are known.
//
// A line is known by its form (`line_form.h`) and the situation that it is read in; its note by those of its bytes on
// which that depends. So a log is read once for each of its kinds of lines, whatever addresses and numbers are in them.
class LineMemory {
 public:
  // The note of a line by its words, if it is known; see `Line::words`.
  using NoteOfWords = std::function<std::optional<std::string_view>(const Line&)>;

  explicit LineMemory(const LineScanner& scanner) : scanner_(scanner) {}

  Situation add_situation(bool is_open);

  // Appends the text from `shown` on to `noted`, with a note before each line break, as far as lines are known from
  // `position`, the beginning of a line, on. Nothing is returned at the end of the text.
  std::optional<Unknown> follow(std::string_view text, size_t position, size_t shown, const NoteOfWords& note_of_words,
                                std::string& noted);

  // The situation before the next line, and how many lines were read.
  Situation situation() const { return situation_; }
  size_t number() const { return number_; }
  const std::optional<FollowedFrame>& followed_frame() const { return frame_; }

  // A line was read, by whoever reads, after which there is this situation.
  void read(Situation next, size_t number);

  // Keeps what a line is. `by_form`: so is every line of its form.
  void keep(Situation before, std::string_view line, bool by_form, Outcome outcome);

  // Keeps the note of a line whose outcome is kept.
  void keep_note(Situation before, std::string_view line, std::string note);

  // The last frame is now one of a line that was read in the situation `before`; told after its own note is kept.
  void read_frame(Situation before, std::string_view line);

  // Takes all words of these texts for names that are known; any other is not, from now on. Of paths nothing is known.
  void know_names(const std::vector<std::string>& texts);

  // Takes a path for one that leads nowhere.
  void know_lost_path(std::string path) { lost_paths_.insert(std::move(path)); }

  // Names of lines that might be known, met since there are no known ones.
  size_t names_met() const { return names_met_; }

  // Forgets what there is; situations too.
  void clear();

  // Bytes that are kept, roughly.
  size_t weight() const { return weight_; }

 private:
  struct Kept {
    bool by_form;  // else lines are known as they are
    uint32_t id;
    Outcome outcome;
  };

  const Kept* find(Situation situation, std::string_view line);
  const std::string* note_of(const Kept& kept, std::string_view line);
  bool leads_nowhere(const Kept& kept, std::string_view line) const;
  bool has_known_name(std::string_view text) const;
  void set_key(Situation situation, std::string_view line);
  void set_note_key(const Kept& kept, std::string_view line);
  void set_last_frame(const Kept& kept, std::string_view line);
  bool was_met();

  const LineScanner& scanner_;
  std::vector<bool> is_open_;
  std::unordered_map<std::string, Kept> outcomes_;      // by situation and form, or line
  std::unordered_map<std::string, std::string> notes_;  // by outcome and counted bytes
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> lost_paths_;
  bool knows_names_ = false;
  size_t names_met_ = 0;
  uint32_t next_id_ = 0;
  size_t weight_ = 0;
  std::vector<size_t> met_;  // hashes of keys
  std::string key_;          // the last one that was asked for

  Situation situation_ = 0;
  size_t number_ = 0;
  std::optional<FollowedFrame> frame_;
  std::string last_frame_;  // what tells it: the bytes of its line that count, or the line
};

}  // namespace framedex::line_scanner
