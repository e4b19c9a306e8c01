/** Random histories of Pods and a Service: after each look the Endpoints say what a naive computation says, and a second look writes nothing. */
import { expect } from "vitest";
import type { Endpoints, Pod, Service } from "../../../../src/api/meta/kubernetes";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { planEndpoints } from "../../../../src/endpoints/endpoints/plan-endpoints";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { aPod, aService, ipv4 } from "../../../support/worlds/slice-world";

const HISTORIES = 40;
const STEPS = 25;
const SEED = 20_261_123;

/** One text for each address of each port: IP, Pod, port, and whether it is ready. */
function naiveLines(service: Service, pods: readonly Pod[]): string[] {
  const { publishNotReadyAddresses = false, ports = [], ipFamilies = [] } = service.spec ?? {};
  return pods
    .flatMap(({ metadata, status, spec }) => {
      const ip = status?.podIPs?.map((one) => one.ip).find((text) => text.includes(":") === (ipFamilies[0] === "IPv6"));
      if (ip === undefined || status?.phase === "Failed" || (metadata?.deletionTimestamp && !publishNotReadyAddresses)) return [];
      const ready = publishNotReadyAddresses || status?.conditions?.[0]?.status === "True";
      return ports.flatMap(({ targetPort }) => {
        const named = spec?.containers[0]?.ports?.find(({ name }) => name === targetPort)?.containerPort;
        const port = typeof targetPort === "number" ? targetPort : named;
        return port === undefined ? [] : [`${ip} ${metadata?.name ?? ""} ${port} ${ready}`];
      });
    })
    .sort();
}

function linesOf({ subsets = [] }: Endpoints): string[] {
  return subsets
    .flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      ports.flatMap(({ port }) => [
        ...addresses.map(({ ip, targetRef }) => `${ip} ${targetRef?.name ?? ""} ${port} true`),
        ...notReadyAddresses.map(({ ip, targetRef }) => `${ip} ${targetRef?.name ?? ""} ${port} false`),
      ]),
    )
    .sort();
}

function randomPod(random: WordRandom, name: string): Pod {
  const both = [ipv4(1 + random.below(200)), `fd00::${(1 + random.below(200)).toString(16)}`];
  return aPod({
    name,
    ips: pick(random, [both, both.slice(0, 1), both.slice(1)]),
    ready: random.below(3) > 0,
    phase: random.below(8) === 0 ? "Failed" : "Running",
    terminating: random.below(8) === 0,
    ports: pick(random, [[], [{ name: "web", containerPort: 8080 }], [{ name: "web", containerPort: 9090 }]]),
  });
}

function randomService(random: WordRandom): Service {
  const dns = { name: "dns", protocol: "UDP", port: 53, targetPort: 53 };
  const http = { name: "http", protocol: "TCP", port: 80, targetPort: pick(random, ["web", 8080]) };
  return aService({
    publishNotReadyAddresses: random.below(3) === 0,
    ipFamilies: pick(random, [["IPv4"], ["IPv6"], ["IPv4", "IPv6"]]),
    ports: pick(random, [[http], [http, dns], [dns]]),
  });
}

itOfSeeds(
  "history of seed %i: Endpoints equal the naive ones after each look",
  { fixed: Array.from({ length: HISTORIES }, (_, i) => SEED + i), further: 5 },
  (seed) => {
    const random = seededRandom(seed);
    let service = randomService(random);
    let pods: Pod[] = [];
    let stored: Endpoints | undefined;
    for (let step = 0; step < STEPS; step++) {
      const name = `p${step}`;
      const change = random.below(4);
      if (change === 0) pods = pods.filter(() => random.below(3) > 0);
      else if (change === 1) service = randomService(random);
      else if (change === 2) pods = pods.map((pod) => (random.below(4) === 0 ? randomPod(random, pod.metadata?.name ?? "") : pod));
      else for (let i = random.below(20); i >= 0; i--) pods.push(randomPod(random, `${name}-${i}`));

      const plan = planEndpoints({ service, pods: pods.map(podFacts), stored });
      expect(plan.action).not.toBe("delete");
      const had = stored && linesOf(stored);
      if ("endpoints" in plan) stored = plan.endpoints;
      expect(linesOf(stored ?? {})).toEqual(naiveLines(service, pods));
      if (plan.action === "none") expect(had).toEqual(naiveLines(service, pods));
      expect(planEndpoints({ service, pods: pods.map(podFacts), stored })).toEqual({ action: "none" });
    }
  },
);
