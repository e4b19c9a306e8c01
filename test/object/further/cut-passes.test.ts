/**
 * Passes that the platform cuts, as it may cut work that no client waits for: each object of a controller ends some turns after a poke, and no alarm is
 * left. The next tick of cron brings the work back, because no store has an answer to its poke (docs/internals/protocol.md).
 */
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Controller } from "../../../durable-objects/controller";
import { CLOSE_WAIT_MS } from "../../../src/controllers/namespaces/namespace-closing";
import { AppCluster, bindings } from "../../support/access/app-cluster";
import { PATIENCE } from "../../support/objects/patience";
import { neverTimeOut } from "../../support/objects/quick-timers";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

// The answer to a deletion of a namespace comes when every store has closed it.
beforeEach(() => neverTimeOut(CLOSE_WAIT_MS));
afterEach(() => {
  vi.restoreAllMocks();
});

class Cluster extends AppCluster {
  async make(path: string, metadata: object, more: object = {}): Promise<string> {
    const { code, body } = await this.send("POST", path, { metadata, ...more });
    expect(code, path).toBe(201);
    return body.metadata?.uid ?? "";
  }

  async names(path: string): Promise<string[]> {
    return ((await this.send("GET", path)).body.items ?? []).map(({ metadata }) => metadata?.name ?? "");
  }

  /** What the controllers have to do of what `write` asks for, in words; [] = everything is done. */
  async left(): Promise<string[]> {
    const { body: quota } = await this.send("GET", "/api/v1/namespaces/default/resourcequotas/few");
    const missing: Record<string, boolean> = {
      "the namespace is still there": (await this.send("GET", "/api/v1/namespaces/ends")).code !== 404,
      "the dependent is still there": (await this.names(LEASES)).includes("dependent"),
      "no slice": (await this.names(SLICES)).filter((name) => name.startsWith("web-")).length === 0,
      "no Endpoints": (await this.send("GET", "/api/v1/namespaces/default/endpoints/web")).code !== 200,
      "no usage": (quota as { status?: { used?: Record<string, string> } }).status?.used?.["services"] !== "2",
    };
    return Object.keys(missing).filter((what) => missing[what]);
  }

  async write(): Promise<void> {
    await this.make("/api/v1/namespaces", { name: "ends" });
    await this.make("/api/v1/namespaces/ends/configmaps", { name: "inside" });
    const uid = await this.make(LEASES, { name: "owner" }, { spec: {} });
    const ownerReferences = [{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", name: "owner", uid }];
    await this.make(LEASES, { name: "dependent", ownerReferences }, { spec: {} });
    await this.make("/api/v1/namespaces/default/resourcequotas", { name: "few" }, { spec: { hard: { services: "9" } } });
    await this.make("/api/v1/namespaces/default/services", { name: "web" }, { spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
    await this.send("DELETE", `${LEASES}/owner`);
    await this.send("DELETE", "/api/v1/namespaces/ends");
  }
}

/** From now on each object of a controller ends so many turns after a poke. Answers which ended. */
function cutPasses(turns: number): Set<string> {
  const cut = new Set<string>();
  const poke = Controller.prototype.poke;
  vi.spyOn(Controller.prototype, "poke").mockImplementation(async function (this: Controller, ...args) {
    const { ctx } = this as unknown as { ctx: DurableObjectState };
    void poke.apply(this, args).catch(() => undefined);
    for (let turn = 0; turn < turns; turn++) await scheduler.wait(0);
    await ctx.storage.deleteAlarm();
    cut.add(String(ctx.id.name?.split("/").at(-1)));
    ctx.abort("the platform cuts the pass");
    return new Promise<never>(() => undefined);
  });
  return cut;
}

describe("passes that are cut", () => {
  it.each([0, 1, 3])(
    "%d turns after each poke, without an alarm: the next ticks of cron bring everything to its end",
    { timeout: 120_000 },
    async (turns) => {
      vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const cluster = new Cluster();
      const cut = cutPasses(turns);
      await cluster.write();
      const followers = ["endpoints", "garbage-collection", "namespaces", "resource-quotas"];
      await expect.poll(() => followers.filter((name) => ![...cut].some((one) => one.startsWith(name))), PATIENCE).toEqual([]);
      vi.restoreAllMocks();
      neverTimeOut(CLOSE_WAIT_MS);
      if (turns === 0) expect(await cluster.left()).not.toEqual([]);
      await expect
        .poll(async () => {
          await cluster.tick();
          return cluster.left();
        }, PATIENCE)
        .toEqual([]);
      const alarm = await runInDurableObject(bindings.CONTROLLER.getByName(`${cluster.name}/controllers/namespaces`), (_, { storage }) =>
        storage.getAlarm(),
      );
      expect(alarm).toBeNull();
    },
  );
});
