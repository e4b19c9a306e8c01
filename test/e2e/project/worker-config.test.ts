/** The configuration as the local server reads it, beside wrangler's own reading. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerOptions } from "miniflare";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as Wrangler from "wrangler";
import { requirePackage, root } from "../../../scripts/running/root.mjs";
import { readWorkerConfig, type WorkerConfig } from "../../../scripts/serve/worker-config";
import { UserError } from "../../../scripts/terminal/user-error";
import { removeFolder, temporaryFolder } from "../../support/server/server";

// `import` would read the megabytes of the package twice more.
const wrangler = requirePackage("wrangler") as typeof Wrangler;

let folder: string;
const HEAD = `name = "x"\nmain = "x.ts"\ncompatibility_date = "2026-04-26"\n`;
const path = (name = "wrangler.toml"): string => join(folder, name);
const read = () => readWorkerConfig(path());
/** The message of the refusal. */
function problem(name?: string): string {
  try {
    readWorkerConfig(path(name));
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error("it was read");
}
const write = (answer: string, more = ""): void => writeFileSync(path(), `${HEAD}${more}\n[vars]\nANSWER = "${answer}"\n`);

beforeEach(() => {
  folder = temporaryFolder();
  write("42");
  vi.spyOn(console, "log").mockReturnValue();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  removeFolder(folder);
});

/** What wrangler reads, in the form of the local server. */
function readByWrangler(file: string): WorkerConfig {
  const config = wrangler.unstable_readConfig({ config: file });
  const { workerOptions, main, define } = wrangler.unstable_getMiniflareWorkerOptions(config);
  const { compatibilityDate, compatibilityFlags, bindings, durableObjects, kvNamespaces } = workerOptions as Partial<WorkerOptions>;
  return {
    name: config.name ?? "",
    main: main ?? "",
    crons: config.triggers.crons ?? [],
    vars: config.vars,
    define,
    worker: {
      compatibilityDate,
      compatibilityFlags,
      bindings,
      durableObjects: durableObjects ?? {},
      kvNamespaces,
    } as Partial<WorkerOptions>,
  };
}

/** What wrangler gives Miniflare besides: nothing but empty lists, and rules for modules, which a bundle does not have. */
function furtherOptions(file: string): string[] {
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(wrangler.unstable_readConfig({ config: file }));
  const ours = new Set([...Object.keys(readWorkerConfig(file).worker), "modulesRules"]);
  return Object.entries(workerOptions)
    .filter(([name, value]) => !ours.has(name) && value !== undefined && !/^(\{\}|\[\]|\{"send_email":\[\]\})$/.test(JSON.stringify(value)))
    .map(([name]) => name);
}

describe("as wrangler reads it", () => {
  it("wrangler.toml of the project: the same options, and no others", () => {
    const file = join(root, "wrangler.toml");
    expect(readWorkerConfig(file)).toEqual(readByWrangler(file));
    // Without a version, log lines name none.
    expect(furtherOptions(file)).toEqual(["versionMetadata"]);
  });

  it.each(["staging", "production"])(
    "environment %s of wrangler.toml: what the top level has, under the name of the environment",
    (name) => {
      const config = join(root, "wrangler.toml");
      const all = (env?: string) => {
        const { name: worker, topLevelName, targetEnvironment, ...others } = wrangler.unstable_readConfig({ config, ...(env && { env }) });
        return { worker, others };
      };
      expect(all(name).others).toEqual(all().others);
      expect(all(name).worker).toBe(name === "production" ? "servicenet" : "servicenet-staging");
      vi.stubEnv("CLOUDFLARE_ENV", name);
      const warn = vi.spyOn(console, "warn").mockReturnValue();
      expect(readWorkerConfig(config)).toEqual(readByWrangler(config));
      expect(warn).not.toHaveBeenCalled();
    },
  );

  const FULL = `${HEAD}compatibility_flags = ["nodejs_compat"]
account_id = "0"
workers_dev = true
routes = ["example.com/*"]
[limits]
cpu_ms = 10
[define]
VERSION = "'1'"
[vars]
TEXT = "a"
NUMBER = 1
LIST = [1, "b"]
TABLE = { a = { b = true } }
[triggers]
crons = ["* * * * *"]
[[durable_objects.bindings]]
name = "A"
class_name = "NewA"
[[durable_objects.bindings]]
name = "B"
class_name = "B"
[[durable_objects.bindings]]
name = "OWN"
class_name = "B"
script_name = "x"
[[durable_objects.bindings]]
name = "UNKNOWN"
class_name = "Unknown"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["A", "Gone"]
[[migrations]]
tag = "v2"
new_classes = ["B"]
deleted_classes = ["Gone"]
renamed_classes = [{ from = "A", to = "NewA" }]
[[kv_namespaces]]
binding = "K"
id = "k"
[[kv_namespaces]]
binding = "P"
id = "p"
preview_id = "preview"
[[kv_namespaces]]
binding = "NAMELESS"
`;
  it.each<[string, string]>([
    ["all fields that the local server serves", FULL],
    ["the fewest", HEAD],
    ["an empty list of what the local server does not have", `${HEAD}r2_buckets = []\n[queues]\nproducers = []`],
    ["a byte order mark", `\uFEFF${HEAD}`],
    ["a folder in main", HEAD.replace("x.ts", "../y/x.ts")],
  ])("%s: the same options", (_, text) => {
    writeFileSync(path(), text);
    expect(read()).toEqual(readByWrangler(path()));
    expect(furtherOptions(path())).toEqual([]);
  });

  it.each<[string, string]>([
    ["wrangler.json", '{ "name": "x", "main": "x.ts", "compatibility_date": "2026-04-26", "vars": { "A": { "b": null } } }'],
    ["wrangler.jsonc", '// a comment\n{ "name": "x", "main": "x.ts", /* another */ "triggers": { "crons": ["* * * * *"], }, }'],
  ])("%s: the same options", (name, text) => {
    writeFileSync(path(name), text);
    expect(readWorkerConfig(path(name))).toEqual(readByWrangler(path(name)));
  });

  it.each<[string, string]>([
    ["of its own", `[env.other]\nname = "y"\nmain = "y.ts"\ntriggers = { crons = ["0 * * * *"] }\nvars = { ANSWER = "46" }`],
    ["that inherits", `[triggers]\ncrons = ["* * * * *"]\n[env.other]`],
    [
      "with objects",
      `[env.other]\nkv_namespaces = [{ binding = "K", id = "1" }]\ndurable_objects = { bindings = [{ name = "A", class_name = "A" }] }`,
    ],
    ["that does not exist, without any other", ""],
  ])("an environment %s: the same options", (_, more) => {
    write("42", more);
    vi.spyOn(console, "warn").mockReturnValue();
    vi.stubEnv("CLOUDFLARE_ENV", "other");
    expect(read()).toEqual(readByWrangler(path()));
  });

  const PLAIN = "A=1\nB=\"two\\nlines\" # comment\nexport C='$A'\nANSWER=43\nEMPTY=\n";
  const EXPANDED = "A=1\nB=${A}2\nC=\\$A\nD=${NONE:-d}\nK=3\n";
  it.each<[what: string, files: Record<string, string>, env: Record<string, string>]>([
    [".dev.vars", { ".dev.vars": PLAIN, ".env": "E=1" }, {}],
    [".dev.vars of an environment, which is not read", { ".dev.vars.other": PLAIN }, {}],
    [".env", { ".env": EXPANDED }, {}],
    [".env.local over .env", { ".env": EXPANDED, ".env.local": "A=2\nL=$A" }, {}],
    [".env that is switched off", { ".env": EXPANDED }, { CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "False" }],
    [".env with the environment", { ".env": EXPANDED }, { CLOUDFLARE_INCLUDE_PROCESS_ENV: "true", A: "of the environment" }],
    ["a variable with the name of a binding", { ".dev.vars": "K=1\n" }, {}],
  ])("%s: the same options", (_, files, env) => {
    write("42", '[[kv_namespaces]]\nbinding = "K"\nid = "k"');
    for (const [name, text] of Object.entries(files)) writeFileSync(path(name), text);
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(read()).toEqual(readByWrangler(path()));
  });

  it("secrets that the configuration names: the same options, and a line for those that are missing", () => {
    write("42", '[secrets]\nrequired = ["A", "B", "NOWHERE"]');
    writeFileSync(path(".env"), "A=1\nC=2\n");
    vi.stubEnv("B", "of the environment");
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const own = read();
    expect(warn.mock.calls.flat().join()).toMatch(/: secrets that .* has: NOWHERE$/);
    expect(own).toEqual(readByWrangler(path()));
  });
});

describe("what wrangler refuses, or the local server does not have", () => {
  const DURABLE = '[[durable_objects.bindings]]\nname = "A"';
  it.each<[string, string]>([
    ['[[r2_buckets]]\nbinding = "R"\nbucket_name = "r"', 'the local server does not have "r2_buckets"'],
    ['[[services]]\nbinding = "S"\nservice = "other"\n[ai]\nbinding = "AI"', 'the local server does not have "services", "ai"'],
    ['[version_metadata]\nbinding = "OTHER"', 'the local server does not have "version_metadata"'],
    ['[assets]\ndirectory = "public"', 'the local server does not have "assets"'],
    [
      `${DURABLE}\nclass_name = "A"\nscript_name = "other"`,
      'the local server has no other Worker: "script_name" of "durable_objects.bindings" A',
    ],
    [DURABLE, '"durable_objects.bindings" needs a "class_name"'],
    ['[[kv_namespaces]]\nid = "1"', '"kv_namespaces" needs a "binding"'],
    ['[[kv_namespaces]]\nbinding = "ANSWER"\nid = "1"', '"ANSWER" is bound twice'],
    ['[triggers]\ncrons = "* * * * *"', '"triggers.crons" must be a list of texts'],
    ['[[migrations]]\ntag = "v1"\ndeleted_classes = ["A"]', '"migrations v1" names A, which no earlier migration has made'],
    ['[[migrations]]\ntag = "v1"\nnew_classes = ["A", "A"]', '"migrations v1" makes A, which an earlier one has made'],
    ["[define]\nA = 1", '"define.A" must be a text'],
    ["compatibility_flags = 1", '"compatibility_flags" must be a list of texts'],
    ["= 1", "line 4: Invalid TOML document: "],
    [`vars = 1\n[env.x]`, "line 6: Invalid TOML document: "],
  ])("%j: one line that names it", (more, message) => {
    write("42", more);
    expect(problem()).toContain(`--config ${path()}: ${message}`);
    expect(problem()).not.toContain("\n");
  });

  it.each<[name: string, text: string, message: string]>([
    ["wrangler.toml", HEAD.replace("x.ts", ""), "name and main are required"],
    ["wrangler.toml", HEAD.replace('"x"', '"X y"'), '"name" must be of lowercase letters, digits, - and _'],
    ["wrangler.toml", HEAD.replace('"2026-04-26"', "2026-04-26"), '"compatibility_date" must be a text'],
    ["wrangler.toml", HEAD.replace("2026-04-26", "today"), '"compatibility_date" must be a date as 2026-04-26'],
    ["wrangler.json", '{\n"name": x }', "line 2: InvalidSymbol"],
    ["wrangler.json", "[]", "must be a table of fields"],
    ["wrangler.yaml", "name: x", "the name must end in .toml, .json or .jsonc"],
  ])("%s with %j: one line that says so", (name, text, message) => {
    writeFileSync(path(name), text);
    expect(problem(name)).toBe(`--config ${path(name)}: ${message}`);
  });

  it.each<[Record<string, string>, string]>([
    [{ CLOUDFLARE_ENV: "nowhere" }, 'there is no environment "nowhere" of $CLOUDFLARE_ENV (there is other)'],
    [{ CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "maybe" }, "$CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV must be true or false"],
  ])("environment %j: one line that says so", (env, message) => {
    write("42", "[env.other]");
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(problem()).toBe(`--config ${path()}: ${message}`);
  });
});

it("a configuration that changed: read anew", () => {
  read();
  write("43");
  expect(read().vars).toEqual({ ANSWER: "43" });
});

it("a file with variables beside it: read each time", () => {
  read();
  for (const answer of ["44", "45"]) {
    writeFileSync(path(".dev.vars"), `ANSWER=${answer}\n`);
    expect(read().worker.bindings).toEqual({ ANSWER: answer });
  }
});

it("a variable of the environment that wrangler knows: read each time", () => {
  write("42", '[env.other]\nvars = { ANSWER = "46" }');
  read();
  vi.stubEnv("CLOUDFLARE_ENV", "other");
  expect(read().vars).toEqual({ ANSWER: "46" });
});

it("a configuration that wrangler warns of: each time", () => {
  write("42", "unknown = 1");
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  read();
  read();
  expect(warn).toHaveBeenCalledTimes(2);
});

it("a configuration that wrangler refuses: each time", () => {
  write("42", "main = 1");
  for (let i = 0; i < 2; i++) expect(read).toThrow(/^--config \S+wrangler.toml: /);
});
