/** The merged view against a computation from all objects anew, over random histories. */
import { expect, it } from "vitest";
import type { EndpointSlice, Service } from "../../../../src/api/meta/kubernetes";
import { FAMILIES } from "../../../../src/core/net/family";
import { type MergedService, MergedServices } from "../../../../src/endpoints/merge/merged-services";
import { proxiedService } from "../../../../src/api/registry/services/proxied-service";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { RandomServices } from "../../../support/worlds/random-services";

const SEED = 20_261_123;
const HISTORIES = 40;
const STEPS = 150;

/** One line for each endpoint that a proxy should know, by looking at every slice for every Service. */
function naiveView(services: Map<string, Service>, slices: Map<string, EndpointSlice>): Map<string, string> {
  const view = new Map<string, string>();
  for (const service of services.values()) {
    for (const family of FAMILIES) {
      const proxied = proxiedService(service, family);
      if (!proxied) continue;
      const own = [...slices.values()]
        .filter(({ metadata, addressType }) => addressType === family && metadata?.labels?.["kubernetes.io/service-name"] === proxied.name)
        .filter(({ metadata }) => metadata?.labels?.["service.kubernetes.io/headless"] === undefined);
      const ready = own
        .filter(({ ports }) => ports?.some(({ port }) => port !== undefined))
        .flatMap(({ endpoints }) => endpoints)
        .filter(({ conditions, nodeName }) => nodeName !== undefined && (conditions?.ready ?? true))
        .map(({ nodeName = "", addresses }) => `${nodeName} ${addresses[0] ?? ""}`);
      const nodes = [...new Set(ready)].map((one) => one.split(" ")[0] ?? "").sort();
      const localReady = proxied.healthCheckNodePort === undefined ? "no check" : nodes.join();
      const candidates = own
        .flatMap((slice) =>
          (slice.ports ?? []).flatMap(({ name = "", protocol = "TCP", port }) =>
            port === undefined || !proxied.ports.some((one) => one.name === name && one.protocol === protocol)
              ? []
              : slice.endpoints.map((endpoint) => ({ port: `${name}/${protocol}`, slice: slice.metadata?.name ?? "", endpoint, at: port })),
          ),
        )
        .map(({ port, slice, endpoint, at }) => {
          const { ready = true, serving = true, terminating = false } = endpoint.conditions ?? {};
          const ip = endpoint.addresses[0] ?? "";
          const key = `${port} ${family === "IPv6" ? `[${ip}]` : ip}:${at}`;
          const hints = [...(endpoint.hints?.forZones ?? []), ...(endpoint.hints?.forNodes ?? [])].map(({ name }) => name).join();
          const text = [key, ready, serving, terminating, endpoint.nodeName ?? "", hints].join(" ");
          return { key, slice, text, order: [terminating ? 1 : 0, ready ? 0 : 1, serving ? 0 : 1] };
        });
      const best = candidates.filter(
        (one) =>
          !candidates.some(
            (other) =>
              other.key === one.key && other !== one && comesBefore(other, one, candidates.indexOf(other) < candidates.indexOf(one)),
          ),
      );
      view.set(`${proxied.name}/${family}`, [JSON.stringify(proxied), localReady, ...best.map(({ text }) => text).sort()].join("\n"));
    }
  }
  return view;
}

function comesBefore(a: { order: number[]; slice: string }, b: { order: number[]; slice: string }, isEarlier: boolean): boolean {
  for (const [i, value] of a.order.entries()) if (value !== b.order[i]) return value < (b.order[i] ?? 0);
  return a.slice === b.slice ? isEarlier : a.slice < b.slice;
}

function textOf({ service, endpoints, localReady }: MergedService): string {
  const ready = localReady && [...localReady].flatMap(([node, count]) => Array.from({ length: count }, () => node)).sort();
  const lines = [...endpoints].flatMap(([port, list]) =>
    list.map(({ key, ready, serving, terminating, nodeName = "", zoneHints, nodeHints }) =>
      [`${port} ${key}`, ready, serving, terminating, nodeName, [...zoneHints, ...nodeHints].join()].join(" "),
    ),
  );
  return [JSON.stringify(service), ready?.join() ?? "no check", ...lines.sort()].join("\n");
}

it(`random histories (${HISTORIES} from seed ${SEED}): the changes add up to the naive view, and each is one`, () => {
  let told = 0;
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const random = seededRandom(seed);
    const view = new MergedServices();
    const world = new RandomServices(random);
    const known = new Map<string, string>();
    for (let step = 0; step < STEPS; step++) {
      world.step(view);
      if (random.below(3) > 0) continue;
      const { updated, removed } = view.sync();
      for (const { name, family } of removed)
        expect(known.delete(`${name}/${family}`), `seed ${seed}, step ${step}: ${name} was known`).toBe(true);
      for (const merged of updated) {
        const key = `${merged.service.name}/${merged.service.family}`;
        expect(textOf(merged), `seed ${seed}, step ${step}: ${key} is another`).not.toBe(known.get(key));
        known.set(key, textOf(merged));
        told++;
      }
      expect(new Map([...known].sort()), `seed ${seed}, step ${step}`).toEqual(
        new Map([...naiveView(world.services, world.slices)].sort()),
      );
    }
  }
  expect(told).toBeGreaterThan(HISTORIES * 10);
});
