// Escapes texts from captures, logs and links for display: a name may contain line breaks, escapes, bidirectional marks,
// and text that VS Code would show as an icon, a link or Markdown. `framedex.plaintext` and `markup.py` do the same in Python.

const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const ICON = /\\?\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g;
// Maximum characters shown of a text: names of C++ templates have thousands.
const MAX_LENGTH = 200;

/** Returns one visible line, for tree items, logs and other plain texts. Idempotent. */
export function plain(text: string, longest = MAX_LENGTH): string {
  return shorten(text, longest).replace(HIDDEN_CHARACTERS, escapeCharacter);
}

/** Escapes `$(icon)`, for quick picks, the status bar and inline text. */
export function withoutIcons(text: string, longest = MAX_LENGTH): string {
  return plain(text, longest).replace(ICON, (icon) => (icon.startsWith("\\") ? icon : `\\${icon}`));
}

/** Inserts a space into `[text](command:...)`, which VS Code would turn into a working link; for notifications. */
export function withoutLinks(text: string, longest = MAX_LENGTH): string {
  return plain(text, longest).replaceAll("](", "] (");
}

/** Truncates a sentence at a word; `plain` shortens names in the middle instead. */
export function truncateAtWord(text: string, longest: number): string {
  if (text.length <= longest) {
    return text;
  }
  const start = text.slice(0, longest - 1);
  const end = start.search(/\s\S*$/);
  return `${(end > 0 ? start.slice(0, end) : start).trimEnd()}…`;
}

/** The message of an error, safe to show. */
export function errorReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A Markdown code span from which the text cannot break out. */
export function codeSpan(text: string, longest = MAX_LENGTH): string {
  const shown = plain(text, longest);
  // CommonMark: a code span ends at a run of backticks exactly as long as the one that opened it.
  const fence = "`".repeat(1 + Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length)));
  const padding = shown.startsWith("`") || shown.endsWith("`") || shown.trim() === "" ? " " : "";
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** The text, or both of its ends with an ellipsis between: both ends of a long name matter. */
function shorten(text: string, longest: number): string {
  if (text.length <= longest) {
    return text;
  }
  const half = Math.max(1, Math.floor((longest - 1) / 2));
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

function escapeCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x100) {
    return `\\x${point.toString(16).padStart(2, "0")}`;
  }
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
}
