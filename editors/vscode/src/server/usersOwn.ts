// Which settings only the user may make, wherever the editor has found others.

const USERS_OWN = ["index", "links", "guidebook", "sources"];

/** The settings of the section with those as the user has them: null where they have not set them. */
export function withUsersOwn(settings: unknown, users: (key: string) => unknown): Record<string, unknown> {
  const given = typeof settings === "object" && settings !== null && !Array.isArray(settings) ? settings : {};
  return { ...given, ...Object.fromEntries(USERS_OWN.map((key) => [key, users(key) ?? null])) };
}
