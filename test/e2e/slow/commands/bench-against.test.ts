/** `npm run bench -- --against`: a second Servicenet behind TLS and a token stands for any Kubernetes API server. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Api } from "../../../support/clients/api";
import { PATIENCE } from "../../../support/objects/patience";
import { runProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";

const TOKEN = "let-me-in";
const FIGURES = [
  "services.createRate",
  "services.createP99",
  "lists.json",
  "lists.protobuf",
  "services.deleteRate",
  "services.deleteP99",
  "leases.createRate",
  "leases.updateRate",
  "leases.deleteRate",
  "watchers.deliveryP50",
  "watchers.deliveryP99",
  "watchers-burst.deliveries",
  "watchers-burst.deliveryP50",
  "watchers-burst.deliveryP99",
];
const SIZES = ["--services", "20", "--leases", "10", "--clients", "4", "--watchers", "5", "--seconds", "1"];
const TIMEOUT_MS = 120_000;
const certificate = join(root, "test", "fixtures", "tls", "server.crt");
const key = join(root, "test", "fixtures", "tls", "server.key");

const other = serverForTests();
const files = temporaryFolder();
/** Passes on the connections whose first request has the token. */
const proxy = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (client) => {
  client.on("error", () => client.destroy());
  client.once("data", (first) => {
    if (!first.toString("latin1").includes(`\r\nAuthorization: Bearer ${TOKEN}\r\n`)) {
      client.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 12\r\nConnection: close\r\n\r\nUnauthorized");
      return;
    }
    pass(client, first);
  });
});
let url = "";

function pass(client: Socket, first: Buffer): void {
  const { hostname, port } = new URL(other.url);
  const server = connect(Number(port), hostname);
  for (const [one, another] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("error", () => one.destroy());
    one.on("close", () => another.destroy());
  }
  server.write(first);
  client.pipe(server).pipe(client);
}

beforeAll(async () => {
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  url = `https://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
});
afterAll(() => {
  proxy.close();
  removeFolder(files);
});

/** Those of the loads. */
async function namespaces(): Promise<(string | undefined)[]> {
  const { items = [] } = await new Api(() => other.url).must("GET", "/api/v1/namespaces");
  return items.map(({ metadata }) => metadata?.name).filter((name) => name?.startsWith("servicenet-bench-"));
}

describe("npm run bench -- --against", () => {
  it(
    "tiny loads against a server behind TLS and a token: every figure with its ratio, and nothing is left there",
    { timeout: TIMEOUT_MS },
    async () => {
      const token = join(files, "token");
      writeFileSync(token, `${TOKEN}\n`);
      const ended = await runProgram("bench", ["--against", url, "--token", `@${token}`, "--ca", certificate, ...SIZES, "--json"]);
      expect([ended.code, ended.err]).toEqual([0, ""]);
      const figures = ended.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { name: string; unit: string; against: number; servicenet: number; ratio: number });
      expect(figures.map(({ name }) => name)).toEqual(FIGURES);
      for (const { name, unit, against, servicenet, ratio } of figures) {
        expect(ratio, name).toBe(unit === "ms" ? against / servicenet : servicenet / against);
        expect([against > 0, servicenet > 0], name).toEqual([true, true]);
      }
      await vi.waitFor(async () => expect(await namespaces()).toEqual([]), PATIENCE);
    },
  );

  it("--insecure: a table with the ratios", { timeout: TIMEOUT_MS }, async () => {
    const { code, out, err } = await runProgram("bench", ["--against", url, "--token", TOKEN, "--insecure", ...SIZES]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(`${url} and a Servicenet of this run, in turn`);
    for (const name of FIGURES) expect(out).toMatch(new RegExp(`^ +${name} +[\\d.,]+ +[\\d.,]+ +\\S+ +[\\d.]+x$`, "mu"));
  });

  it("--beside: the server of a checkout, in rounds", { timeout: 2 * TIMEOUT_MS }, async () => {
    const { code, out, err } = await runProgram("bench", ["--beside", root, "--rounds", "2", ...SIZES]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(`${root} and a Servicenet of this run, in turn, rounds: 2 `);
    for (const name of FIGURES) expect(out).toMatch(new RegExp(`^ +${name} +[\\d.,]+ +[\\d.,]+ +\\S+ +[\\d.]+x$`, "mu"));
  });

  it.each<[string, string[], string]>([
    ["a folder that is no checkout", ["--beside", files], `--beside ${files}: is no checkout of Servicenet`],
    ["both", ["--beside", root, "--against", "https://127.0.0.1:1"], "--beside: goes without --against"],
    ["a token for a checkout", ["--beside", root, "--token", "a"], "--token: goes with --against"],
    ["rounds of nothing", ["--rounds", "2"], "--rounds: goes with --against or --beside"],
    ["no round", ["--beside", root, "--rounds", "0"], "--rounds 0: "],
  ])("%s: one line", { timeout: TIMEOUT_MS }, async (_, options, line) => {
    const { code, out, err } = await runProgram("bench", options);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(line);
  });

  it("Ctrl-C: the namespace of the loads is deleted, and the Servicenet of the run ends", { timeout: TIMEOUT_MS }, async () => {
    const api = new Api(() => other.url);
    const created = async (): Promise<boolean> => {
      const [namespace] = await namespaces();
      if (namespace === undefined) return false;
      return ((await api.must("GET", `/api/v1/namespaces/${namespace}/services`)).items ?? []).length > 0;
    };
    const call = ["--against", url, "--token", TOKEN, "--insecure", ...SIZES, "--services", "300"];
    const { code, out } = await runProgram("bench", call, { killWhen: created, signal: "SIGINT" });
    expect([code, out.split("\n")[1]]).toEqual([130, ""]);
    expect(await namespaces()).toEqual([]);
  });

  it.each<[string, string[], RegExp]>([
    ["a certificate that nobody vouches for", ["--token", TOKEN], /^bench: https:\S+: self-signed certificate\n$/],
    ["a token that is refused", ["--token", "another", "--insecure"], /^bench: https:\S+: .*401 Unauthorized\n$/],
  ])("%s: one line, and no namespace is made", { timeout: TIMEOUT_MS }, async (_, options, line) => {
    const { code, out, err } = await runProgram("bench", ["--against", url, ...options, ...SIZES, "--json"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(line);
    expect(await namespaces()).toEqual([]);
  });
});
