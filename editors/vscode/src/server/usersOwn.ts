// Which settings the server is not told of as the editor has found them.

/** What only the user may set. */
const USERS_OWN = ["index", "links", "guidebook", "sources"];

/** What the extension itself does. */
const EXTENSIONS_OWN = ["gutter"];

/** The settings of the section without the extension's, and with the user's own: null where they have not set them. */
export function withUsersOwn(settings: unknown, users: (key: string) => unknown): Record<string, unknown> {
  const given = typeof settings === "object" && settings !== null && !Array.isArray(settings) ? settings : {};
  const servers = Object.entries(given).filter(([key]) => !EXTENSIONS_OWN.includes(key));
  return { ...Object.fromEntries(servers), ...Object.fromEntries(USERS_OWN.map((key) => [key, users(key) ?? null])) };
}
