// What captures may have in a name is shown, and does nothing.

import * as assert from "node:assert/strict";
import { test } from "node:test";

import { codeSpan, truncateAtWord, plain, withoutIcons, withoutLinks } from "../src/plain";

test("escapes, line breaks and bidirectional marks are shown", () => {
  assert.equal(plain("a\u001b[2J\nb\u202ec\ud800\u2028"), "a\\x1b[2J\\x0ab\\u202ec\\ud800\\u2028");
  assert.equal(plain("xla::Ω<int> 形"), "xla::Ω<int> 形");
});

test("neutralising twice changes nothing", () => {
  for (const text of ["a\u001bb", "$(zap)", "\\$(zap)", "`a`", "[a](command:b)"]) {
    for (const safe of [plain, withoutIcons, withoutLinks]) {
      assert.equal(safe(safe(text)), safe(text));
    }
  }
});

test("no icon, no link, no way out of a code span", () => {
  assert.equal(withoutIcons("$(error~spin) $(not one)"), "\\$(error~spin) $(not one)");
  assert.equal(withoutLinks("[run](command:workbench.action.quit)"), "[run] (command:workbench.action.quit)");
  assert.equal(codeSpan("a`b``c"), "```a`b``c```");
  assert.equal(codeSpan("`a`"), "`` `a` ``");
});

test("of a long name both ends are shown", () => {
  const shown = plain("a".repeat(5_000) + "b".repeat(5_000));
  assert.match(shown, /^a+…b+$/);
  assert.ok(shown.length <= 200);
});

test("a long sentence ends at a word, with an ellipsis", () => {
  assert.equal(truncateAtWord("7 frames skipped, source not here", 33), "7 frames skipped, source not here");
  assert.equal(truncateAtWord("7 frames skipped, source not here", 32), "7 frames skipped, source not…");
  assert.equal(truncateAtWord("7 frames skipped, source not here", 19), "7 frames skipped,…");
  assert.equal(truncateAtWord("x".repeat(40), 10), `${"x".repeat(9)}…`);
});
