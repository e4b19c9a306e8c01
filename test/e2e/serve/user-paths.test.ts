/** Programs that npm runs in the project, for a user in another folder: relative paths begin there. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseOptions as agentOptions } from "../../../scripts/agent/options";
import { parseOptions as backupOptions } from "../../../scripts/backup/options";
import { targetOf } from "../../../scripts/cluster/target";
import { parseOptions as dnsOptions } from "../../../scripts/dns/options";
import { shownPath, userPath } from "../../../scripts/folders/user-path";
import { readFiles } from "../../../scripts/import/read-files";
import { parseOptions as restoreOptions, type RestoreOptions } from "../../../scripts/restore/options";
import { root } from "../../../scripts/running/root.mjs";
import { parseOptions as serveOptions } from "../../../scripts/serve/options";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const user = temporaryFolder();
const of = (name: string) => join(user, name);
const before = { ...process.env };
beforeAll(() => {
  Object.assign(process.env, { INIT_CWD: user, npm_lifecycle_event: "start", npm_package_json: join(root, "package.json") });
  writeFileSync(of("token"), "secret\n");
  writeFileSync(of("ca.pem"), "a certificate");
  writeFileSync(of("dump.json"), "{}");
  writeFileSync(
    of("kubeconfig"),
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://192.0.2.1" } }],
      contexts: [{ name: "x", context: { cluster: "c" } }],
      "current-context": "x",
    }),
  );
  writeFileSync(of("own.toml"), 'name = "own"\n');
});
afterAll(() => {
  for (const name of ["INIT_CWD", "npm_lifecycle_event", "npm_package_json"]) delete process.env[name];
  Object.assign(process.env, before);
  removeFolder(user);
});

const at = ["--server", "https://192.0.2.1"];
/** What an option became. Whoever answers "help" fails. */
async function taken<T extends object>(options: Promise<T | "help">, name: keyof T): Promise<unknown> {
  const read = await options;
  return read === "help" ? read : read[name];
}

describe("relative paths begin in the user's folder", () => {
  it.each<[option: string, read: () => Promise<unknown> | unknown, expected: unknown]>([
    ["start --data-dir", () => taken(serveOptions(["--data-dir", "data"]), "dataFolder"), of("data")],
    ["start without --data-dir", () => taken(serveOptions([]), "dataFolder"), join(root, ".servicenet")],
    ["agent --state", () => taken(agentOptions(["--node", "n", ...at, "--state", "s"]), "stateFolder"), of("s")],
    [
      "agent --endpoints",
      () => taken(agentOptions(["--node", "n", ...at, "--endpoints", "../e.yaml"]), "endpointsFile"),
      join(user, "..", "e.yaml"),
    ],
    ["agent --token-file", () => taken(agentOptions(["--node", "n", ...at, "--token-file", "token"]), "tokenFile"), of("token")],
    ["backup --file", () => taken(backupOptions([...at, "--file", "b"]), "file"), of("b")],
    ["backup --file, an absolute path", () => taken(backupOptions([...at, "--file", "/b"]), "file"), "/b"],
    ["restore --file", () => taken(restoreOptions([...at, "--file", "./b"]) as Promise<RestoreOptions | "help">, "file"), of("b")],
    ["dns --file", () => taken(dnsOptions([...at, "--file", "hosts/names"]), "file"), of("hosts/names")],
    ["import FILE", () => readFiles(["dump.json"]), [{ source: "dump.json", value: {} }]],
    [
      "--token-file",
      async () => (await targetOf({ server: "https://192.0.2.1", "token-file": "token" })).options.headers,
      { Authorization: "Bearer secret" },
    ],
    [
      "--token @FILE",
      async () => (await targetOf({ server: "https://192.0.2.1", token: "@token" })).options.headers,
      { Authorization: "Bearer secret" },
    ],
    ["--ca-file", async () => (await targetOf({ server: "https://192.0.2.1", "ca-file": "ca.pem" })).options.ca, "a certificate"],
    ["--kubeconfig", async () => (await targetOf({ kubeconfig: "kubeconfig" })).url, "https://192.0.2.1"],
  ])("%s", async (_, read, expected) => {
    expect(await read()).toEqual(expected);
  });

  it("start --config: a fault of the user's file is told", async () => {
    await expect(serveOptions(["--config", "own.toml"])).rejects.toThrow(of("own.toml"));
  });
});

it("paths are shown as the user's shell takes them", () => {
  mkdirSync(of("data"));
  expect([shownPath(of("data")), shownPath(user), shownPath(join(root, ".servicenet"))]).toEqual(["data", ".", join(root, ".servicenet")]);
});

it("a program that a script of another project starts: paths begin where it runs", () => {
  const { npm_package_json: own } = process.env;
  process.env["npm_package_json"] = "/elsewhere/package.json";
  expect([userPath("data"), shownPath(join(process.cwd(), "data"))]).toEqual(["data", "data"]);
  process.env["npm_package_json"] = own;
});
