/** Every program of package.json as users call it wrong: one line, no stack trace, exit code 2 for usage and 1 for failure. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Ended, runProgram, runProgramHere } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

/** file of scripts/ -> how users call it */
const PROGRAMS: Readonly<Record<string, string>> = {
  serve: "npm start",
  test: "npm test",
  checks: "npm run checks",
  tidy: "npm run tidy",
  compatibility: "npm run docs",
  import: "npm run import",
  check: "npm run check",
  backup: "npm run backup",
  restore: "npm run restore",
  dns: "npm run dns",
  proxy: "npm run proxy",
  agent: "npm run agent",
  token: "npm run token",
  cluster: "npm run cluster",
  package: "npm run package",
  simulate: "npm run simulate",
  coverage: "npm run coverage",
  fuzz: "npm run fuzz",
  soak: "npm run soak",
  bench: "npm run bench",
  model: "npm run model",
  sbom: "npm run sbom",
  "demo-drain": "npm run demo:drain",
  slow: "node scripts/run.mjs scripts/dev/slow.ts",
};
const folder = temporaryFolder();
/** of an agent, as it should be */
const node = ["--node", "n", "--address", "192.0.2.1"];
afterAll(() => removeFolder(folder));

const STACK = /^\s+at /m;

interface Refusal {
  code: number | null;
  line: string;
}

function refusalOf({ code, out, err }: Ended): Refusal {
  expect(out).toBe("");
  expect(err).not.toMatch(STACK);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
  return { code, line: err.trimEnd() };
}

/** Of a call that ends with its arguments. */
const refusal = async (name: string, args: readonly string[], env: Record<string, string> = {}): Promise<Refusal> =>
  refusalOf(await runProgramHere(name, args, env));

