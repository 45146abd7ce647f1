// Writes dist/NOTICES.txt, the licences of what esbuild put into the bundles: node notices.mjs METAFILE...

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const packages = new Set();
for (const metafile of process.argv.slice(2)) {
  for (const input of Object.keys(JSON.parse(readFileSync(metafile, "utf8")).inputs)) {
    const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
    if (found) packages.add(found[0]);
  }
}
const notices = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${folder} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync("dist/NOTICES.txt", notices.join(`\n${"-".repeat(80)}\n\n`));
