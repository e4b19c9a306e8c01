/** Damaged rows of node ports in the tables of real objects, put right by the repair controller. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { servicesStore } from "../../../durable-objects/peers/peers";
import { NODE_PORTS_MARK, STEPS } from "../../../src/addresses/repair/node-port-check";
import { PORTIONED_AT } from "../../../src/addresses/repair/repair-ports";
import type { CoreEvent } from "../../../src/api/meta/kubernetes";
import { clusterName } from "../../../src/tenancy/cluster-id";
import { metricsResponse } from "../../../src/worker/system/metrics";
import { messageOf, ObjectCluster, storedIn } from "../../support/objects/object-cluster";

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;

class DamagedCluster extends ObjectCluster {
  /** Statements in the tables of the services store, behind its back. */
  damage(...statements: string[]): Promise<void> {
    return runInDurableObject(this.servicesObject, (_, { storage }) => {
      for (const statement of statements) expect(storage.sql.exec(statement).rowsWritten, statement).toBeGreaterThan(0);
    });
  }

  /** A pass as cron asks for it when so many minutes have gone by, and the one behind it, which looks for leaks: what the controller has noted is as much older. */
  async repairAfter(minutes: number): Promise<void> {
    await runInDurableObject(bindings.CONTROLLER.getByName(`${this.name}/controllers/repair`), (_, { storage: { sql } }) => {
      const ms = minutes * MINUTE_MS;
      sql.exec("UPDATE repair_marks SET value = value - ? WHERE name = ? AND value > 0", ms, PORTIONED_AT);
      sql.exec("UPDATE repair_marks SET value = value - ? WHERE name = ? AND value > 0", STEPS * ms, NODE_PORTS_MARK);
      sql.exec("UPDATE repair_suspects SET due_at = due_at - ?, told_at = told_at - ?", ms, ms);
    });
    await this.repair();
    await this.repair();
  }

  /** `reporter action reason name: note` of each event, `×n` if it was told n times. */
  async told(): Promise<string[]> {
    const events = await storedIn<CoreEvent>(bindings.RESOURCE_STORE.getByName(`${this.name}/events`));
    return events
      .map(({ reportingComponent, reportingInstance, action, reason, involvedObject, message, series }) => {
        expect(reportingInstance).toBe(`${reportingComponent ?? ""}-${clusterName(this.name)}`);
        const times = series ? ` ×${String(series.count)}` : "";
        return `${reportingComponent ?? ""} ${action ?? ""} ${reason ?? ""} ${involvedObject.name ?? ""}: ${message ?? ""}${times}`;
      })
      .sort();
  }

  /** The counters of the repair of node ports that are not 0. */
  async counted(): Promise<string[]> {
    const text = await (await metricsResponse(bindings, this.name)).text();
    const prefix = "apiserver_nodeport_repair_";
    const samples = text.split("\n").filter((line) => line.startsWith(prefix) && !line.endsWith(" 0"));
    return samples.map((line) => line.slice(prefix.length).replace(/,?cluster="[^"]*"/, ""));
  }
}

async function made(...ports: number[]): Promise<DamagedCluster> {
  const cluster = await new DamagedCluster().ready();
  for (const nodePort of ports) {
    const spec = { type: "NodePort", ports: [{ port: 80, nodePort }] };
    expect(messageOf(await cluster.create(`on-${String(nodePort)}`, spec))).toBe("");
  }
  await cluster.repair();
  return cluster;
}

const BY = "portallocator-repair-controller PortAllocation";

