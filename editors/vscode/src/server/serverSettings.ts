// Settings that are not sent to the server as the editor merged them.

/** Settings that only the user may set. */
const USER_ONLY_SETTINGS = ["index", "links", "guidebook", "sources"];

/** Settings of the extension itself. */
const EXTENSION_SETTINGS = ["gutter"];

/** The settings of the section for the server: without the extension's, and with the user's own (null if unset). */
export function serverSettings(settings: unknown, userValue: (key: string) => unknown): Record<string, unknown> {
  const merged = typeof settings === "object" && settings !== null && !Array.isArray(settings) ? settings : {};
  const serverEntries = Object.entries(merged).filter(([key]) => !EXTENSION_SETTINGS.includes(key));
  return { ...Object.fromEntries(serverEntries), ...Object.fromEntries(USER_ONLY_SETTINGS.map((key) => [key, userValue(key) ?? null])) };
}
