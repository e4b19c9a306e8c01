/**
 * Checks a live cluster: reads everything, judges it, and looks again at each suspicion. Objects change while they are read, and the parts of one
 * change appear at different moments. So a finding counts only when every look shows it, about the same objects, for longer than a healthy cluster
 * could. Findings that only later looks show are left to the next check.
 */
import type { Clock } from "../../core/base/ports";
import { pause } from "../../core/base/pause";
import {
  duplicateAddresses,
  duplicateNodePorts,
  idleServiceCIDRs,
  labelled,
  missingDefaults,
  strayNodePorts,
  uncovered,
  unpaired,
  unreadableObjects,
  wronglyLabelled,
} from "./objects";
import { readyCidrs } from "../../addresses/ranges/service-ranges";
import type { NodePortRow } from "../../addresses/rpc/repaired-node-ports";
import { wrongNodePortRows } from "./node-port-rows";
import type { Listed, ObservedIPAddress, ObservedOwners, ObservedService, ObservedServiceCIDR } from "./observed";
import { wrongBitmaps, wrongClaims, wrongRows } from "./owners";
import { wrongBalancers } from "./load-balancers";
import { type ObservedPools, wrongPools } from "./pools";
import { lookAtSlices, type SliceSource } from "./slices";
import { type NamedRanges, overlaps, type Surroundings, untold } from "./surroundings";
import type { CheckFinding, Suspicion } from "./suspicion";

/** Where a cluster is read. A part that cannot be read throws, and the whole check fails. */
export interface CheckSource extends SliceSource {
  services(): Promise<Listed<ObservedService>>;
  /** undefined: not served */
  ipAddresses(): Promise<Listed<ObservedIPAddress> | undefined>;
  /** undefined: not served */
  serviceCIDRs(): Promise<Listed<ObservedServiceCIDR> | undefined>;
  /** the ranges of a server that serves no ServiceCIDRs; undefined: nobody knows them */
  ranges(): Promise<string[] | undefined>;
  /** parts that are not served, or may not be read, are left out */
  surroundings(): Promise<Surroundings>;
  /** undefined: the server is not Servicenet, and its allocator shows nothing */
  owners(): Promise<ObservedOwners | undefined>;
  /** undefined: the server is not Servicenet, and its allocator of node ports shows nothing */
  nodePortRows(): Promise<readonly NodePortRow[] | undefined>;
  /** undefined: not served, or the client may not see all of them */
  pools(): Promise<ObservedPools | undefined>;
}

export interface CheckReport {
  /** `pools` and `claims`: where there are any */
  checked: {
    services: number;
    ipAddresses: number;
    serviceCIDRs: number;
    owners: number;
    rows: number;
    pools?: number;
    claims?: number;
  };
  /** violations that lasted */
  wrong: CheckFinding[];
  /** nothing is broken */
  notices: CheckFinding[];
  /** parts that could not be looked at, each a sentence */
  unchecked: string[];
  /** how often everything was read */
  looks: number;
}

interface Look {
  suspicions: Suspicion[];
  checked: CheckReport["checked"];
  unchecked: string[];
  /** uids of owners that could not be read -> a sentence */
  silent: ReadonlyMap<string, string>;
}

/** A suspicion of the first look that no later look has refuted. */
interface Standing {
  suspicion: Suspicion;
  /** when the latest look began that showed it, in milliseconds since the epoch */
  shownAt: number;
}

/** Pauses between looks grow, so that a finding that soon ends is soon dropped. */
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 8_000;

/** `lookingAgain` hears how many findings still stand. */
export async function checkCluster(
  source: CheckSource,
  clock: Clock,
  lookingAgain: (standing: number) => void = () => undefined,
): Promise<CheckReport> {
  const first = await lookAt(source, clock.now());
  // A finding lasts from the end of the first look, which has then read everything, to the beginning of the latest look.
  const seenAt = clock.now();
  let look = first;
  let standing = first.suspicions.map((suspicion): Standing => ({ suspicion, shownAt: seenAt }));
  let looks = 1;
  let beganAt = seenAt;
  for (
    let waitMs = FIRST_PAUSE_MS;
    standing.some(({ suspicion }) => beganAt - seenAt < suspicion.lastingMs);
    waitMs = Math.min(2 * waitMs, PAUSE_MAX_MS)
  ) {
    lookingAgain(standing.length);
    await pause(clock, waitMs);
    beganAt = clock.now();
    look = await lookAt(source, beganAt);
    looks++;
    standing = stillStanding(standing, look, beganAt);
  }
  // A finding whose owner fell silent before the time was over is dropped: the owner is reported as not checked.
  const lasting = standing.flatMap(({ suspicion, shownAt }) => (shownAt - seenAt < suspicion.lastingMs ? [] : suspicion));
  return {
    checked: look.checked,
    wrong: lasting.filter(({ rule }) => rule !== "notice").map(findingOf),
    notices: lasting.filter(({ rule }) => rule === "notice").map(findingOf),
    // An owner that was silent in the first look was never looked at again.
    unchecked: [...look.unchecked, ...new Map([...first.silent, ...look.silent]).values()],
    looks,
  };
}

