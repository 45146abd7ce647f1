import assert from "node:assert/strict";
import { test } from "node:test";

import { framedexEnvironment } from "../src/server/environment";

test("entries of PYTHONPATH that stand for the working folder are kept from framedex, and handed on to programs", () => {
  for (const theirs of ["", ":", ".", "src", "/opt/lib:", ":/opt/lib", "/opt/lib::../x"]) {
    const kept = theirs.includes("/opt/lib") ? "/opt/lib" : "";
    assert.deepEqual(framedexEnvironment({ HOME: "/home/me", PYTHONPATH: theirs }), {
      HOME: "/home/me",
      PYTHONPATH: kept,
      FRAMEDEX_PROGRAM_PYTHONPATH: theirs,
    });
  }
});

test("an environment without such entries stays as it is", () => {
  for (const given of [{}, { PYTHONPATH: "/opt/lib:/usr/lib/mine" }]) {
    assert.equal(framedexEnvironment(given), given);
  }
});
