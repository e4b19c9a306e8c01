/** Load balancers that nobody serves, on real objects: one Event for each, also when all objects die. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { SERVED_WITHIN_MS } from "../../../src/addresses/repair/unserved-load-balancers";
import type { CoreEvent } from "../../../src/api/meta/kubernetes";
import { messageOf, ObjectCluster, storedIn } from "../../support/objects/object-cluster";
import { WRITE } from "../../support/worlds/store-world";

const bindings = env as unknown as Env;

class BalancedCluster extends ObjectCluster {
  /** What somebody who serves the Service writes. */
  async serve(name: string): Promise<void> {
    const patch = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } });
    const key = { namespace: "default", name };
    const options = { ...WRITE, group: "" };
    expect(messageOf(await this.services.write({ verb: "patch", key, subresource: "status", patchType: "merge", patch, options }))).toBe(
      "",
    );
  }

  /** Every object dies, and starts again when so much time has gone by. */
  async after(ms: number): Promise<void> {
    await runInDurableObject(bindings.CONTROLLER.getByName(`${this.name}/controllers/repair`), (_, { storage: { sql } }) => {
      sql.exec("UPDATE repair_marks SET value = value - ? WHERE name = 'portionedAt' AND value > 0", ms);
      sql.exec(
        "UPDATE followed_rows SET facts = json_set(facts, '$.since', json_extract(facts, '$.since') - ?) WHERE kind = 'unserved'",
        ms,
      );
    });
    await abortAllDurableObjects();
    await this.repair();
  }

  /** `type reason about: note` of each Event about a load balancer, `×n` if it was told n times. */
  async told(): Promise<string[]> {
    const events = await storedIn<CoreEvent>(bindings.RESOURCE_STORE.getByName(`${this.name}/events`));
    return events
      .filter(({ reportingComponent }) => reportingComponent === "load-balancer-watch")
      .map(({ involvedObject: { uid, name }, message, reason, series, type }) => {
        const times = series ? ` ×${String(series.count)}` : "";
        return `${type ?? ""} ${reason ?? ""} ${name ?? ""} ${uid ?? ""}: ${message ?? ""}${times}`;
      });
  }
}

describe("load balancers that nobody serves, on real objects", () => {
  it("one that stands for five minutes: one Event, through the death of every object; one that is served meanwhile: none", async () => {
    const cluster = await new BalancedCluster().ready();
    for (const name of ["alone", "served"]) expect(messageOf(await cluster.create(name, { type: "LoadBalancer" }))).toBe("");
    await cluster.create("inside", { type: "ClusterIP" });
    await cluster.repair();
    await cluster.after(SERVED_WITHIN_MS / 2);
    expect(await cluster.told()).toEqual([]);
    await cluster.serve("served");
    const uid = (await cluster.stored()).services.find(({ metadata }) => metadata?.name === "alone")?.metadata?.uid ?? "";
    const once = [
      `Warning LoadBalancerNotServed alone ${uid}: no load balancer for 5 minutes: this server has no controller that makes one; ` +
        "run one that serves Services without a loadBalancerClass, or reach the Service another way (docs/load-balancer-services.md)",
    ];
    await cluster.after(SERVED_WITHIN_MS / 2);
    expect(await cluster.told()).toEqual(once);
    await cluster.after(60 * 60_000);
    await cluster.after(60 * 60_000);
    expect(await cluster.told()).toEqual(once);
  });
});
