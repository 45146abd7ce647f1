// Tables that RE2's build makes of Unicode's data. None of its code is in them, so they are short here.

#include "re2/unicode_casefold.h"
#include "re2/unicode_groups.h"

namespace re2 {

const CaseFold unicode_casefold[] = {{'A', 'Z', 32}, {'a', 'z', -32}};
const int num_unicode_casefold = 2;
const CaseFold unicode_tolower[] = {{'A', 'Z', 32}};
const int num_unicode_tolower = 1;

static const URange16 digits[] = {{'0', '9'}};
static const URange16 letters[] = {{'A', 'Z'}, {'a', 'z'}};
static const URange16 spaces[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
static const URange16 words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

// The names that RE2 itself looks up have to be there.
const UGroup unicode_groups[] = {
    {"L", +1, letters, 2, 0, 0},  {"Ll", +1, letters, 2, 0, 0}, {"Lm", +1, letters, 0, 0, 0}, {"Lo", +1, letters, 0, 0, 0},
    {"Lt", +1, letters, 0, 0, 0}, {"Lu", +1, letters, 1, 0, 0}, {"Mc", +1, letters, 0, 0, 0}, {"Mn", +1, letters, 0, 0, 0},
    {"Nd", +1, digits, 1, 0, 0},  {"Nl", +1, digits, 0, 0, 0},  {"Pc", +1, words + 2, 1, 0, 0},
};
const int num_unicode_groups = 11;
const UGroup perl_groups[] = {
    {"\\d", +1, digits, 1, 0, 0}, {"\\D", -1, digits, 1, 0, 0}, {"\\s", +1, spaces, 3, 0, 0},
    {"\\S", -1, spaces, 3, 0, 0}, {"\\w", +1, words, 4, 0, 0},  {"\\W", -1, words, 4, 0, 0},
};
const int num_perl_groups = 6;
const UGroup posix_groups[] = {{"[:alpha:]", +1, letters, 2, 0, 0}, {"[:digit:]", +1, digits, 1, 0, 0}};
const int num_posix_groups = 2;

}  // namespace re2
