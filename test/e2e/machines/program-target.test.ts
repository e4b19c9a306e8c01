/** Which server a program asks, and with which credentials: its options, and the kubeconfig of the `npm start` in its folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { targetOf, type TargetValues } from "../../../scripts/cluster/target";
import { kubeconfig } from "../../../scripts/serve/kubeconfig";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const HERE = "https://127.0.0.1:8787";
const before = process.cwd();
const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder, ".servicenet"));
  process.chdir(folder);
});
afterEach(() => removeFolder(join(folder, ".servicenet", "kubeconfig")));
afterAll(() => {
  process.chdir(before);
  removeFolder(folder);
});

/** The target as `url ca authorization`. */
async function asked(values: TargetValues): Promise<string> {
  const { url, options } = await targetOf(values);
  const { Authorization } = (options.headers ?? {}) as { Authorization?: string };
  return [url, String(options.ca ?? "-"), Authorization ?? "-"].join(" ");
}

const secure = kubeconfig(HERE, { ca: "CA", token: "sn_a_b" });

it.each<[string, string | undefined, TargetValues, string]>([
  ["no option", secure, {}, `${HERE} CA Bearer sn_a_b`],
  ["that server", secure, { server: `${HERE}/` }, `${HERE} CA Bearer sn_a_b`],
  ["a cluster of that server", secure, { server: `${HERE}/clusters/blue` }, `${HERE}/clusters/blue CA Bearer sn_a_b`],
  ["a cluster by its name", secure, { cluster: "blue" }, `${HERE}/clusters/blue CA Bearer sn_a_b`],
  ["another token", secure, { token: "other" }, `${HERE} CA Bearer other`],
  ["another port", secure, { server: "https://127.0.0.1:9000" }, "https://127.0.0.1:9000 - -"],
  ["plain HTTP to that port", secure, { server: "http://127.0.0.1:8787" }, "http://127.0.0.1:8787 - -"],
  ["no option, a server with --insecure-http", kubeconfig("http://127.0.0.1:8787"), {}, "http://127.0.0.1:8787 - -"],
  ["no option, no kubeconfig", undefined, {}, `${HERE} - -`],
  ["no option, a kubeconfig that is cut short", secure.slice(0, 30), {}, `${HERE} - -`],
])("%s: the target is told", async (_, text, values, target) => {
  if (text !== undefined) writeFileSync(join(folder, ".servicenet", "kubeconfig"), text);
  expect(await asked(values)).toBe(target);
});

it("--ca-file and --token-file: are read", async () => {
  writeFileSync(join(folder, "ca"), "PEM");
  writeFileSync(join(folder, "token"), " sn_c_d\n");
  expect(await asked({ server: "https://h", "ca-file": "ca", "token-file": "token" })).toBe("https://h PEM Bearer sn_c_d");
});
