/** Every program that takes long shows its progress on stderr where that is a terminal, and nothing of it elsewhere. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Api } from "../../../support/clients/api";
import { runProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";

const server = serverForTests();
const files = temporaryFolder();
afterAll(() => removeFolder(files));
const backup = join(files, "cluster.jsonl");
const dump = join(root, "test", "e2e", "dumps", "live-cluster.json");
/** Clears the rest of a line on a terminal. */
const ERASE = "\x1b[K";
const BAR = /\r\[[#.]{24}\] [^\r]+ \d+\/\d+<erase>/g;

beforeAll(async () => {
  const api = new Api(() => server.url);
  for (let i = 0; i < 20; i++) {
    const body = { metadata: { name: `web-${i}` }, spec: { ports: [{ port: 80 }] } };
    await api.must("POST", "/api/v1/namespaces/default/services", { body });
  }
  const { code, err } = await runProgram("backup", ["--server", server.url, "--file", backup]);
  expect([code, err]).toEqual([0, ""]);
});

/** `into`: the name of a new cluster */
const PROGRAMS: Record<string, (into: string) => string[]> = {
  import: (into) => ["--server", server.url, "--cluster", into, dump],
  check: () => ["--server", server.url],
  backup: (into) => ["--server", server.url, "--file", join(files, `${into}.jsonl`)],
  restore: (into) => ["--server", server.url, "--cluster", into, "--file", backup],
  bench: () => ["--only", "access"],
};

it.each(Object.entries(PROGRAMS))(
  "npm run %s: a line of progress on a terminal alone",
  async (name, argsOf) => {
    const [shown, piped] = await Promise.all([
      runProgram(name, argsOf(`${name}-shown`), { terminal: true }),
      runProgram(name, argsOf(`${name}-piped`)),
    ]);
    expect(piped.err).toBe("");
    expect(shown.code).toBe(piped.code);
    const err = shown.err.replaceAll(ERASE, "<erase>");
    expect(err.match(BAR)?.length, err).toBeGreaterThan(0);
    expect(err.endsWith("\r<erase>"), "the line is gone in the end").toBe(true);
    expect(err.replace(/\r[^\r]*<erase>/g, ""), "nothing else").toBe("");
    for (const { out } of [shown, piped]) {
      expect(out).not.toBe("");
      expect(out).not.toContain("\x1b");
      expect(out).not.toContain("\r");
    }
  },
  120_000,
);
