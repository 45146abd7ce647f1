import assert from "node:assert/strict";
import { test } from "node:test";

import { serverSettings } from "../src/server/serverSettings";

test("an index, links, a guidebook and sources of a workspace's settings, and the extension's own, are not handed on", () => {
  const merged = {
    index: "/home/me/.profile",
    links: { xla: "command://x/{path}" },
    guidebook: "/etc",
    sources: ["/home/me"],
    editor: { limit: 7 },
    gutter: { "recorded-lines": true },
  };
  assert.deepEqual(serverSettings(merged, () => undefined), {
    index: null,
    links: null,
    guidebook: null,
    sources: null,
    editor: { limit: 7 },
  });
  const users = (key: string): unknown => (key === "index" ? "/data/my.db" : undefined);
  assert.deepEqual(serverSettings(merged, users), {
    index: "/data/my.db",
    links: null,
    guidebook: null,
    sources: null,
    editor: { limit: 7 },
  });
});

test("what is no table of settings is an empty one", () => {
  for (const odd of [null, undefined, 3, "x", []]) {
    assert.deepEqual(serverSettings(odd, () => undefined), { index: null, links: null, guidebook: null, sources: null });
  }
});
