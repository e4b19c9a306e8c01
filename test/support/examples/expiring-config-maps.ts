/** The controller "expiring-config-maps": deletes each ConfigMap at the time that its annotation says. */
import type { ConfigMap } from "../../../src/api/meta/kubernetes";
import { parseTime } from "../../../src/api/meta/time";
import { objectKey } from "../../../src/api/store/state/keys";
import type { WrittenStore } from "../../../src/controllers/followed/called-store";
import { FollowedStore } from "../../../src/controllers/followed/followed-store";
import { KeptFacts } from "../../../src/controllers/followed/kept-facts";
import { KeptRows } from "../../../src/controllers/followed/kept-rows";
import type { RowStorage } from "../../../src/controllers/followed/row-storage";
import { deleteUnchangedRequest } from "../../../src/controllers/followed/write-requests";
import type { Pass } from "../../../src/controllers/frame/controller";
import { Frame, type FramePorts } from "../../../src/controllers/frame/frame";
import { outcomeOf } from "../../../src/controllers/frame/round";

export const DELETE_AT = "example.com/delete-at";

/** What the controller has to know of a ConfigMap; undefined = nothing. */
function factsOf({ metadata }: ConfigMap): { version: string; at: number } | undefined {
  const at = parseTime(metadata?.annotations?.[DELETE_AT]);
  return at === undefined ? undefined : { version: metadata?.resourceVersion ?? "", at };
}

export function expiringConfigMaps(ports: FramePorts & { storage: RowStorage; configMaps: WrittenStore }): Pass {
  const { clock, recorder, storage, configMaps } = ports;
  const rows = new KeptRows(storage);
  const facts = new KeptFacts(rows, "expiring", factsOf);
  const store = new FollowedStore("configmaps", configMaps, facts.reader, rows, recorder);
  const timeOf = (key: string): number => facts.get(key)?.at ?? Infinity;
  return new Frame<string>(ports, {
    rows,
    keeps: [facts],
    follows: () => [store],
    work: {
      plan: () => [...facts.keys].filter((key) => timeOf(key) <= clock.now()),
      // Somebody may have put the time off since it was read: then this is a conflict, and the next pass reads the change.
      async write(key) {
        const metadata = { ...objectKey(key), resourceVersion: facts.get(key)?.version };
        return outcomeOf(await configMaps.write(deleteUnchangedRequest({ metadata })));
      },
      nameOf: (key) => key,
    },
    due() {
      const times = [...facts.keys].map(timeOf).filter((at) => at > clock.now());
      return times.length > 0 ? Math.min(...times) : undefined;
    },
  }).pass;
}
