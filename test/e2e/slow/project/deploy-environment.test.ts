/** `npm run deploy` with an environment that the configuration does not have: it stops before wrangler. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../../../package.json" with { type: "json" };
import { assertEnvironment, parseOptions } from "../../../../scripts/deploy/options";
import { root } from "../../../../scripts/running/root.mjs";
import { runProgramHere } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const folder = temporaryFolder();
const config = join(folder, "wrangler.jsonc");
beforeAll(() => writeFileSync(config, '{ "name": "a", "env": { "staging": {}, "live": {} } }'));
afterAll(() => removeFolder(folder));

/** Why a call stops; undefined = wrangler begins. */
function stops(args: string[], env: Record<string, string> = {}): string | undefined {
  try {
    const options = parseOptions(args, env);
    if (options !== "help") assertEnvironment(options.config, options.environments);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const NOTHING = "nothing was deployed";

describe("npm run deploy", () => {
  it("is this program", () => {
    expect(packageJson.scripts.deploy).toBe("node scripts/run.mjs scripts/commands/deploy.ts");
  });

  it("--env of no environment: one line, exit code 1", async () => {
    const { code, out, err } = await runProgramHere("deploy", ["--dry-run", "--env", "nothere"]);
    expect([code, out, err]).toEqual([
      1,
      "",
      `deploy: --env nothere: wrangler.toml has no such environment (it has staging, production); ${NOTHING}\n`,
    ]);
  });

  it.each([
    [["--env", "nothere"]],
    [["--env=nothere"]],
    [["-e", "nothere"]],
    [["-enothere"]],
    [["-e=nothere"]],
    [["--env", "live", "-e", "nothere"]],
    [["--e", "nothere"]],
    [["--e=nothere"]],
    [["-ve", "nothere"]],
    [["--env=live", "--e=nothere"]],
    [["--no-env", "--env", "nothere"]],
    [["--env-file", "x", "--e", "nothere"]],
  ])("%s: stops", (args) => {
    expect(stops([...args, "--config", config])).toBe(
      `--env nothere: ${config} has no such environment (it has staging, live); ${NOTHING}`,
    );
  });

  it("CLOUDFLARE_ENV of no environment: stops; a name on the command line goes before it", () => {
    expect(stops(["-c", config], { CLOUDFLARE_ENV: "nothere" })).toContain(NOTHING);
    expect(stops(["-c", config, "--env", "live"], { CLOUDFLARE_ENV: "nothere" })).toBeUndefined();
  });

  it.each([[["--env", "live"]], [["-e=staging"]], [["--env="]]])("%s: goes on to wrangler with the same arguments", (args) => {
    const all = [...args, `--config=${config}`];
    expect(stops(all)).toBeUndefined();
    expect(parseOptions(all, {})).toMatchObject({ args: all, config });
  });

  it.each([[[]], [["--dry-run", "--outdir", "x", "--var", "A:b"]]])("%s: names the top level to wrangler", (args) => {
    const all = [...args, `--config=${config}`];
    expect(stops(all)).toBeUndefined();
    expect(parseOptions(all, {})).toMatchObject({ args: [...all, "--env="], config });
    expect(parseOptions(all, { CLOUDFLARE_ENV: "live" }), "wrangler reads the variable").toMatchObject({ args: all });
  });

  it.each([[["--location", "weur"]], [["--location=weur"]]])("%s: is for the cluster default, and not for wrangler", (location) => {
    const all = ["--env", "live", ...location, `--config=${config}`];
    expect(stops(all)).toBeUndefined();
    expect(parseOptions(all, {})).toMatchObject({ args: ["--env", "live", `--config=${config}`], location: "weur" });
  });

  it("--location of no place, or without one: stops", () => {
    expect(stops(["-c", config, "--location", "mars"])).toMatch(/^--location mars: must be one of afr, apac, .*wnam$/);
    expect(stops(["-c", config, "--location"])).toBe("--location: argument missing");
  });

  it("--cwd and --c: the configuration of that folder", () => {
    expect(stops(["--cwd", folder, "--e", "nothere"])).toContain(`${config} has no such environment`);
    expect(stops(["--cwd", folder, "--c", "wrangler.jsonc", "--env", "nothere"])).toContain(`${config} has no such environment`);
    expect(stops(["--cwd", folder, "--c=wrangler.jsonc", "--env", "live"])).toBeUndefined();
  });

  it("CLOUDFLARE_ENV in a file that wrangler reads: stops, unless the command line names one", () => {
    const there = join(folder, "there");
    mkdirSync(there);
    writeFileSync(join(there, ".env"), "A=b\nexport CLOUDFLARE_ENV = nothere\n");
    writeFileSync(join(there, "more"), "CLOUDFLARE_ENV=live\n");
    const file = (name: string) => `${name} has CLOUDFLARE_ENV; name the environment by --env NAME`;
    expect(stops(["--cwd", there, "-c", config])).toBe(file(".env"));
    expect(stops(["-c", config, "--env-file", join(there, "more")])).toBe(file(join(there, "more")));
    expect(stops(["--cwd", there, "-c", config, "--env", "live"])).toBeUndefined();
    expect(stops(["--cwd", folder, "-c", config])).toBeUndefined();
  });

  it.each([["--en"], ["--envi"], ["--environment"]])("%s: wrangler knows no such option, and deploys nothing", async (option) => {
    const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
    const ended = spawn(process.execPath, [wrangler, "deploy", "--dry-run", option, "nothere"], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [ended.stdout, ended.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(ended, "close")) as [number];
    expect([code, output]).toEqual([1, expect.stringMatching(/Unknown argument/)]);
  });

  it("--env before --, which npm takes, a missing value, no configuration: stop", async () => {
    const { code, err } = await runProgramHere("deploy", [], { npm_lifecycle_event: "deploy", npm_config_env: "nothere" });
    expect([code, err]).toEqual([
      2,
      "deploy: npm has taken --env for itself; put -- before the options: npm run deploy -- --env nothere\n",
    ]);
    expect(stops(["--env"])).toBe("--env: argument missing");
    expect(stops(["--config", join(folder, "none.toml")])).toContain("no such file");
  });
});
