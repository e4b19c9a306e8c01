/**
 * The programs of docs/allocator.md, docs/ranges.md and docs/leader-election.md, as a reader runs them: saved where the page says, started with its command. Those of
 * docs/proxies.md are the ones that followed-services.test.ts uses; the excerpts of docs/proxy.md are those of the proxy. Of docs/clients.md, whose programs are not at hand here, what they meet: the server as the page starts it, its kubeconfig, its objects, its names.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseControllers } from "../../../../src/core/config/controllers";
import { Api, type Body, MERGE_PATCH } from "../../../support/clients/api";
import { parsePrometheus } from "../../../support/values/prometheus";
import { installedPackage, type InstalledPackage, TSX } from "../../../support/package/installed-package";
import { getJson, removeFolder, temporaryFolder } from "../../../support/server/server";
import { startCommand } from "../../../support/server/program";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";

const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

interface Documented {
  /** name -> text of the programs, in the order of the page */
  programs: [string, string][];
  /** the arguments of tsx */
  command: string[];
  prints: string;
}

/** What a page says: "save … as `name`", the program, the command that begins with `npx tsx`, and what it prints. */
function documentedOn(page: string): Documented {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const programs = [...text.matchAll(/as `([\w-]+\.ts)`(?:(?!```)[\s\S])*```ts\n([\s\S]*?)```/g)].map(
    ([, name = "", code = ""]): [string, string] => [name, code],
  );
  const [, command = "", prints = ""] = /```sh\nnpx tsx (.*)\n```(?:(?!```)[\s\S])*```(?:text)?\n([\s\S]*?)```/.exec(text) ?? [];
  return { programs, command: command.split(" "), prints: prints.trimEnd() };
}

let installed: InstalledPackage;
beforeAll(async () => {
  const folder = temporaryFolder();
  folders.push(folder);
  installed = await installedPackage(folder);
}, 600_000);

/** The folder with the installed package, and with the programs saved there. */
function saved({ programs }: Documented): string {
  for (const [name, code] of programs) writeFileSync(join(installed.project, name), code);
  return installed.project;
}

/** The text of test/support/examples, which the compiler and the linter check. */
function checked(example: string): string {
  return readFileSync(join(root, "test", "support", "examples", example), "utf8");
}

describe("docs/allocator.md", () => {
  const page = documentedOn("allocator.md");

  it("program of the page: the one that the compiler checks", () => {
    expect(page.programs).toEqual([["allocator-example.ts", checked("allocator.ts")]]);
  });

  it("command of the page: prints the lines of the page, then the metrics", async () => {
    const child = spawn(process.execPath, [TSX, ...page.command], { cwd: saved(page), stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    expect(await once(child, "close")).toEqual([0, null]);
    expect(out.slice(0, page.prints.length)).toBe(page.prints);
    const families = parsePrometheus(`${out.slice(page.prints.length).trim()}\n`);
    const values = (name: string): unknown =>
      families.get(`kube_apiserver_clusterip_allocator_${name}`)?.samples.map(({ labels, value }) => [labels.cidr, labels.scope, value]);
    expect(values("allocated_ips")).toEqual([
      ["10.0.0.0/28", undefined, 13],
      ["10.0.0.0/24", undefined, 14],
    ]);
    // One dynamic request found the /28 full; naming a taken address is the other error.
    expect(values("allocation_errors_total")).toEqual([
      ["10.0.0.0/28", "dynamic", 1],
      ["10.0.0.0/28", "static", 1],
    ]);
  });
});

describe("docs/ranges.md", () => {
  const server = serverForTests();
  const page = documentedOn("ranges.md");

  it("programs of the page: those that the compiler checks", () => {
    expect(page.programs).toEqual([
      ["zones.ts", checked("zones.ts")],
      ["show-zones.ts", checked("show-zones.ts")],
    ]);
  });

  it("command of the page: prints the zones of the running server", async () => {
    const command = page.command.map((word) => word.replace("http://127.0.0.1:8787", server.url));
    expect(command).toContain(server.url);
    const child = spawn(process.execPath, [TSX, ...command], { cwd: saved(page), stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    await expect.poll(() => out, { timeout: 20_000 }).toBe(`${page.prints}\n`);
    child.kill("SIGINT");
    await once(child, "close");
  });
});

describe("docs/leader-election.md", () => {
  const server = serverForTests();
  const page = documentedOn("leader-election.md");
  const command = (name: string): string[] => [
    TSX,
    ...page.command.slice(0, -1).map((word) => word.replace("http://127.0.0.1:8787", server.url)),
    name,
  ];

  it("program of the page: the one that the compiler checks", () => {
    expect(page.programs).toEqual([["elect.ts", checked("elect.ts")]]);
  });

  it("command of the page: prints its lines; after Ctrl-C the second process goes on with the count", async () => {
    const folder = saved(page);
    const a = await startCommand(process.execPath, command("a"), /a leads/, folder);
    // It prints nothing before it leads.
    const b = startCommand(process.execPath, command("b"), /b leads/, folder);
    await expect.poll(() => a.output(), { timeout: 20_000 }).toContain(page.prints);
    expect(await a.stop()).toBe(0);
    const [, last = ""] = /has counted to (\d+)\n$/.exec(a.output()) ?? [];
    const { output, stop } = await b;
    await expect.poll(output).toContain(`b leads\nb has counted to ${String(Number(last) + 1)}\n`);
    expect(await stop()).toBe(0);
  });
});

it("excerpts of docs/proxy.md: stand in the files that the page names", () => {
  const lines = (text: string): string => text.replaceAll(/^ +/gm, "").trim();
  const page = readFileSync(join(root, "docs", "proxy.md"), "utf8");
  const excerpts = [...page.matchAll(/From `([\w/.-]+)`:\n\n```ts\n([\s\S]*?)```/g)];
  expect(excerpts.length).toBe(page.split("```ts\n").length - 1);
  for (const [, file = "", excerpt = ""] of excerpts) expect(lines(readFileSync(join(root, file), "utf8"))).toContain(lines(excerpt));
});

it("programs of docs/proxies.md: those that the compiler checks", () => {
  expect(documentedOn("proxies.md").programs).toEqual([
    ["routes.ts", checked("routes.ts")],
    ["show-routes.ts", checked("show-routes.ts")],
    ["kept-services.ts", checked("kept-services.ts")],
    ["forward.ts", checked("forward.ts")],
    ["page-proxy.ts", checked("page-proxy.ts")],
  ]);
});

describe("docs/clients.md", () => {
  const text = readFileSync(join(root, "docs", "clients.md"), "utf8").replaceAll(/\\\n\s*/g, "");
  const [, variables = ""] = /^npm start -- --var '(.*)'$/m.exec(text) ?? [];
  const [, theirs = ""] = /--controllers=(\S+)/.exec(text) ?? [];
  const server = serverForTests(["--var", variables]);
  const api = new Api(() => server.url);
  const NAMESPACED = "/api/v1/namespaces/default";
  const PATHS: Readonly<Record<string, string>> = { Node: "/api/v1/nodes", Pod: `${NAMESPACED}/pods`, Service: `${NAMESPACED}/services` };

  it("controllers: upstream knows each of the list, and none runs on both sides that has a switch", async () => {
    const list = parseControllers(theirs);
    expect(list).toEqual({ ok: true, value: theirs.split(",") });
    const { running } = await getJson<{ running: string[] }>(`${server.url}/clusters/default`);
    expect(running.filter((name) => theirs.split(",").includes(name))).toEqual(["service-cidr-controller"]);
  });

  it("kubeconfig: has the name and the context of the page, and the server's address", () => {
    const paths = new Set(
      [...text.matchAll(/(?:kubeconfig |KUBECONFIG=)(\S+\/kubeconfig)(?: (\w+))?/g)].map(([, path, context]) => `${path} ${context ?? ""}`),
    );
    expect([...paths]).toEqual([".servicenet/kubeconfig ", ".servicenet/kubeconfig servicenet", "$PWD/.servicenet/kubeconfig "]);
    const kubeconfig = readFileSync(join(server.folder, "kubeconfig"), "utf8");
    expect(kubeconfig).toContain("\n  - name: servicenet\n    context:");
    expect(kubeconfig).toContain(`server: ${server.url}\n`);
  });

  it("objects: taken as they stand, with the Pod's status and the Service's address", async () => {
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
    const objects = parseAllDocuments(yaml).map((document) => document.toJS() as Body);
    expect(objects.map(({ kind }) => kind)).toEqual(["Node", "Pod", "Service"]);
    for (const body of objects) {
      const answer = await api.send("POST", PATHS[body.kind ?? ""] ?? "", { body, query: { fieldValidation: "Strict" } });
      expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    }
    const [, name = "", patch = ""] = /^kubectl patch pod (\w+) --subresource=status --type=merge -p '(.*)'$/m.exec(text) ?? [];
    const patched = await api.send("PATCH", `${NAMESPACED}/pods/${name}/status`, { body: patch, headers: { "Content-Type": MERGE_PATCH } });
    expect([patched.code, patched.body.status]).toMatchObject([200, JSON.parse(patch).status]);
    const [, address = ""] = /^curl http:\/\/(\S+)\/$/m.exec(text) ?? [];
    expect((await api.send("GET", `${NAMESPACED}/services/web`)).body.spec).toMatchObject({ clusterIP: address });
  });
});
