/** The audit log of a whole Worker: one line for each write, whoever sent it and however it ended, and no secret in any. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AuditRecord } from "../../../../src/access/audit/audit-record";
import worker from "../../../../src/worker/index";
import { ADMIN_TOKEN, AccessWorld } from "../../../support/access/access-world";
import { PATIENCE } from "../../../support/objects/patience";

const SERVICES = "/api/v1/namespaces/default/services";
const SECRETS = "/api/v1/namespaces/default/secrets";
const service = (name: string) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } });

let world: AccessWorld;
let lines: string[];
beforeEach(async () => {
  lines = [];
  world = await new AccessWorld().begin();
  for (const method of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, method).mockImplementation((...args: unknown[]) => {
      lines.push(args.map((arg) => (typeof arg === "string" ? arg : JSON.stringify(arg))).join(" "));
    });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The records of one request, by its id. */
function recordsOf(auditId: string): AuditRecord[] {
  return lines
    .filter((line) => line.startsWith("{") && line.includes('"audit"'))
    .map((line) => (JSON.parse(line) as { record?: AuditRecord }).record)
    .filter((record): record is AuditRecord => record?.auditID === auditId);
}

describe("the audit log", () => {
  it("a write that is allowed: who, what and the answer's code", async () => {
    await world.ask("POST", SERVICES, { body: service("a"), headers: { "Audit-ID": "one", "User-Agent": "kubectl" } });
    expect(recordsOf("one")).toMatchObject([
      {
        level: "Metadata",
        verb: "create",
        userAgent: "kubectl",
        requestURI: `/clusters/${world.cluster}${SERVICES}`,
        user: { username: "admin", groups: ["system:masters", "system:authenticated"] },
        objectRef: { resource: "services", namespace: "default", apiVersion: "v1" },
        responseStatus: { code: 201 },
        annotations: { "authorization.k8s.io/decision": "allow", "servicenet.dev/cluster": world.cluster },
      },
    ]);
  });

  it.each([
    ["deployed", {}, ["192.0.2.1"]],
    ["local", { SERVER_STARTED_AT: "1" }, undefined],
  ])("a %s server: the address of the client is what the platform says", async (_, vars, sourceIPs) => {
    const other = await new AccessWorld(vars).begin();
    await other.ask("POST", SERVICES, { body: service("a"), headers: { "Audit-ID": "from", "CF-Connecting-IP": "192.0.2.1" } });
    expect(recordsOf("from").map((record) => record.sourceIPs)).toEqual([sourceIPs]);
  });

  it("a write of the server's own paths whose client leaves: the platform is told to wait for its record", async () => {
    const waited: Promise<unknown>[] = [];
    const context = { waitUntil: (work: Promise<unknown>) => waited.push(work), passThroughOnException: () => undefined, props: {} };
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, "Audit-ID": "left" };
    const request = new Request(`http://127.0.0.1/clusters/${world.cluster}-left`, { method: "PUT", headers });
    void worker.fetch(request, world.env, context as unknown as ExecutionContext);
    await vi.waitFor(() => expect(waited.length).toBeGreaterThan(0), PATIENCE);
    await Promise.all(waited);
    expect(recordsOf("left")).toMatchObject([{ verb: "put", responseStatus: { code: 201 } }]);
  });

  it("a write that is forbidden: is recorded with its user", async () => {
    const token = await world.tokenOf("bob");
    await world.ask("DELETE", `${SERVICES}/a`, { token, headers: { "Audit-ID": "two" } });
    expect(recordsOf("two")).toMatchObject([
      {
        verb: "delete",
        user: { username: "bob" },
        objectRef: { name: "a" },
        responseStatus: { code: 403, status: "Failure" },
        annotations: { "authorization.k8s.io/decision": "forbid" },
      },
    ]);
    expect(lines.join("\n")).not.toContain(token);
  });

  it("a write without a credential, or with a wrong one: is recorded as anonymous", async () => {
    const wrong = `sn_${"0".repeat(20)}_${"A".repeat(43)}`;
    await world.ask("POST", SERVICES, { token: "", body: service("a"), headers: { "Audit-ID": "three" } });
    await world.ask("POST", SERVICES, { token: wrong, body: service("a"), headers: { "Audit-ID": "four" } });
    for (const id of ["three", "four"])
      expect(recordsOf(id)).toMatchObject([{ user: { username: "system:anonymous" }, responseStatus: { code: 401, status: "Failure" } }]);
    expect(lines.join("\n")).not.toContain(wrong);
  });

  it("a write as somebody else: both are named", async () => {
    await world.ask("POST", SERVICES, { body: service("b"), headers: { "Impersonate-User": "jane", "Audit-ID": "five" } });
    expect(recordsOf("five")).toMatchObject([{ user: { username: "admin" }, responseStatus: { code: 403 } }]);
    const groups = { "Impersonate-User": "jane", "Impersonate-Group": "system:masters", "Audit-ID": "six" };
    await world.ask("POST", SERVICES, { body: service("b"), headers: groups });
    expect(recordsOf("six")).toMatchObject([
      { user: { username: "admin" }, impersonatedUser: { username: "jane" }, responseStatus: { code: 201 } },
    ]);
  });

  it("a read: is not recorded", async () => {
    await world.ask("GET", SERVICES, { headers: { "Audit-ID": "seven" } });
    expect(recordsOf("seven")).toEqual([]);
  });

  it("bodies, where they are wanted: those of Secrets, reviews and tokens are left out", async () => {
    const audited = new AccessWorld({ AUDIT_POLICY: "writes=Request,reads=Request" });
    const asks: [path: string, body: object, isShown: boolean][] = [
      [SERVICES, { metadata: { name: "c", annotations: { a: "SHOWN-1" } }, spec: { ports: [{ port: 80 }] } }, true],
      [SECRETS, { metadata: { name: "s" }, stringData: { a: "HIDDEN-2" } }, false],
      ["/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "HIDDEN-3" } }, false],
      ["/admin/tokens", { user: "HIDDEN-4" }, false],
    ];
    for (const [path, body] of asks) {
      const text = JSON.stringify(body);
      // A body of no known length is not recorded.
      await audited.ask("POST", path, { body: text, headers: { "Content-Length": String(text.length), "Audit-ID": `body ${path}` } });
    }
    for (const [path, , isShown] of asks)
      expect([path, recordsOf(`body ${path}`).map((record) => "requestObject" in record)]).toEqual([path, [isShown]]);
    expect(lines.join("\n")).toContain("SHOWN-1");
    expect(lines.join("\n")).not.toContain("HIDDEN");
  });

  it("tokens in the query or in a handshake: in no line", async () => {
    await world.ask("POST", `${SERVICES}?access_token=${ADMIN_TOKEN}`, { body: service("d"), headers: { "Audit-ID": "eight" } });
    expect(recordsOf("eight").length).toBe(1);
    const secret = ADMIN_TOKEN.slice(ADMIN_TOKEN.lastIndexOf("_", 30) + 1);
    expect(lines.join("\n")).not.toContain(secret);
  });
});
