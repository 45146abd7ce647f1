// Settings that are not sent to the server as the editor merged them.

/** Settings that only the user may set. */
const USERS_OWN = ["index", "links", "guidebook", "sources"];

/** Settings of the extension itself. */
const EXTENSIONS_OWN = ["gutter"];

/** The settings of the section for the server: without the extension's, and with the user's own (null if unset). */
export function withUsersOwn(settings: unknown, users: (key: string) => unknown): Record<string, unknown> {
  const given = typeof settings === "object" && settings !== null && !Array.isArray(settings) ? settings : {};
  const servers = Object.entries(given).filter(([key]) => !EXTENSIONS_OWN.includes(key));
  return { ...Object.fromEntries(servers), ...Object.fromEntries(USERS_OWN.map((key) => [key, users(key) ?? null])) };
}
