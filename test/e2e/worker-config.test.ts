/** What wrangler reads from its configuration, which a start keeps for the next one. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keep } from "../../scripts/serve/kept-files";
import { readWorkerConfig } from "../../scripts/serve/worker-config";
import { removeFolder, temporaryFolder } from "../support/server/server";

let folder: string;
let place: string;
const kept = (): string[] => (existsSync(place) ? readdirSync(place) : []);
const read = () => readWorkerConfig(join(folder, "wrangler.toml"), place);
const write = (answer: string, more = ""): void =>
  writeFileSync(
    join(folder, "wrangler.toml"),
    `name = "x"\nmain = "x.ts"\ncompatibility_date = "2026-04-26"\n${more}\n[vars]\nANSWER = "${answer}"\n`,
  );

beforeEach(() => {
  folder = temporaryFolder();
  place = join(folder, "kept");
  write("42");
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  removeFolder(folder);
});

it("the same configuration: taken from the file of the first time", () => {
  const config = read();
  expect(config).toMatchObject({ name: "x", main: join(folder, "x.ts"), crons: [], vars: { ANSWER: "42" } });
  expect(read()).toEqual(config);
  const [hash = ""] = kept();
  keep(place, hash, serialize({ ...config, name: "of the file" }).toString("base64"));
  expect(read()).toEqual({ ...config, name: "of the file" });
});

it("a configuration that changed: read anew", () => {
  read();
  write("43");
  expect(read().vars).toEqual({ ANSWER: "43" });
  expect(kept()).toHaveLength(2);
});

it("a file with variables beside it: read each time", () => {
  read();
  for (const answer of ["44", "45"]) {
    writeFileSync(join(folder, ".dev.vars"), `ANSWER=${answer}\n`);
    expect(read().worker.bindings).toEqual({ ANSWER: answer });
  }
  expect(kept()).toHaveLength(1);
});

it("a variable of the environment that wrangler knows: read each time", () => {
  write("42", '[env.other]\nvars = { ANSWER = "46" }');
  read();
  vi.stubEnv("CLOUDFLARE_ENV", "other");
  expect(read().vars).toEqual({ ANSWER: "46" });
  expect(kept()).toHaveLength(1);
});

it("a configuration that wrangler warns of: each time", () => {
  write("42", "unknown = 1");
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  read();
  read();
  expect(warn).toHaveBeenCalledTimes(2);
  expect(kept()).toEqual([]);
});

it("a configuration that wrangler refuses: each time", () => {
  write("42", "main = 1");
  for (let i = 0; i < 2; i++) expect(read).toThrow(/^--config \S+wrangler.toml: /);
  expect(kept()).toEqual([]);
});
