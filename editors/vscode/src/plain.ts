// Texts of captures, logs and links, made safe to show: a name may hold line breaks, escapes, bidirectional marks, and
// what VS Code would take for an icon, a link or Markdown. `framedex.plaintext` and `markup.py` do the same in Python.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const ICON = /\\?\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g;
// Characters of a text that are shown: C++ templates grow to thousands.
const LONGEST = 200;

/** One visible line, for tree items, logs and texts of which VS Code makes nothing else. Twice does no harm. */
export function plain(text: string, longest = LONGEST): string {
  return shorten(text, longest).replace(HIDDEN, escaped);
}

/** For quick picks, the status bar and text beside code: no `$(icon)`. */
export function withoutIcons(text: string, longest = LONGEST): string {
  return plain(text, longest).replace(ICON, (icon) => (icon.startsWith("\\") ? icon : `\\${icon}`));
}

/** For notifications: no `[text](command:...)`, which VS Code would make a link that runs. */
export function withoutLinks(text: string, longest = LONGEST): string {
  return plain(text, longest).replaceAll("](", "] (");
}

/** A sentence of at most so many characters, cut at a word; names are cut in their middle by `plain`. */
export function cutAtWord(text: string, longest: number): string {
  if (text.length <= longest) {
    return text;
  }
  const start = text.slice(0, longest - 1);
  const end = start.search(/\s\S*$/);
  return `${(end > 0 ? start.slice(0, end) : start).trimEnd()}…`;
}

/** What an error says, for people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A code span of Markdown that its text cannot break out of. */
export function codeSpan(text: string, longest = LONGEST): string {
  const shown = plain(text, longest);
  // CommonMark: a code span ends at a run of backticks exactly as long as the one that opened it.
  const fence = "`".repeat(1 + Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length)));
  const padding = shown.startsWith("`") || shown.endsWith("`") || shown.trim() === "" ? " " : "";
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** The text, or its two ends with an ellipsis between them: of a long name both matter. */
function shorten(text: string, longest: number): string {
  if (text.length <= longest) {
    return text;
  }
  const half = Math.max(1, Math.floor((longest - 1) / 2));
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x100) {
    return `\\x${point.toString(16).padStart(2, "0")}`;
  }
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
}
