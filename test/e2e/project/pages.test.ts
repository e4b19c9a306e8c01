/** What pages say to type works in any folder, and beside what other pages say. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../../scripts/running/root.mjs";

const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
/** each with its page */
const paragraphs = pages.flatMap((page) =>
  readFileSync(join(root, page), "utf8")
    .split(/\n{2,}/)
    .map((text): [page: string, text: string] => [page, text]),
);

it("KUBECONFIG: absolute on every page", () => {
  const set = paragraphs.flatMap(([page, text]) => [...text.matchAll(/KUBECONFIG=(\S+)/g)].map(([, path = ""]) => `${page}: ${path}`));
  expect(set.length).toBeGreaterThan(2);
  expect(set.filter((line) => !/: (\$PWD)?\//.test(line))).toEqual([]);
});

it("a server with --insecure-http: each page that starts one says to stop the other one", () => {
  const starting = paragraphs.filter(([, text]) => text.includes("`npm start -- --insecure-http`"));
  expect(starting.length).toBeGreaterThan(5);
  expect(starting.filter(([, text]) => !/\bstop\b/i.test(text))).toEqual([]);
});
