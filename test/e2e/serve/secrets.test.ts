/** What is in a Secret stays in its store, in answers to who may read it, and in a backup that only its owner reads. */
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject, Secret } from "../../../src/api/meta/kubernetes";
import { runProgram } from "../../support/server/program";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../support/server/server";

/** Twelve bytes, so that their base64 stands in that of every longer text which begins with them. */
const TEXT = "s3cr3t-zebra";
const BASE64 = Buffer.from(TEXT).toString("base64");
const DEBUG = ["--var", "LOG_LEVEL=debug"];
const SECRETS = "/api/v1/namespaces/default/secrets";

const folders: string[] = [];
function folder(): string {
  const made = temporaryFolder();
  folders.push(made);
  return made;
}
afterAll(() => folders.forEach(removeFolder));

async function send(server: Server, method: string, path: string, body?: object, type = "application/json"): Promise<Response> {
  const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(server.url + path, init);
  await response.clone().arrayBuffer();
  return response;
}

/** Every file below a folder, as text. */
function filesBelow(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

describe("a server on loopback", () => {
  const data = folder();
  let server: Server;
  beforeAll(async () => {
    server = await startServer(data, DEBUG);
  });

  it("log, metrics, events, the check and KV: nothing of what is in Secrets, whatever is done with them", async () => {
    const types = ["merge-patch+json", "strategic-merge-patch+json"].map((type) => `application/${type}`);
    const codes: number[] = [];
    const did = async (...request: Parameters<typeof send> extends [Server, ...infer R] ? R : never): Promise<Response> => {
      const response = await send(server, ...request);
      codes.push(response.status);
      return response;
    };
    const metadata = { name: "s" };
    await did("POST", SECRETS, { metadata, stringData: { token: TEXT } });
    await did("POST", SECRETS, { metadata, stringData: { token: TEXT } });
    for (const type of types) await did("PATCH", `${SECRETS}/s`, { data: { [type.length]: BASE64 } }, type);
    const applied = { apiVersion: "v1", kind: "Secret", metadata, stringData: { token: `${TEXT} applied` } };
    await did("PATCH", `${SECRETS}/s?fieldManager=m&force=true`, applied, "application/apply-patch+yaml");
    await did("PUT", `${SECRETS}/s`, { metadata, data: { token: BASE64 }, immutable: true });
    await did("PUT", `${SECRETS}/s`, { metadata, stringData: { token: `${TEXT} changed` }, immutable: true });
    await did("POST", SECRETS, { metadata: { name: "bad" }, data: { token: `${TEXT}!` } });
    await did("POST", SECRETS, {
      metadata: { name: "bad" },
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": `{"${TEXT}` },
    });
    await did("POST", SECRETS, { metadata: { name: "large" }, stringData: { token: TEXT.repeat(100_000) } });
    for (const query of [
      "?resourceVersion=0",
      "?resourceVersion=0&limit=5",
      "?fieldSelector=type%3DOpaque",
      "?watch=true&timeoutSeconds=1",
    ])
      await did("GET", `${SECRETS}${query}`);
    await did("DELETE", `${SECRETS}/s`);
    expect(codes).toEqual([201, 409, 200, 200, 200, 200, 422, 400, 422, 422, 200, 200, 200, 200, 200]);

    await did("POST", SECRETS, { metadata: { name: "kept" }, stringData: { token: TEXT } });
    const asked = await Promise.all(["/metrics", "/check", "/api/v1/events"].map(async (path) => (await did("GET", path)).text()));
    await server.stop();
    const kept = filesBelow(join(data, "state", "kv"));
    expect(kept.length).toBeGreaterThan(0);
    expect(server.output()).toContain('"level":"debug"');
    for (const text of [server.output(), ...asked, ...kept]) {
      for (const value of [TEXT, BASE64]) expect(text.includes(value), text.slice(0, 200)).toBe(false);
    }
  }, 60_000);

  it("kubeconfig: its file is the owner's alone", () => {
    expect(statSync(join(data, "kubeconfig")).mode & 0o777).toBe(0o600);
  });

  it("on an address that others reach: Secrets for those who may read them; without a credential on loopback again: they are there", async () => {
    server = await startServer(data, ["--host", "0.0.0.0"], { secure: true });
    expect(server.output()).toContain(`ready at ${server.url} and at every address of this machine (0.0.0.0) (`);
    const codeOf = async (headers: Record<string, string>): Promise<number | undefined> => {
      const [answer] = (await once(
        request(`${server.url}${SECRETS}/kept`, { ca: server.ca, headers, agent: false }).end(),
        "response",
      )) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    const own = { Authorization: `Bearer ${server.token}` };
    const others = { ...own, "Impersonate-User": "somebody" };
    expect(await Promise.all([own, others, {}].map(codeOf))).toEqual([200, 403, 401]);
    await server.stop();

    server = await startServer(data, ["--host", "localhost"]);
    expect(await getJson(`${server.url}${SECRETS}/kept`)).toMatchObject({ data: { token: BASE64 }, type: "Opaque" });
  }, 60_000);

  it("backup: its file is the owner's alone; restore: the same Secrets, and the programs print none of them", async () => {
    const objects: Record<string, object> = {
      secrets: { type: "example.com/x", data: { token: BASE64, empty: "" }, immutable: true },
      configmaps: { data: { "a.conf": "a=1" }, binaryData: { b: "AAEC" }, immutable: true },
      serviceaccounts: { secrets: [{ name: "kept" }], automountServiceAccountToken: false },
      podtemplates: { template: { spec: { containers: [{ name: "c", image: "example.com/c:1" }] } } },
    };
    for (const [resource, content] of Object.entries(objects)) {
      const made = await send(server, "POST", `/api/v1/namespaces/default/${resource}`, { metadata: { name: "carried" }, ...content });
      expect(made.status, resource).toBe(201);
    }
    const file = join(folder(), "cluster.jsonl");
    writeFileSync(file, '{"format":"servicenet-backup","version":1}\n');
    chmodSync(file, 0o644);
    const taken = await runProgram("backup", ["--server", server.url, "--file", file]);
    expect(taken).toMatchObject({ code: 0, err: "", out: expect.stringContaining("2 secrets") as string });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toContain(BASE64);

    expect((await send(server, "PUT", "/clusters/copy")).status).toBe(201);
    const restored = await runProgram("restore", ["--server", server.url, "--cluster", "copy", "--file", file]);
    expect(restored).toMatchObject({ code: 0, err: "" });
    for (const text of [taken.out, restored.out, server.output()]) expect(text.includes(BASE64)).toBe(false);
    const contentOf = async (prefix: string, resource: string): Promise<object> => {
      const { metadata: _, ...content } = await getJson<KubeObject>(`${server.url}${prefix}/api/v1/namespaces/default/${resource}/carried`);
      return content;
    };
    for (const resource of Object.keys(objects)) {
      expect(await contentOf("/clusters/copy", resource), resource).toEqual(await contentOf("", resource));
    }
    const copied = await getJson<{ items: Secret[] }>(`${server.url}/clusters/copy/api/v1/secrets`);
    expect(copied.items.map(({ metadata, immutable }) => [metadata?.name, immutable])).toEqual([
      ["carried", true],
      ["kept", undefined],
    ]);
    await server.stop();
  }, 90_000);
});