describe("repair of node ports on real objects", () => {
  it("missing rows, one of a health check: taken again, each with an event", async () => {
    const cluster = await made(30_080);
    const spec = {
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      ports: [{ port: 80, nodePort: 30_090 }],
      healthCheckNodePort: 30_100,
    };
    expect(messageOf(await cluster.create("balanced", spec))).toBe("");
    const before = await cluster.nodePortRows();
    await cluster.damage("DELETE FROM node_ports WHERE port IN (30080, 30100)");
    await cluster.repairAfter(3);
    expect(await cluster.nodePortRows()).toEqual(before);
    expect(await cluster.told()).toEqual([
      `${BY} PortNotAllocated balanced: Port 30100 is not allocated; repairing`,
      `${BY} PortNotAllocated on-30080: Port 30080 is not allocated; repairing`,
    ]);
    await cluster.repairAfter(3);
    expect(await cluster.counted()).toEqual(['port_errors_total{type="repair"} 2']);
    await cluster.check();
  });

  it("rows of Services that are gone: free at the third sight, through the death of every object", async () => {
    const cluster = await made(30_080, 30_081);
    await cluster.damage("UPDATE node_ports SET key = 'default/gone', port = 30500 WHERE port = 30081");
    const named = { type: "NodePort", ports: [{ port: 80, nodePort: 30_500 }] };
    for (const sight of [1, 2]) {
      await cluster.repairAfter(3);
      expect(messageOf(await cluster.create("next", named)), `sight ${String(sight)}`).toContain("provided port is already allocated");
      await abortAllDurableObjects();
    }
    expect(await cluster.counted()).toEqual(['port_errors_total{type="repair"} 1']);
    await cluster.repairAfter(3);
    expect(await cluster.counted()).toEqual(['port_errors_total{type="leak"} 1', 'port_errors_total{type="repair"} 1']);
    expect(messageOf(await cluster.create("next", named))).toBe("");
    expect(await cluster.nodePortRows()).toEqual(["TCP/30080 default/on-30080", "TCP/30081 default/on-30081", "TCP/30500 default/next"]);
    expect(await cluster.told()).toEqual([`${BY} PortNotAllocated on-30081: Port 30081 is not allocated; repairing`]);
    await cluster.check();
  });

  it("port of two Services, one outside the range: events that count on, and nobody loses a port", async () => {
    const cluster = await made(30_080, 30_081, 30_082);
    await cluster.damage(
      `UPDATE objects SET data = replace(data, '"nodePort":30081', '"nodePort":30080') WHERE key = 'default/on-30081'`,
      `UPDATE objects SET data = replace(data, '"nodePort":30082', '"nodePort":20082') WHERE key = 'default/on-30082'`,
      "DELETE FROM node_ports WHERE port > 30080",
    );
    await cluster.repairAfter(3);
    await cluster.repairAfter(3);
    expect(await cluster.told()).toEqual([
      `${BY} PortAlreadyAllocated on-30081: Port 30080 was assigned to multiple services; please recreate service ×2`,
      `${BY} PortOutOfRange on-30082: Port 20082 is not within the port range 30000-32767; please recreate service ×2`,
    ]);
    expect(await cluster.nodePortRows()).toEqual(["TCP/30080 default/on-30080"]);
    expect(await cluster.counted()).toEqual(['port_errors_total{type="outOfRange"} 2', 'port_errors_total{type="duplicate"} 2']);
    await cluster.remove("on-30080");
    await cluster.repairAfter(3);
    expect(await cluster.nodePortRows()).toEqual(["TCP/30080 default/on-30081"]);
  });

  it("row of a Service that cannot be read: stays; who holds the port, too, hears of it", async () => {
    const cluster = await made(30_080, 30_081);
    await cluster.damage(
      `UPDATE objects SET data = replace(data, '"nodePort":30081', '"nodePort":30080') WHERE key = 'default/on-30081'`,
      "UPDATE objects SET data = '{\"broken' WHERE key = 'default/on-30080'",
      "DELETE FROM node_ports WHERE port = 30081",
    );
    for (let i = 0; i < 4; i++) await cluster.repairAfter(3);
    expect(await cluster.nodePortRows()).toEqual(["TCP/30080 default/on-30080"]);
    expect(await cluster.told()).toEqual([`${BY} UnknownError on-30081: Unable to allocate port 30080 due to an unknown error ×4`]);
    expect(await cluster.counted()).toEqual(['port_errors_total{type="unknown"} 4']);
  });

  it("pages of rows: in the order of protocol and number, as the answer for a check has them", async () => {
    const cluster = await made(30_090, 30_080);
    const spec = { type: "NodePort", ports: [{ port: 53, protocol: "UDP", nodePort: 30_053 }] };
    expect(messageOf(await cluster.create("dns", spec))).toBe("");
    const text = ({ protocol, port, key }: { protocol: string; port: number; key: string }): string => `${protocol}/${String(port)} ${key}`;
    const store = servicesStore(bindings, cluster.name);
    expect((await store.nodePortRows()).map(text)).toEqual(await cluster.nodePortRows());
    await cluster.damage("UPDATE node_ports SET key = 'default/gone'");
    const first = await store.leakedNodePorts({ protocol: "", port: 0 }, 2);
    expect([first.leaked.map(({ port }) => port), first.next]).toEqual([[30_080, 30_090], { protocol: "TCP", port: 30_090 }]);
    const second = await store.leakedNodePorts(first.next ?? { protocol: "", port: 0 }, 2);
    expect([second.leaked.map(({ port }) => port), second.next]).toEqual([[30_053], undefined]);
  });
});
