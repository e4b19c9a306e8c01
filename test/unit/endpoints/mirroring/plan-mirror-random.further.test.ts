/** Random histories of Endpoints: after each look the slices say what the Endpoints say, and a second look writes nothing. */
import { expect } from "vitest";
import type { Endpoints, EndpointSlice } from "../../../../src/api/meta/kubernetes";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { planMirror } from "../../../../src/endpoints/mirroring/plan-mirror";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { aService, ipv4 } from "../../../support/worlds/slice-world";

const HISTORIES = 40;
const STEPS = 25;
const SEED = 20_261_123;
const KEY = { namespace: "ns", name: "s" };

type Subset = NonNullable<Endpoints["subsets"]>[number];

function randomSubset(random: WordRandom): Subset {
  const address = (): { ip: string } => ({
    ip: pick(random, [ipv4(1 + random.below(20)), `fd00::${(1 + random.below(20)).toString(16)}`, "10.0.0.256"]),
  });
  const some = (): { ip: string }[] => Array.from({ length: random.below(8) }, address);
  const ports = [80, 443, 53].filter(() => random.below(2) === 0).map((port) => ({ name: `p${port}`, port, protocol: "TCP" }));
  return { addresses: some(), notReadyAddresses: some(), ports };
}

/** IP, port and whether it is ready, for each address of each port; not ready wins. */
function naiveLines(subsets: readonly Subset[]): string[] {
  const ready = new Map<string, boolean>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports) {
      for (const { ip } of addresses) ready.set(`${ip} ${port.port}`, ready.get(`${ip} ${port.port}`) ?? true);
      for (const { ip } of notReadyAddresses) ready.set(`${ip} ${port.port}`, false);
    }
  }
  return [...ready].flatMap(([at, isReady]) => (at.startsWith("10.0.0.256") ? [] : [`${at} ${isReady}`])).sort();
}

function linesOf(slices: readonly EndpointSlice[]): string[] {
  return slices
    .flatMap((slice) =>
      (slice.ports ?? []).flatMap(({ port }) =>
        endpointsOf(slice).map(({ addresses, conditions }) => `${addresses.join()} ${port ?? ""} ${String(conditions?.ready)}`),
      ),
    )
    .sort();
}

itOfSeeds(
  "history of seed %i: slices equal the Endpoints after each look",
  { fixed: Array.from({ length: HISTORIES }, (_, i) => SEED + i), further: 5 },
  (seed) => {
    const random = seededRandom(seed);
    let slices: EndpointSlice[] = [];
    let serial = 0;
    for (let step = 0; step < STEPS; step++) {
      // Endpoints without any port on a subset are left to the tables: their lines would have no port
      const subsets = Array.from({ length: random.below(4) }, () => randomSubset(random)).filter(({ ports }) => ports?.length);
      const endpoints: Endpoints = { metadata: { ...KEY, uid: "uid", labels: { version: String(random.below(3)) } }, subsets };
      const isMirrored = random.below(5) > 0;
      const service = isMirrored ? aService({ selector: undefined }) : aService();
      const look = () => planMirror({ key: KEY, endpoints, service, slices, maxPerSubset: 1000 });

      const { create, update, remove } = look();
      const gone = new Set([...update, ...remove].map(({ metadata }) => metadata?.name));
      for (const slice of update) {
        const before = slices.find(({ metadata }) => metadata?.name === slice.metadata?.name);
        expect(before?.addressType).toBe(slice.addressType);
      }
      const created = create.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: `s-${++serial}` } }));
      slices = [...slices.filter(({ metadata }) => !gone.has(metadata?.name)), ...update, ...created];

      expect(linesOf(slices)).toEqual(isMirrored ? naiveLines(subsets) : []);
      expect(look()).toMatchObject({ create: [], update: [], remove: [] });
    }
  },
);