describe.each(Object.entries(PROGRAMS))("scripts/%s.ts", (name, command) => {
  it("--help: the usage, exit code 0", async () => {
    const { code, out, err } = await runProgramHere(name, ["--help"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out.startsWith(`Usage: ${command}`)).toBe(true);
    expect(out).toContain("--help");
  });

  it("an unknown option: one line that names it and --help, exit code 2", async () => {
    const { code, line } = refusalOf(await runProgram(name, ["--no-such-option"]));
    expect(line).toMatch(/^[a-z]+: Unknown option '--no-such-option' \(/);
    expect(line).toContain(`${command} -- --help`);
    expect(code).toBe(2);
  });
});

const RANGE = "SERVICE_CLUSTER_IP_RANGE=10.0.0.0/33";
const data = (): string[] => ["--port", "0", "--data-dir", join(folder, "data")];

describe("a wrong value or a missing file", () => {
  it.each<[string, string[], RegExp]>([
    ["checks", ["--only", "lint"], /^checks: --only lint: must be one of types, tidy, compatibility page$/],
    ["serve", ["--port", "http"], /^servicenet: --port http: must be a whole number from 0 to 65535/],
    ["serve", ["--port"], /^servicenet: Option '--port <value>' argument missing/],
    ["serve", ["9000"], /^servicenet: Unexpected argument '9000'/],
    [
      "serve",
      ["--allowed-host", "http://my.name"],
      /^servicenet: --allowed-host http:\/\/my.name: must be a host name, without scheme and port/,
    ],
    ["serve", ["--allowed-host", "my.name:80"], /^servicenet: --allowed-host my.name:80: must be a host name/],
    ["serve", ["--config", "nothere.toml"], /^servicenet: --config nothere.toml: there is no such file/],
    ["serve", ["--config", "README.md"], /^servicenet: --config README.md: /],
    ["serve", ["--var", "PORT"], /^servicenet: --var PORT: must be NAME=VALUE/],
    ["serve", ["--var", "NO_SUCH=1"], /^servicenet: --var NO_SUCH: wrangler.toml has no such variable \(it has SERVICE_CLUSTER_IP_RANGE, /],
    ["serve", ["--var", RANGE], /^servicenet: invalid configuration: SERVICE_CLUSTER_IP_RANGE/],
    [
      "serve",
      ["--var", "CONTROLLERS=*,-nobody"],
      /^servicenet: invalid configuration: CONTROLLERS: "nobody" is not in the list of known controllers$/,
    ],
    [
      "serve",
      ["--var", "CONTROLLERS=*,-service-cidr-controller"],
      /^servicenet: invalid configuration: CONTROLLERS: service-cidr-controller has no switch: /,
    ],
    [
      "serve",
      ["--var", "FEATURE_GATES=NoSuchGate=true"],
      /^servicenet: invalid configuration: FEATURE_GATES: unrecognized feature gate: NoSuchGate \(the gates are MultiCIDRServiceAllocator, .*\)$/,
    ],
    [
      "serve",
      ["--insecure-http", "--host", "0.0.0.0"],
      /^servicenet: --insecure-http: not on 0\.0\.0\.0; plain HTTP without credentials is for loopback alone$/,
    ],
    ["simulate", ["--histories", "many"], /^simulate: --histories many: must be a whole number/],
    ["simulate", ["--seed", "0"], /^simulate: --seed 0: must be a whole number of 1 or more/],
    ["simulate", ["--without", "gravity"], /^simulate: --without gravity: must be one of .*fence/],
    ["coverage", ["--against", "nothere.json"], /^coverage: nothere\.json is no summary of a coverage run: ENOENT/],
    ["coverage", ["--summary", "package.json"], /^coverage: package\.json is no summary of a coverage run: /],
    ["fuzz", ["--minutes", "0"], /^fuzz: --minutes 0: must be a whole number of 1 or more/],
    ["soak", ["--rate", "0"], /^soak: --rate 0: must be a whole number of 1 or more/],
    ["fuzz", ["--seed", "x"], /^fuzz: --seed x: must be a whole number from 1 to 2147483647/],
    ["bench", ["--only", "server,nothing"], /^bench: --only nothing: must be one of core, access, server, /],
    ["bench", ["--against", "localhost:6443"], /^bench: --against localhost:6443: must be a URL$/],
    ["bench", ["--against", "https://h", "--ca", "nothere.pem"], /^bench: --ca nothere.pem: ENOENT/],
    ["bench", ["--against", "https://h", "--watchers", "0"], /^bench: --watchers 0: must be a whole number of 1 or more$/],
    ["bench", ["--against", "https://h", "--only", "core"], /^bench: --only: goes without --against and --beside$/],
    ["bench", ["--against", "https://h", "--minutes", "1"], /^bench: --minutes: goes without --against and --beside$/],
    ["bench", ["--minutes", "0"], /^bench: --minutes 0: must be a whole number of 1 or more$/],
    ["bench", ["--services", "5"], /^bench: --services: goes with --against or --beside$/],
    ["model", ["--check", "--write"], /^model: --check: goes without --write and --bounds$/],
    ["check", ["--wait", "soon"], /^check: --wait soon: must be/],
    ["check", ["--output", "xml"], /^check: --output xml: must be one of text, json/],
    ["check", ["--server", "nowhere"], /^check: --server nowhere: must be a URL/],
    ["check", ["--kubeconfig", "nothere"], /^check: --kubeconfig nothere: .*ENOENT/],
    ["check", ["--token", "@nothere"], /^check: --token @nothere: .*ENOENT/],
    ["check", ["--ca-file", "nothere"], /^check: --ca-file nothere: .*ENOENT/],
    ["check", ["--token", "t", "--token-file", "f"], /^check: --token-file: not beside --token$/],
    ["backup", [], /^backup: no --file FILE given/],
    ["backup", ["--file", "x", "--cluster", "No"], /^backup: --cluster No: must be a DNS label/],
    ["restore", [], /^restore: no --file FILE given/],
    ["restore", ["--file", "nothere.jsonl"], /^restore: nothere.jsonl cannot be read: .*ENOENT/],
    ["restore", ["--recover", "services"], /^restore: --recover NAMES goes with --as-of TIME or --bookmark TEXT$/],
    ["restore", ["--bookmark", "b"], /^restore: --recover NAMES goes with --as-of TIME or --bookmark TEXT$/],
    ["restore", ["--recover", "a,b", "--bookmark", "b"], /^restore: --bookmark is of one object$/],
    ["restore", ["--recover", "a", "--bookmark", "b", "--resume"], /^restore: --recover takes no --file, --resume, /],
    ["restore", ["--recover", "a", "--as-of", "noon"], /^restore: --as-of noon: no time such as 2026-01-31T12:00:00Z$/],
    ["restore", ["--recovered", "services"], /^restore: --recovered NAMES and --as-of TIME need each other$/],
    ["restore", ["--recovered", ",", "--as-of", "2026-01-31T12:00:00Z"], /^restore: --recovered NAMES and --as-of TIME need each other$/],
    ["restore", ["--recovered", "services", "--as-of", "noon"], /^restore: --as-of noon: no time such as 2026-01-31T12:00:00Z$/],
    [
      "restore",
      ["--recovered", "services", "--as-of", "2026-01-31T12:00:00Z", "--file", "x"],
      /^restore: --recovered takes no --file, --resume, --dry-run or --location$/,
    ],
    ["dns", [], /^dns: no --file FILE given/],
    ["dns", ["--file", "x", "--domain", "Cluster.Local"], /^dns: --domain Cluster.Local: must be a DNS domain/],
    ["dns", ["--file", "x", "--listen-prefix", "10.0.0.0"], /^dns: --listen-prefix 10.0.0.0: /],
    ["agent", [], /^agent: no --node NAME given/],
    ["agent", ["--node", "N_1"], /^agent: --node N_1: a lowercase RFC 1123 subdomain/],
    ["agent", ["--node", "n", "--address", "127.0.0.1"], /^agent: --address 127.0.0.1: may not be in the loopback range/],
    ["agent", ["--node", "n", "--address", "fe80::1"], /^agent: --address fe80::1: may not be in the link-local range/],
    ["agent", ["--node", "n", "--address", "host"], /^agent: --address host: must be an IP address/],
    ["agent", [...node, "--label", "a"], /^agent: --label a: must be KEY=VALUE/],
    ["agent", [...node, "--label", "a b=c"], /^agent: --label a b=c: name part must consist of/],
    ["agent", [...node, "--zone", "-"], /^agent: --zone -: a valid label must be/],
    ["agent", [...node, "--endpoint", "web"], /^agent: --endpoint web: must begin with NAME=PORT/],
    ["agent", [...node, "--proxy-health", "10256"], /^agent: --proxy-health 10256: must be an HTTP URL/],
    ["agent", [...node, "--sync-period", "0"], /^agent: --sync-period 0: must be a whole number from 1 to 3600/],
    ["agent", [...node, "--token", "t", "--token-file", "f"], /^agent: --token-file: not beside --token/],
    ["cluster", [], /^cluster: no command given: must be one of list, create, delete$/],
    ["cluster", ["make", "a"], /^cluster: make: must be one of list, create, delete$/],
    ["cluster", ["list", "a"], /^cluster: list takes no a$/],
    ["cluster", ["create"], /^cluster: create: needs one NAME$/],
    ["cluster", ["create", "No"], /^cluster: create No: a lowercase RFC 1123 label/],
    ["cluster", ["create", "a", "--service-cidr", "10.0.0.0"], /^cluster: --service-cidr 10.0.0.0: /],
    ["cluster", ["delete", "a", "--location", "weur"], /^cluster: --location: goes with create$/],
    ["cluster", ["create", "a", "--wait", "1"], /^cluster: --wait: goes with delete$/],
    ["cluster", ["delete", "a", "--wait", "soon"], /^cluster: --wait soon: must be a whole number/],
    ["token", [], /^token: no command given: must be one of create, list, rotate, revoke, new-admin, dev-vars$/],
    ["token", ["make"], /^token: make: must be one of create, /],
    ["token", ["create"], /^token: create: needs a USER, agent NAME or node NAME$/],
    ["token", ["create", "robot", "n"], /^token: create robot n: must be create USER, /],
    ["token", ["create", "agent", "N_1"], /^token: create agent N_1: a lowercase RFC 1123 subdomain/],
    ["token", ["create", "a", "--expires", "soon"], /^token: --expires soon: must be a duration, as 30d, 12h or 10m$/],
    ["token", ["rotate", "a", "--grace", "1w"], /^token: --grace 1w: must be a duration/],
    ["token", ["list", "--group", "g"], /^token: --group: goes with create$/],
    ["token", ["revoke"], /^token: revoke: needs one ID$/],
    ["token", ["new-admin", "x"], /^token: new-admin takes no x$/],
    ["token", ["dev-vars", "x"], /^token: dev-vars takes no x$/],
    ["token", ["list", "--server", "nowhere"], /^token: --server nowhere: must be a URL$/],
    ["proxy", [], /^proxy: no --node NAME given/],
    ["proxy", ["--node", "n", "--listen-prefix", "127.0.0.1/8"], /^proxy: --listen-prefix 127.0.0.1\/8: must not have bits set beyond/],
    ["proxy", ["--node", "n", "--node-port-address", "localhost"], /^proxy: --node-port-address localhost: must be an IP address/],
    ["proxy", ["--node", "n", "--healthz-bind-address", "10256"], /^proxy: --healthz-bind-address 10256: must be ADDRESS:PORT or none/],
    ["proxy", ["--node", "n", "--metrics-bind-address", "[::1]:70000"], /^proxy: --metrics-bind-address \[::1\]:70000: the port must be/],
    ["proxy", ["--node", "n", "--udp-timeout", "0"], /^proxy: --udp-timeout 0: must be a whole number from 1 to 86400/],
    ["proxy", ["--node", "n", "--sync-period", "3601"], /^proxy: --sync-period 3601: must be a whole number from 1 to 3600/],
    ["proxy", ["--node", "n", "--server", "nowhere"], /^proxy: --server nowhere: must be a URL/],
    ["import", [], /^import: no FILE given/],
    ["import", ["nothere.json"], /^import: nothere.json cannot be read: .*ENOENT/],
    ["import", ["README.md"], /^import: README.md is /],
    ["slow", ["counts.json", "more"], /^slow: /],
  ])("%s %j: one line that names the mistake", async (name, args, line) => {
    const told = await refusal(name, args);
    expect(told.line).toMatch(line);
    expect(told.code).toBe(2);
  });

  it.each<[string, string[], Record<string, string>, string]>([
    [
      "serve",
      ["9000"],
      { npm_config_port: "true" },
      "servicenet: npm has taken --port for itself; put -- before the options: npm start -- --port 9000",
    ],
    [
      "serve",
      [],
      { npm_config_port: "9000" },
      "servicenet: npm has taken --port for itself; put -- before the options: npm start -- --port 9000",
    ],
    [
      "serve",
      [],
      { npm_config_fresh: "true" },
      "servicenet: npm has taken --fresh for itself; put -- before the options: npm start -- --fresh",
    ],
    [
      "import",
      ["dump.json"],
      { npm_config_dry_run: "true" },
      "import: npm has taken --dry-run for itself; put -- before the options: npm run import -- --dry-run",
    ],
  ])("%s %j with %j: one line that hints at the missing --", async (name, args, env, line) => {
    expect(await refusal(name, args, { npm_lifecycle_event: "start", ...env })).toEqual({ code: 2, line });
  });
});

describe.concurrent("a failure", () => {
  it("a taken port: exit code 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const line = `servicenet: port ${String(port)} on 127.0.0.1 is already in use; choose another one with --port`;
    expect(refusalOf(await runProgram("serve", [...data(), "--port", String(port)]))).toEqual({ code: 1, line });
    other.close();
  });

  it("a data folder below a file: exit code 1", async () => {
    const { code, line } = refusalOf(await runProgram("serve", ["--port", "0", "--data-dir", "README.md/data"]));
    expect(line).toMatch(/^servicenet: the data folder .* is not writable \(ENOTDIR\)$/);
    expect(code).toBe(1);
  });

  it.each([
    { name: "check", args: [], expected: 2 },
    { name: "backup", args: ["--file", join(folder, "b")], expected: 1 },
  ])("$name of a server that does not answer: exit code $expected", async ({ name, args, expected }) => {
    const { code, line } = refusalOf(await runProgram(name, ["--server", "http://127.0.0.1:1", ...args]));
    expect(line).toMatch(new RegExp(`^${name}: http://127.0.0.1:1 does not answer: `));
    expect(code).toBe(expected);
  });

  it("backup of a cluster with two Services of one address: exit code 3, and the file is there", async () => {
    const service = (name: string) => ({
      metadata: { name, namespace: "default" },
      spec: { type: "ClusterIP", clusterIP: "10.0.0.5", clusterIPs: ["10.0.0.5"] },
    });
    const listed = (name: string, kind: string) => ({ name, kind, namespaced: name === "services", verbs: ["list", "create"] });
    const documents: Record<string, object> = {
      "/version": { gitVersion: "v1.36.0" },
      "/api": { versions: ["v1"] },
      "/apis": { groups: [{ name: "networking.k8s.io", preferredVersion: { version: "v1" } }] },
      "/api/v1": { resources: [listed("services", "Service")] },
      "/apis/networking.k8s.io/v1": { resources: [listed("ipaddresses", "IPAddress"), listed("servicecidrs", "ServiceCIDR")] },
      "/api/v1/services": { metadata: { resourceVersion: "9" }, items: [service("a"), service("b")] },
      "/apis/networking.k8s.io/v1/ipaddresses": { metadata: { resourceVersion: "9" }, items: [] },
      "/apis/networking.k8s.io/v1/servicecidrs": {
        metadata: { resourceVersion: "9" },
        items: [{ metadata: { name: "kubernetes" }, spec: { cidrs: ["10.0.0.0/16"] } }],
      },
    };
    const other = createServer(({ url = "" }, response) => {
      const document = documents[new URL(url, "http://h").pathname];
      response.writeHead(document ? 200 : 404, { "Content-Type": "application/json" }).end(JSON.stringify(document ?? {}));
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const file = join(folder, "wrong");
    const { code, out, err } = await runProgram("backup", ["--server", `http://127.0.0.1:${String(port)}`, "--file", file]);
    other.close();
    expect({ code, err }).toEqual({ code: 3, err: "" });
    expect(out).toContain("10.0.0.5 is held by default/a and by default/b");
    expect(readFileSync(file, "utf8").trimEnd().split("\n").length).toBeGreaterThan(5);
  });
});
