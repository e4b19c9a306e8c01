/** The tarball that `npm pack` makes, installed into an empty folder, on each Node that is supported. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../../../package.json" with { type: "json" };
import { packagesOf } from "../../../../scripts/running/packages.mjs";
import { root } from "../../../../scripts/running/root.mjs";
import { send } from "../../../../scripts/cluster/send";
import { installedPackage, type InstalledPackage, NODES } from "../../../support/package/installed-package";
import { startCommand } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const folders: string[] = [];
const newFolder = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedPackage(newFolder());
}, 600_000);
afterAll(() => folders.forEach(removeFolder));

/** One call of the command, to its end. */
function call(args: readonly string[], { node = process.execPath, cwd = newFolder(), before = [] as string[] } = {}) {
  const { status, stdout, stderr } = spawnSync(node, [...before, installed.command, ...args], { cwd, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

/** `servicenet serve`, ready. */
async function serve(cwd: string, { node = process.execPath, args = ["--port", "0"] } = {}) {
  const server = await startCommand(node, [installed.command, "serve", ...args], /ready at (https?:\S+).*\n.*\n/, cwd);
  const [, url = ""] = server.found;
  const file = (name: string): string => readFileSync(join(cwd, ".servicenet", name), "utf8").trim();
  const target = { url, options: { ca: file("ca.crt"), headers: { Authorization: `Bearer ${file("admin-token")}` } } };
  return { ...server, url, target };
}

const SERVICES = "/api/v1/namespaces/default/services";
const service = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };

describe("the package", () => {
  it("has bundles and no sources, and says that it is Servicenet of this version", () => {
    const files = readdirSync(installed.folder, { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "dist/servicenet/worker.mjs", "dist/servicenet/LICENCES.txt"]));
    expect(call(["--version"])).toEqual({ code: 0, out: `${packageJson.version}\n`, err: "" });
  });

  it("installed size: at most 210 MB, in at most 60 packages", () => {
    const [size = ""] = execFileSync("du", ["-sm", join(installed.project, "node_modules")], { encoding: "utf8" }).split("\t");
    expect(Number(size)).toBeLessThanOrEqual(210);
    const packages = Object.keys(packagesOf(join(installed.project, "node_modules", ".package-lock.json")) ?? {});
    expect(packages).toContain("node_modules/servicenet");
    expect(packages.length).toBeLessThanOrEqual(60);
  });

  it("licences of the code in the bundles: with their texts", () => {
    const text = readFileSync(join(installed.folder, "dist", "servicenet", "LICENCES.txt"), "utf8");
    for (const name of ["commander", "yaml", "hono", "@kubernetes/client-node"]) {
      expect(text).toMatch(new RegExp(`^==== ${name} \\d\\S* \\([\\w.-]+\\)\n\n\\S`, "m"));
    }
  });
});

it("the Nodes of .ci/run: are here", () => {
  const majors = NODES.map((node) => execFileSync(node, ["--version"], { encoding: "utf8" }).split(".")[0]);
  expect(majors).toEqual(expect.arrayContaining(["v22", "v24"]));
});

describe.each(NODES)("on %s", (node) => {
  it("serve in an empty folder: keeps its data there, takes a Service, is checked, stops, and goes on", async () => {
    const cwd = newFolder();
    const first = await serve(cwd, { node });
    expect(readdirSync(cwd)).toEqual([".servicenet"]);
    expect((await send(first.target, "POST", SERVICES, service, "application/json")).status).toBe(201);
    const checked = call(["check"], { node, cwd });
    expect([checked.code, checked.err]).toEqual([0, ""]);
    expect(call(["check", "--kubeconfig", ".servicenet/kubeconfig"], { node, cwd })).toEqual(checked);
    expect(call(["cluster", "list", "--output", "json"], { node, cwd }).out).toContain('"name": "default"');
    expect(await first.stop()).toBe(0);
    expect(first.output()).toMatch(/Stopped\. The data is kept in \.servicenet; servicenet serve goes on with it\.\n$/);
    const second = await serve(cwd, { node });
    expect((await send(second.target, "GET", `${SERVICES}/web`)).status).toBe(200);
    expect(await second.stop()).toBe(0);
  }, 180_000);
});

describe("what goes wrong: one line each", () => {
  it.each([
    [["sevre"], "servicenet: unknown command 'sevre' (Did you mean serve?)"],
    [["serve", "--prot", "1"], "servicenet: Unknown option '--prot' (servicenet serve --help shows the options)"],
  ])("%j: exit code 2", (args, line) => {
    expect(call(args)).toEqual({ code: 2, out: "", err: `${line}\n` });
  });

  it("bench, and token dev-vars: need a clone, exit code 1", () => {
    expect(call(["bench"])).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/^servicenet: bench: [^\n]* clone [^\n]*\n$/) });
    expect(call(["token", "dev-vars"])).toMatchObject({ code: 1, err: expect.stringMatching(/^token: dev-vars: [^\n]* clone [^\n]*\n$/) });
  });

  it("a port that is taken, and a data folder in use: exit code 1, and the server goes on", async () => {
    const cwd = newFolder();
    const server = await serve(cwd);
    const { port } = new URL(server.url);
    expect(call(["serve", "--port", port])).toEqual({
      code: 1,
      out: "",
      err: `servicenet: port ${port} on 127.0.0.1 is already in use; choose another one with --port\n`,
    });
    const second = call(["serve", "--port", "0"], { cwd });
    expect([second.code, second.out]).toEqual([1, ""]);
    expect(second.err).toMatch(/^servicenet: the data folder \S+ is in use by process \d+[^\n]*\n$/);
    expect((await send(server.target, "GET", "/readyz")).status).toBe(200);
    await server.stop();
  });

  it("an old Node: the version that is needed, exit code 1", () => {
    const old = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"18.20.8"}});Object.defineProperty(process,"version",{value:"v18.20.8"})`;
    expect(call(["serve"], { before: ["--import", old] })).toEqual({
      code: 1,
      out: "",
      err: "Servicenet needs Node 20.19 or newer; this is v18.20.8.\n",
    });
  });

  it("no server: programs say so, exit code as in a clone", () => {
    const { code, err } = call(["cluster", "list", "--server", "http://127.0.0.1:9"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^cluster: http:\/\/127\.0\.0\.1:9 does not answer: [^\n]*\n$/);
  });
});

it("a configuration of the user's: its variables count, the Worker is the package's", async () => {
  const cwd = newFolder();
  const own = readFileSync(join(installed.folder, "wrangler.toml"), "utf8")
    .replace(/^main = .*$/m, 'main = "nothere.ts"')
    .replace(/^SERVICE_CLUSTER_IP_RANGE = .*$/m, 'SERVICE_CLUSTER_IP_RANGE = "10.9.0.0/24"');
  writeFileSync(join(cwd, "own.toml"), own);
  const server = await serve(cwd, { args: ["--port", "0", "--config", "own.toml"] });
  const { text } = await send(server.target, "POST", SERVICES, service, "application/json");
  expect(JSON.parse(text)).toMatchObject({ spec: { clusterIP: expect.stringMatching(/^10\.9\.0\./) } });
  await server.stop();
});

describe("beside a clone", () => {
  it("a folder with scripts and sources of its own: the package serves its own code", async () => {
    const cwd = newFolder();
    for (const name of ["src", "scripts"]) mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, "scripts", "run.mjs"), "throw new Error('of the clone')");
    writeFileSync(join(cwd, "wrangler.toml"), "of = 'the clone'");
    writeFileSync(join(cwd, ".dev.vars"), "ADMIN_TOKEN_HASHES=wrong");
    const server = await serve(cwd);
    expect((await send(server.target, "GET", "/readyz")).status).toBe(200);
    await server.stop();
  });

  it("the command in a clone: runs the sources, wherever it is called", () => {
    const command = join(root, packageJson.bin.servicenet);
    const { stdout } = spawnSync(process.execPath, [command, "check", "--help"], { cwd: newFolder(), encoding: "utf8" });
    expect(stdout).toMatch(/^Usage: servicenet check /);
    expect(existsSync(join(root, "scripts", "run.mjs"))).toBe(true);
  });
});
