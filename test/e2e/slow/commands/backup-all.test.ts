/** `npm run backup -- --all`: each cluster of a server into a file of its own. */
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../../../support/server/program";
import { serverForTests } from "../../../support/server/server-for-tests";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const server = serverForTests();
const files = temporaryFolder();
afterAll(() => removeFolder(files));

const SERVICE = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };

async function send(method: string, path: string, body?: object): Promise<void> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(server.url + path, init);
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
}

beforeAll(async () => {
  for (const name of ["blue", "red"]) await send("PUT", `/clusters/${name}`);
  await send("POST", "/clusters/blue/api/v1/namespaces/default/services", SERVICE);
});

describe("a server with three clusters", () => {
  it("each has its file, which restores it; a second backup takes their places", async () => {
    const folder = join(files, "new", "folder");
    for (let turn = 0; turn < 2; turn++) {
      const { code, out, err } = await runProgram("backup", ["--all", "--server", server.url, "--folder", folder]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("3 of 3 clusters are backed up.");
      expect(readdirSync(folder).sort()).toEqual(["blue.jsonl", "default.jsonl", "red.jsonl"]);
    }
    const has = (name: string) => readFileSync(join(folder, `${name}.jsonl`), "utf8").includes('"name":"web"');
    expect(["blue", "default", "red"].map(has)).toEqual([true, false, false]);
    const restored = ["--server", server.url, "--cluster", "green", "--file", join(folder, "blue.jsonl")];
    expect((await runProgram("restore", restored)).code).toBe(0);
    await send("GET", "/clusters/green/api/v1/namespaces/default/services/web");
    await send("DELETE", "/clusters/green");
  });

  it.each([
    [["--all"], "--all: needs --folder FOLDER"],
    [["--all", "--folder", "x", "--file", "y"], "--all: goes with neither --file nor --cluster"],
    [["--all", "--folder", "x", "--cluster", "blue"], "--all: goes with neither --file nor --cluster"],
    [["--folder", "x"], "--folder: goes with --all"],
  ])("%j: exit code 2, and why", async (args, why) => {
    const { code, err } = await runProgram("backup", args);
    expect([code, err]).toEqual([2, `backup: ${why}\n`]);
  });

  it.each(["blue", "default", "default/"])("the address of the cluster %s: exit code 1, and why", async (name) => {
    const { code, err } = await runProgram("backup", ["--all", "--server", `${server.url}/clusters/${name}`, "--folder", files]);
    expect([code, err]).toEqual([1, expect.stringContaining("is the address of one cluster: --all takes that of the server")]);
  });

  it("a file of something else in the folder: exit code 1, and nothing is written", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "red.jsonl"), "mine");
    const { code } = await runProgram("backup", ["--all", "--server", server.url, "--folder", folder]);
    expect([code, readdirSync(folder), readFileSync(join(folder, "red.jsonl"), "utf8")]).toEqual([1, ["red.jsonl"], "mine"]);
    removeFolder(folder);
  });
});

describe("a server that answers for some clusters alone", () => {
  /** What this cluster answers, whatever is asked of it; the others are the server's. */
  let answers: (path: string) => { code: number; text: string } | undefined;
  let proxy: HttpServer;
  let url = "";
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const path = request.url ?? "";
      const own = answers(path);
      if (own) return void response.writeHead(own.code, { "Content-Type": "application/json" }).end(own.text);
      void fetch(server.url + path).then(async (answer) => {
        response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
      });
    }).listen(0, "127.0.0.1");
    await new Promise<void>((resolve) => proxy.once("listening", () => resolve()));
    url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
  });
  afterAll(() => void proxy.close());

  async function backedUp(): Promise<{ code: number | null; out: string; err: string; names: string[] }> {
    const folder = temporaryFolder();
    const { code, out, err } = await runProgram("backup", ["--all", "--server", url, "--folder", folder]);
    const names = readdirSync(folder).sort();
    removeFolder(folder);
    return { code, out, err, names };
  }

  it("one cluster fails: the others have their files, and the exit code is 1", async () => {
    answers = (path) => (path.startsWith("/clusters/blue/") ? { code: 500, text: '{"message":"broken"}' } : undefined);
    const { code, out, err, names } = await backedUp();
    expect([code, names]).toEqual([1, ["default.jsonl", "red.jsonl"]]);
    expect(err).toMatch(/^backup: blue: .*500/m);
    expect(out).toContain("2 of 3 clusters are backed up.");
  });

  it("one cluster is deleted meanwhile: it has no file, and that is no failure", async () => {
    const gone = { code: 404, text: '{"kind":"Status","message":"clusters \\"blue\\" not found","details":{"kind":"clusters"}}' };
    answers = (path) => (path.startsWith("/clusters/blue") ? gone : undefined);
    const { code, out, err, names } = await backedUp();
    expect({ code, err, names }).toEqual({ code: 0, err: "", names: ["default.jsonl", "red.jsonl"] });
    expect(out).toContain("The cluster blue was deleted meanwhile; it has no new file.");
  });

  it("one cluster is answered with a 404 that speaks of no cluster: a failure", async () => {
    answers = (path) => (path.startsWith("/clusters/blue") ? { code: 404, text: "404 page not found" } : undefined);
    const { code, names } = await backedUp();
    expect([code, names]).toEqual([1, ["default.jsonl", "red.jsonl"]]);
  });

  it.each(["../outside", "a/b", "Blue", "", ".."])("a cluster named %j: exit code 1, and nothing is written", async (name) => {
    const items = [{ metadata: { name: "red" } }, { metadata: { name } }];
    answers = (path) => (path.startsWith("/clusters?") ? { code: 200, text: JSON.stringify({ metadata: {}, items }) } : undefined);
    const { code, err, names } = await backedUp();
    expect([code, names]).toEqual([1, []]);
    expect(err).toContain(`lists a cluster that cannot be one: ${JSON.stringify(name)}`);
  });

  it("clusters that are being deleted: left out", async () => {
    const items = [
      { metadata: { name: "blue" }, status: { phase: "Terminating" } },
      { metadata: { name: "red" }, status: { phase: "Active" } },
    ];
    answers = (path) => (path.startsWith("/clusters?") ? { code: 200, text: JSON.stringify({ metadata: {}, items }) } : undefined);
    const { code, names } = await backedUp();
    expect([code, names]).toEqual([0, ["red.jsonl"]]);
  });
});
