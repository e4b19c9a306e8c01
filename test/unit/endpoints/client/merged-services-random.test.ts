/** The merged view against a computation from all objects anew, over random histories. */
import { expect, it } from "vitest";
import type { EndpointSlice, KubeObject, Service } from "../../../../src/api/meta/kubernetes";
import { FAMILIES } from "../../../../src/core/net/family";
import { type MergedService, MergedServices } from "../../../../src/endpoints/client/merged-services";
import { proxiedService } from "../../../../src/endpoints/client/proxied-service";
import { pick, seededRandom } from "../../../support/sim/seeded-random";
import { aService, aSlice, anEndpoint, type EndpointState, type SliceEndpoint } from "../../../support/values/endpoint-objects";

const SEED = 20_261_123;
const HISTORIES = 40;
const STEPS = 150;

const NAMES = ["a", "b", "c"];
const SLICES = ["s1", "s2", "s3", "s4", "s5", "s6"];
const STATES: EndpointState[] = ["ready", "notReady", "servingLast", "ending", "published"];
const DUAL = { clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "fd00::5"] };
type Random = ReturnType<typeof seededRandom>;

function randomService(random: Random): Service {
  const spec = pick(random, [
    {},
    DUAL,
    DUAL,
    { clusterIP: "None", clusterIPs: ["None"] },
    { type: "ExternalName" },
    { internalTrafficPolicy: "Local" },
  ]);
  const labels = random.below(6) === 0 ? { "service.kubernetes.io/service-proxy-name": "x" } : undefined;
  return aService(pick(random, NAMES), spec, { labels });
}

function randomEndpoint(random: Random, isIPv6: boolean): SliceEndpoint {
  const ip = `${isIPv6 ? "fd00::" : "10.1.0."}${1 + random.below(5)}`;
  const place = pick(random, [{}, { nodeName: "n1" }, { nodeName: "n2", hints: { forZones: [{ name: "z" }] } }]);
  return pick(random, [anEndpoint(ip, pick(random, STATES), place), anEndpoint(ip, pick(random, STATES), place), { addresses: [ip] }]);
}

function randomSlice(random: Random): EndpointSlice {
  const isIPv6 = random.below(3) === 0;
  const endpoints = Array.from({ length: random.below(5) }, () => randomEndpoint(random, isIPv6));
  const ports = pick(random, [
    [{ name: "http", port: 80 }],
    [{ name: "http", port: 81 }],
    [
      { name: "http", port: 80 },
      { name: "x", protocol: "UDP", port: 9 },
    ],
    [{ name: "http" }],
    [],
  ]);
  const labels = random.below(8) === 0 ? { "service.kubernetes.io/headless": "" } : undefined;
  return aSlice(pick(random, SLICES), pick(random, NAMES), endpoints, { addressType: isIPv6 ? "IPv6" : "IPv4", ports, labels });
}

/** One line for each endpoint that a proxy should know, by looking at every slice for every Service. */
function naiveView(services: Map<string, Service>, slices: Map<string, EndpointSlice>): Map<string, string> {
  const view = new Map<string, string>();
  for (const service of services.values()) {
    for (const family of FAMILIES) {
      const proxied = proxiedService(service, family);
      if (!proxied) continue;
      const candidates = [...slices.values()]
        .filter(({ metadata, addressType }) => addressType === family && metadata?.labels?.["kubernetes.io/service-name"] === proxied.name)
        .filter(({ metadata }) => metadata?.labels?.["service.kubernetes.io/headless"] === undefined)
        .flatMap((slice) =>
          (slice.ports ?? []).flatMap(({ name = "", protocol = "TCP", port }) =>
            port === undefined
              ? []
              : slice.endpoints.map((endpoint) => ({ port: `${name}/${protocol}`, slice: slice.metadata?.name ?? "", endpoint, at: port })),
          ),
        )
        .map(({ port, slice, endpoint, at }) => {
          const { ready = true, serving = true, terminating = false } = endpoint.conditions ?? {};
          const ip = endpoint.addresses[0] ?? "";
          const key = `${port} ${family === "IPv6" ? `[${ip}]` : ip}:${at}`;
          const hints = endpoint.hints?.forZones?.map(({ name }) => name).join() ?? "";
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
      view.set(`${proxied.name}/${family}`, [JSON.stringify(proxied), ...best.map(({ text }) => text).sort()].join("\n"));
    }
  }
  return view;
}

function comesBefore(a: { order: number[]; slice: string }, b: { order: number[]; slice: string }, isEarlier: boolean): boolean {
  for (const [i, value] of a.order.entries()) if (value !== b.order[i]) return value < (b.order[i] ?? 0);
  return a.slice === b.slice ? isEarlier : a.slice < b.slice;
}

function textOf({ service, endpoints }: MergedService): string {
  const lines = [...endpoints].flatMap(([port, list]) =>
    list.map(({ key, ready, serving, terminating, nodeName = "", zoneHints }) =>
      [`${port} ${key}`, ready, serving, terminating, nodeName, zoneHints.join()].join(" "),
    ),
  );
  return [JSON.stringify(service), ...lines.sort()].join("\n");
}

const nameOf = ({ metadata }: KubeObject) => metadata?.name ?? "";

it(`random histories (${HISTORIES} from seed ${SEED}): the changes add up to the naive view, and each is one`, () => {
  let told = 0;
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const random = seededRandom(seed);
    const view = new MergedServices();
    const [services, slices] = [new Map<string, Service>(), new Map<string, EndpointSlice>()];
    const known = new Map<string, string>();
    for (let step = 0; step < STEPS; step++) {
      const draw = random.below(20);
      if (draw < 4) {
        const service = randomService(random);
        services.set(nameOf(service), service);
        view.putService(service);
      } else if (draw < 5) {
        const gone = aService(pick(random, NAMES));
        services.delete(nameOf(gone));
        view.deleteService(gone);
      } else if (draw < 15) {
        const slice = randomSlice(random);
        slices.set(nameOf(slice), slice);
        view.putSlice(slice);
      } else if (draw < 18) {
        const gone = aSlice(pick(random, SLICES), "", []);
        slices.delete(nameOf(gone));
        view.deleteSlice(gone);
      } else {
        // A watch was lost: what happened meanwhile shows in the next lists alone.
        for (let i = random.below(4); i > 0; i--) {
          const slice = randomSlice(random);
          slices.set(nameOf(slice), slice);
          slices.delete(pick(random, SLICES));
          services.delete(pick(random, NAMES));
        }
        view.replaceServices([...services.values()]);
        view.replaceSlices([...slices.values()]);
      }
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
      expect(new Map([...known].sort()), `seed ${seed}, step ${step}`).toEqual(new Map([...naiveView(services, slices)].sort()));
    }
  }
  expect(told).toBeGreaterThan(HISTORIES * 10);
});