function stillStanding(standing: readonly Standing[], { suspicions, silent }: Look, beganAt: number): Standing[] {
  const shown = new Set(suspicions.map(({ identity }) => identity));
  return standing.flatMap((one) => {
    const { identity, ownerUid = "" } = one.suspicion;
    if (shown.has(identity)) return { ...one, shownAt: beganAt };
    return silent.has(ownerUid) ? one : [];
  });
}

async function lookAt(source: CheckSource, nowMs: number): Promise<Look> {
  const [listedServices, listedAddresses, listedCIDRs, ranges, surroundings, owners, nodePortRows, pools] = await Promise.all([
    source.services(),
    source.ipAddresses(),
    source.serviceCIDRs(),
    source.ranges(),
    source.surroundings(),
    source.owners(),
    source.nodePortRows(),
    source.pools(),
  ]);
  const { objects: services } = listedServices;
  const ipAddresses = listedAddresses?.objects;
  const serviceCIDRs = listedCIDRs?.objects;
  const unreadable = new Set([listedServices, listedAddresses, listedCIDRs, pools].flatMap((listed) => listed?.unreadable ?? []));
  const unchecked: string[] = [];
  const suspicions = [
    ...unreadableObjects(unreadable),
    ...duplicateAddresses({ services }),
    ...duplicateNodePorts({ services }),
    ...missingDefaults(services, serviceCIDRs, unreadable),
  ];
  if (ipAddresses)
    suspicions.push(...unpaired({ services, ipAddresses, unreadable }, nowMs), ...wronglyLabelled({ services, ipAddresses }));
  else unchecked.push("IPAddresses are not served: whether Services have theirs was not checked (I2)");
  const cidrs = serviceCIDRs ? serviceCIDRs.flatMap(({ spec }) => spec?.cidrs ?? []) : ranges;
  if (listedCIDRs?.unreadable.length) unchecked.push("a ServiceCIDR cannot be read: whether addresses lie in a range was not checked (I3)");
  else if (cidrs) suspicions.push(...uncovered(services, cidrs));
  else unchecked.push("ServiceCIDRs are not served: whether addresses lie in a range was not checked (I3)");
  if (serviceCIDRs) suspicions.push(...idleServiceCIDRs(serviceCIDRs));
  suspicions.push(...overlaps(namedRanges(serviceCIDRs, ranges), surroundings), ...untold(surroundings));
  if (owners) {
    const givingOut = serviceCIDRs ? readyCidrs(serviceCIDRs) : (ranges ?? []);
    // Another server may have been started with other bounds of its node ports.
    suspicions.push(...strayNodePorts({ services }), ...wrongClaims(owners, givingOut), ...wrongBitmaps(owners));
    if (ipAddresses) suspicions.push(...wrongRows({ services, ipAddresses, unreadable }, owners, givingOut));
  }
  if (nodePortRows) suspicions.push(...wrongNodePortRows({ services, unreadable }, nodePortRows));
  // Pools of another server may overlap on purpose.
  if (owners && pools) suspicions.push(...wrongPools(pools, serviceCIDRs, ranges), ...wrongBalancers(pools, { services, unreadable }));
  const slices = await lookAtSlices(source, services, surroundings.nodes);
  return {
    suspicions: [...suspicions, ...slices.suspicions],
    unchecked: [...unchecked, ...slices.unchecked],
    silent: new Map(owners?.silent.map(({ uid, reason }) => [uid, `the owner ${uid} could not be read: ${reason}`])),
    checked: {
      services: services.length,
      ipAddresses: ipAddresses?.length ?? 0,
      serviceCIDRs: serviceCIDRs?.length ?? 0,
      owners: owners?.owners.length ?? 0,
      rows: owners?.owners.reduce((sum, { rows }) => sum + rows.length, 0) ?? 0,
      ...(pools && pools.pools.length + pools.claims.length > 0 && { pools: pools.pools.length, claims: pools.claims.length }),
    },
  };
}

/** The ranges with their names: those of the objects, or the configuration where ServiceCIDRs are not served. */
function namedRanges(serviceCIDRs: readonly ObservedServiceCIDR[] | undefined, ranges: readonly string[] = []): NamedRanges[] {
  if (!serviceCIDRs) return [{ labelled: { label: "configuration", uid: "" }, cidrs: ranges }];
  return serviceCIDRs.map((object) => ({ labelled: labelled("ServiceCIDR", object), cidrs: object.spec?.cidrs ?? [] }));
}

function findingOf({ rule, objects, message }: Suspicion): CheckFinding {
  return { rule, objects, message };
}
