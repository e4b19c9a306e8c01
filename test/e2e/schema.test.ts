/** What the server publishes about its types, against what it answers, and as kubectl uses it. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findKubectl } from "../../scripts/kubectl";
import { definitions } from "../../src/registry/all";
import { OpenApiValidator } from "../support/openapi-validator";
import { samples } from "./conformance/matrix/samples";
import { removeFolder, startServer, temporaryFolder } from "./server";
import type { Server } from "./server";

type Json = Record<string, unknown>;

const folder = temporaryFolder();
const command = findKubectl();
let server: Server;

beforeAll(async () => {
  server = await startServer(join(folder, "data"));
  mkdirSync(join(folder, "home"));
});
afterAll(async () => {
  await server.kill();
  removeFolder(folder);
});

function kubectl(line: string, input?: string): { code: number | null; out: string; err: string } {
  if (!command) throw new Error("there is no kubectl 1.32 or newer: put one on the PATH or name it in $KUBECTL");
  const env = { PATH: process.env["PATH"], HOME: join(folder, "home"), KUBECONFIG: server.kubeconfig };
  const { status, stdout, stderr } = spawnSync(command, line.split(" "), { encoding: "utf8", input, env, timeout: 60_000 });
  return { code: status, out: stdout.trimEnd(), err: stderr.trimEnd() };
}

const served = definitions.flatMap((definition) => definition.versions.map((version) => ({ definition, version })));

describe("OpenAPI v3 against answers", () => {
  it.each(served.map((one) => [`${one.definition.group}/${one.version} ${one.definition.resource}`, one] as const))(
    "%s",
    async (_, { definition, version }) => {
      const root = definition.group === "" ? `api/${version}` : `apis/${definition.group}/${version}`;
      const { components } = (await (await fetch(`${server.url}/openapi/v3/${root}`)).json()) as {
        components: { schemas: Record<string, Json> };
      };
      const sample = samples[`${definition.group}/${definition.resource}`];
      const n = definition.versions.indexOf(version) + 1;
      const metadata = { name: sample?.name?.(n) ?? `sample-${definition.group || "core"}-${version}`.replaceAll(".", "-") };
      const body = {
        apiVersion: definition.group === "" ? version : `${definition.group}/${version}`,
        kind: definition.kind,
        metadata,
        ...sample?.content(n, "default"),
      };
      const url = `${server.url}/${root}/${definition.namespaced ? "namespaces/default/" : ""}${definition.resource}`;
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
      const answer: unknown = await response.json();
      expect({ code: response.status, answer }).toMatchObject({ code: 201 });
      const validator = new OpenApiValidator(components.schemas);
      expect(validator.errors(definition.schema.name, body)).toEqual([]);
      expect(validator.errors(definition.schema.name, answer)).toEqual([]);
      expect(validator.errors(`${definition.schema.name}List`, await (await fetch(url)).json())).toEqual([]);
    },
  );
});

describe("kubectl with the schemas", () => {
  it("explains through both documents", () => {
    const field = /^ {2,4}port\s+<integer>/m;
    for (const output of ["plaintext", "plaintext-openapiv2"]) {
      const explained = kubectl(`explain service.spec.ports --output=${output}`);
      expect(explained).toMatchObject({ code: 0 });
      expect(explained.out).toMatch(/targetPort/);
      expect(explained.out).toMatch(field);
      expect(explained.out).not.toContain("<no description>");
    }
  });

  it("judges the items of a List by v2", () => {
    const item = { apiVersion: "v1", kind: "Service", metadata: { name: "in-list" }, spec: { ports: [{ port: 80 }] } };
    const list = (spec: Json) => JSON.stringify({ apiVersion: "v1", kind: "List", items: [{ ...item, spec }] });
    const wrong = kubectl("create -f -", list({ ports: [{ port: 80 }], portz: 1 }));
    expect(wrong.code).not.toBe(0);
    expect(wrong.err).toContain('"portz"');
    expect(kubectl("create -f -", list(item.spec))).toMatchObject({ code: 0, out: "service/in-list created" });
  });
});
