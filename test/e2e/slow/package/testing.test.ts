/** `servicenet/testing` from the tarball, and the programs of docs/testing.md. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../../../scripts/running/root.mjs";
import { installedPackage, type InstalledPackage, NODES } from "../../../support/package/installed-package";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const folder = temporaryFolder();
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedPackage(folder);
}, 600_000);
afterAll(() => removeFolder(folder));

const IMPORT = `import { startServicenet } from "servicenet/testing";\n`;
let programs = 0;

/** A program beside the package, which prints JSON. */
function program(code: string): string {
  const path = join(installed.project, `program-${String(++programs)}.mjs`);
  writeFileSync(path, IMPORT + code);
  return path;
}

function run<T>(code: string, node = process.execPath): T {
  const { stdout, stderr, status } = spawnSync(node, [program(code)], { cwd: installed.project, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as T;
}

const answers = async (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

interface Found {
  codes: number[];
  names: string[];
  taken: string;
  wrong: string;
  hosts: (string | undefined)[];
  urls: string[];
  kubeconfig: string;
}

describe.each(NODES)("startServicenet on %s", (node) => {
  it("clusters: share nothing, have names and kubeconfigs of their own; a taken name is refused; stop leaves nothing", async () => {
    const found = run<Found>(
      `import { readFileSync } from "node:fs";
      const server = await startServicenet();
      const clusters = [await server.cluster(), await server.cluster(), await server.cluster("blue")];
      const body = JSON.stringify({ metadata: { name: "web" }, spec: { clusterIP: "10.96.0.9", ports: [{ port: 80 }] } });
      const headers = { "Content-Type": "application/json" };
      const codes = [];
      for (const { url } of [server, ...clusters]) codes.push((await fetch(url + "/api/v1/namespaces/default/services", { method: "POST", headers, body })).status);
      const refused = (name) => server.cluster(name).then(() => "", (error) => error.message);
      const [taken, wrong] = [await refused("blue"), await refused("No")];
      const hosts = [server, ...clusters].map(({ kubeconfig }) => /server: (\\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1]);
      await Promise.all([server.stop(), server.stop()]);
      const urls = [server, ...clusters].map(({ url }) => url);
      console.log(JSON.stringify({ codes, names: clusters.map(({ name }) => name), taken, wrong, hosts, urls, kubeconfig: server.kubeconfig }));`,
      node,
    );
    expect(found.codes).toEqual([201, 201, 201, 201]);
    expect(found.names).toEqual(["test-1", "test-2", "blue"]);
    expect(found.hosts).toEqual(found.urls);
    expect(found.taken).toBe("there is a cluster blue already");
    expect(found.wrong).toMatch(/^cluster No: 422 /);
    expect(existsSync(dirname(dirname(found.kubeconfig)))).toBe(false);
    expect(await answers(found.urls[0] ?? "")).toBe(false);
  }, 180_000);
});

it("options that the server refuses: an error in its words, and nothing is left", () => {
  const { message } = run<{ message: string }>(
    `await startServicenet({ args: ["--var", "NO_SUCH=1"] }).catch(({ message }) => console.log(JSON.stringify({ message })));`,
  );
  expect(message).toMatch(/^Servicenet does not start: servicenet: --var NO_SUCH: \S+ has no such variable/);
});

const FORGETFUL = `const { url, kubeconfig } = await startServicenet();\nconsole.log(JSON.stringify({ url, kubeconfig }));\n`;

it("a program that forgets stop: ends by itself, with its server and the data", async () => {
  const { url, kubeconfig } = run<{ url: string; kubeconfig: string }>(FORGETFUL);
  expect(existsSync(kubeconfig)).toBe(false);
  await expect.poll(() => answers(url)).toBe(false);
});

it("kill -9 of a program: the server ends, and the next start removes its data", async () => {
  const child = spawn(process.execPath, [program(`${FORGETFUL}setInterval(() => undefined, 1000);`)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url, kubeconfig } = JSON.parse(line.toString()) as { url: string; kubeconfig: string };
  child.kill("SIGKILL");
  await expect.poll(() => answers(url)).toBe(false);
  run(FORGETFUL);
  expect(existsSync(dirname(dirname(kubeconfig)))).toBe(false);
});

describe("docs/testing.md", () => {
  const page = readFileSync(join(root, "docs", "testing.md"), "utf8");
  const [js = "", go = "", python = ""] = ["ts", "go", "python"].map(
    (language) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1],
  );
  const read = (...names: string[]): string => readFileSync(join(root, "test", ...names), "utf8");

  /** A test program in a folder of its own, with the command on the PATH. */
  function tested(command: string, args: readonly string[], cwd: string): { code: number | null; output: string } {
    const PATH = [dirname(installed.command), process.env["PATH"] ?? ""].join(delimiter);
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: { ...process.env, PATH }, encoding: "utf8" });
    return { code: status, output: stdout + stderr };
  }

  it("programs: those that compilers and linters check", () => {
    expect(js).toBe(read("support", "examples", "services-suite.ts"));
    expect(go).toBe(read("clients", "controller-runtime", "reconciler_test.go"));
    expect(python).toBe(read("clients", "python", "services_test.py"));
  });

  it("JavaScript: vitest runs it", () => {
    for (const name of ["vitest", "@kubernetes/client-node"]) {
      const path = join(installed.project, "node_modules", name);
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(join(root, "node_modules", name), path);
    }
    writeFileSync(join(installed.project, "services.test.ts"), js);
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const { code, output } = tested(process.execPath, [vitest, "run", "--root", installed.project], installed.project);
    expect(output).toMatch(/Tests .*2 passed/);
    expect(code).toBe(0);
  }, 180_000);

  it("Go: controller-runtime, and an Environment of kubebuilder", () => {
    const { code, output } = tested(process.env["CLIENTS_CONTROLLER_RUNTIME"] ?? "", ["-test.v"], folder);
    for (const name of ["TestFamily/80", "TestFamily/443", "TestEnvironment"]) expect(output).toContain(`--- PASS: ${name}`);
    expect(code).toBe(0);
  }, 180_000);

  it("Python: the official client", () => {
    writeFileSync(join(folder, "services_test.py"), python);
    const { code, output } = tested(process.env["CLIENTS_PYTHON"] ?? "", ["-m", "unittest", "services_test"], folder);
    expect(output).toMatch(/Ran 2 tests[\s\S]*\nOK\n/);
    expect(code).toBe(0);
  });
});
