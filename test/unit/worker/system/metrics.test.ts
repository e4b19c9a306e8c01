import { describe, expect, it, vi } from "vitest";
import type { Answers } from "../fake-env";
import { get } from "../client";

const TOPOLOGY = { epoch: 2, claims: [{ prefix: "10.96.0.0/16", ownerUid: "uid-1" }], ranges: [], free: [] };

describe("/metrics", () => {
  it("counts per store and per owner of the cluster in the path", async () => {
    const seen: string[] = [];
    const answers: Answers = {
      other(method, object) {
        seen.push(`${object} ${method}`);
        if (method === "topology") return TOPOLOGY;
        return object.startsWith("SERVICE_CIDR") ? { drains: 3, weight: 40 } : { drains: 1, operations: 2, watchers: 4, revision: 5 };
      },
    };
    const response = await get("/clusters/east/metrics", {}, answers);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = (await response.text()).split("\n");
    expect(lines).toContain('servicenet_store_operations_total{store="services"} 2');
    expect(lines).toContain('servicenet_store_watchers{store="leases"} 4');
    expect(lines).toContain('servicenet_owner_operations_total{owner="uid-1"} 40');
    expect(seen).toContain("SERVICE_CIDR east/uid-1 counters");
    expect(lines.every((line) => line === "" || line.startsWith("# ") || /^[a-z_]+(\{[a-z]+="[^"]*"\})? \d+$/.test(line))).toBe(true);
  });

  it("an object that does not answer is left out and logged", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const answers: Answers = { other: () => Promise.reject(new Error("secret")) };
    const text = await (await get("/metrics", {}, answers)).text();
    expect(text).toContain("# TYPE servicenet_store_drains_total counter\n");
    expect(text).not.toContain("secret");
    expect(warn).toHaveBeenCalled();
  });
});
